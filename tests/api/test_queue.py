"""GET /api/queue, PUT /api/articles/<id>/kept and /api/comments/<id>/kept."""

import pytest

from articles.domain.comments import root_of
from articles.domain.flags import FlagReason, FlagState
from tests.factories import comment_on


@pytest.fixture
def comment(site_store, article, alice) -> int:
    return comment_on(site_store, article, "Buy *pills*", alice.pk)


def test_moderators_read_the_queue_and_keep_what_is_flagged(as_carol, as_bob, site_store, article, comment, bob):
    as_bob.put(f"articles/{article}/flag", {"reason": "spam"})
    as_bob.put(f"comments/{comment}/flag", {"reason": "against-rules", "words": "No adverts"})

    page = as_carol.get("queue").json()

    by_comment = {entry["comment"] and entry["comment"]["id"]: entry for entry in page["entries"]}
    assert by_comment.keys() == {None, comment}
    entry = by_comment[comment]
    assert (entry["article"]["id"], entry["author"], entry["weight"]) == (article, "alice", 1.0)
    (flag,) = entry["flags"]
    assert (flag["by"], flag["reason"], flag["words"], flag["weight"]) == (
        "bob",
        "against-rules",
        "No adverts",
        1.0,
    )
    assert (page["page"], page["has_next"]) == (1, False)
    for _ in range(2):
        answer = as_carol.put(f"comments/{comment}/kept", {"reason": "It is *useful*"})
        assert answer.json() == {"article_id": article, "comment_id": comment}
    as_carol.put(f"articles/{article}/kept", {})
    assert site_store.flags.count() == 0
    assert site_store.flags.get(comment, bob.pk).kept == "It is *useful*"
    assert site_store.flags.get(root_of(article), bob.pk).state is FlagState.KEPT


def test_a_flag_set_after_the_queue_was_read_stays_open(as_carol, site_store, article, bob):
    seen = site_store.store.now() - 1
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)

    as_carol.put(f"articles/{article}/kept", {"seen": seen})

    assert site_store.flags.count() == 1
