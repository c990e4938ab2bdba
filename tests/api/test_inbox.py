"""The inbox for programs."""

from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.searching import MOST, Kind
from tests.caller import error_of
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


def test_a_notice_of_a_deleted_comment_says_whose_it_was(site_store, article, as_alice, bob):
    comment = comment_on(site_store, article, "Hello", bob.pk)
    site_store.comments.delete(comment, bob.pk)

    (notice,) = as_alice.get("inbox").json()["notices"]

    assert (notice["kind"], notice["by"], notice["comment"]) == ("reply", "bob", None)


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


def test_the_inbox_is_marked_as_read(as_alice, anyone, site_store, article, alice, bob):
    comment_on(site_store, article, "A comment", bob.pk)
    (notice,) = as_alice.get("inbox").json()["notices"]

    assert as_alice.put("inbox/read", {"until": notice["time"] - 1}).json()["until"] == notice["time"] - 1
    assert as_alice.get("inbox").json()["notices"][0]["new"]
    for _ in range(2):
        assert as_alice.put("inbox/read", {"until": notice["time"]}).json()["until"] == notice["time"]
    assert not as_alice.get("inbox").json()["notices"][0]["new"]
    assert as_alice.put("inbox/read", {"until": 1}).json()["until"] == notice["time"]
    now = as_alice.put("inbox/read", {}).json()["until"]
    assert notice["time"] <= now
    assert as_alice.put("inbox/read", {"until": now + 9_999}).json()["until"] < now + 9_999
    assert error_of(anyone.put("inbox/read", {})) == (401, "login-required")


def test_discussions_are_muted_and_members_blocked(as_alice, anyone, site_store, article, alice, bob, monkeypatch):
    muted, blocked = f"articles/{article}/muted", "users/BOB/blocked"
    for _ in range(2):
        assert as_alice.put(muted, {"muted": True}).json() == {"article_id": article, "muted": True}
        assert as_alice.put(blocked, {"blocked": True}).json() == {"name": "bob", "blocked": True}
    assert list(alice.mutes.values_list("article", flat=True)) == [article]
    assert list(alice.blocks.values_list("blocked", flat=True)) == [bob.pk]

    for _ in range(2):
        assert as_alice.put(muted, {"muted": False}).json()["muted"] is False
        assert as_alice.put(blocked, {"blocked": False}).json()["blocked"] is False
    assert not alice.mutes.exists()
    assert not alice.blocks.exists()

    monkeypatch.setitem(MOST, Kind.MEMBER, 0)
    assert error_of(as_alice.put(blocked, {"blocked": True})) == (409, "hidden-full")
    assert error_of(as_alice.put("users/alice/blocked", {"blocked": True})) == (400, "invalid")
    assert error_of(as_alice.put("users/nobody/blocked", {"blocked": True})) == (404, "not-found")
    assert error_of(as_alice.put("articles/999/muted", {"muted": True})) == (404, "article-not-found")
    for path, body in ((muted, {"muted": True}), (blocked, {"blocked": True})):
        assert error_of(anyone.put(path, body)) == (401, "login-required")
