"""The inbox for programs."""

from articles.domain.discussion.comments import root_of
from articles.domain.moderation.flags import FlagReason
from tests.cast import MODERATOR
from tests.factories import comment_on


def test_the_inbox_lists_notices_with_what_they_are_about(site_store, article, as_alice, anyone, bob):
    comment = comment_on(site_store, article, "Hello", bob.pk)
    site_store.articles.remove(article, MODERATOR, "Off topic")
    site_store.articles.restore(article, MODERATOR, "On topic")

    inbox = as_alice.get("inbox").json()

    assert (inbox["page"], inbox["has_next"]) == (1, False)
    found = {one["action"] or one["kind"]: one for one in inbox["notices"]}
    assert set(found) == {"reply", "remove", "restore"}
    assert found["reply"]["comment"]["id"] == comment
    assert (found["reply"]["by"], found["reply"]["new"], found["reply"]["reason"]) == ("bob", True, None)
    assert (found["remove"]["by"], found["remove"]["reason"]) == ("carol", "Off topic")
    assert found["remove"]["article_id"] == article
    assert as_alice.get("inbox").json() == inbox, "reading marks nothing as read"
    assert as_alice.get("inbox?page=2").status_code == 404
    assert anyone.get("inbox").status_code == 401


def test_members_are_mentioned_by_comments_and_texts(site_store, article, as_alice, as_bob, bob):
    as_alice.post(f"articles/{article}/comments", {"text": "Look, @bob"})
    as_alice.post("articles", {"title": "Hello", "text": "For @Bob"})

    notices = as_bob.get("inbox").json()["notices"]
    assert {(one["kind"], one["title"], one["by"]) for one in notices} == {
        ("mention", "An article", "alice"),
        ("mention", "Hello", "alice"),
    }
    assert [one["comment"] and one["comment"]["text"] for one in notices if one["title"] == "An article"] == [
        "Look, @bob"
    ]


def test_decisions_on_flags_are_notices(site_store, article, as_bob, bob):
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    site_store.flags.keep(root_of(article), site_store.store.now() + 1, "It fits")

    (notice,) = as_bob.get("inbox").json()["notices"]
    assert (notice["kind"], notice["decision"], notice["reason"]) == ("flag", "kept", "It fits")
    assert (notice["by"], notice["action"], notice["article_id"]) == ("", None, article)
