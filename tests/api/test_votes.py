"""PUT /api/articles/<id>/vote."""

from tests.caller import error_of
from tests.store_state import problems


def vote(caller, article, choice):
    return caller.put(f"articles/{article}/vote", {"choice": choice})


def test_a_member_switches_repeats_and_withdraws_a_vote(as_bob, site_store, article):
    for choice, counts in (("vote", (2, 0, 2)), ("oppose", (1, 1, 0)), ("none", (1, 0, 1))):
        for _ in range(3):
            body = vote(as_bob, article, choice).json()
            assert (body["votes"], body["opposes"], body["points"], body["choice"]) == (*counts, choice)
    assert problems(site_store) == []


def test_a_closed_or_removed_article_takes_no_votes(as_bob, anyone, closed, removed):
    before = [anyone.get(f"articles/{number}").json() for number in (closed, removed)]

    assert error_of(vote(as_bob, closed, "vote")) == (409, "voting-closed")
    assert error_of(vote(as_bob, removed, "vote")) == (404, "article-removed")
    assert [anyone.get(f"articles/{number}").json() for number in (closed, removed)] == before
