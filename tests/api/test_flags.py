"""PUT and DELETE /api/articles/<id>/flag and /api/comments/<id>/flag."""

from articles.domain.comments import root_of
from tests.caller import error_of
from tests.factories import comment_on


def test_an_article_is_flagged_and_the_flag_taken_back(as_bob, site_store, article):
    path = f"articles/{article}/flag"

    for _ in range(2):
        answer = as_bob.put(path, {"reason": "against-rules", "words": "It insults"})
        assert answer.json() == {
            "article_id": article,
            "comment_id": None,
            "reason": "against-rules",
            "words": "It insults",
            "state": "open",
        }
    assert site_store.flags.count() == 1
    for _ in range(2):
        assert as_bob.send("DELETE", path).json()["reason"] is None
    assert site_store.flags.count() == 0


def test_what_is_refused(as_alice, as_bob, site_store, article, alice, bob):
    comment = comment_on(site_store, article, "A comment", alice.pk)

    assert as_bob.put(f"comments/{comment}/flag", {"reason": "spam"}).json()["comment_id"] == comment
    site_store.flags.keep(comment, site_store.store.now() + 1)
    assert error_of(as_bob.send("DELETE", f"comments/{comment}/flag")) == (409, "flag-decided")
    assert error_of(as_alice.put(f"articles/{article}/flag", {"reason": "spam"})) == (403, "own-content")
    assert error_of(as_bob.put(f"articles/{article}/flag", {"reason": "against-rules"}))[0] == 400
    assert error_of(as_bob.put(f"articles/{article}/flag", {"reason": "boring"}))[0] == 400
    for path in (f"comments/{root_of(article)}/flag", f"comments/{root_of(article) + 77}/flag"):
        assert error_of(as_bob.put(path, {"reason": "spam"})) == (404, "comment-not-found")
