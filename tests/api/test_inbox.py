"""The inbox for programs."""

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
