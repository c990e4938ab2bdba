"""PUT /api/articles/<id>/vote."""

from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import pytest
from django.db import connection
from django.test import Client

from accounts.models import User
from tests.caller import Caller, error_of, with_token
from tests.store_state import problems


def vote(caller, article, choice):
    return caller.put(f"articles/{article}/vote", {"choice": choice})


def test_a_vote_returns_the_counts(as_bob, article):
    answer = vote(as_bob, article, "vote")

    assert answer.status_code == 200
    assert answer.json() == {"id": article, "votes": 2, "opposes": 0, "points": 2, "choice": "vote"}


def test_a_member_switches_repeats_and_withdraws_a_vote(as_bob, site_store, article):
    for choice, counts in (("vote", (2, 0, 2)), ("oppose", (1, 1, 0)), ("none", (1, 0, 1))):
        for _ in range(3):
            body = vote(as_bob, article, choice).json()
            assert (body["votes"], body["opposes"], body["points"], body["choice"]) == (*counts, choice)
    assert problems(site_store) == []


def test_posters_can_withdraw_their_own_vote(as_alice, article):
    assert vote(as_alice, article, "none").json()["votes"] == 0


@pytest.mark.parametrize(
    "choice", ["up", "VOTE", "", "vote ", None, 1, True, ["vote"], {"vote": 1}, "\ud800", "none\x00"]
)
def test_an_unknown_choice_is_invalid(as_bob, site_store, article, choice):
    answer = vote(as_bob, article, choice)

    assert error_of(answer) == (400, "invalid")
    assert "“choice”" in answer.json()["error"]["message"]
    assert as_bob.get(f"articles/{article}").json()["votes"] == 1


def test_a_closed_or_removed_article_takes_no_votes(as_bob, anyone, closed, removed):
    before = [anyone.get(f"articles/{number}").json() for number in (closed, removed)]

    assert error_of(vote(as_bob, closed, "vote")) == (409, "voting-closed")
    assert error_of(vote(as_bob, removed, "vote")) == (404, "article-removed")
    assert [anyone.get(f"articles/{number}").json() for number in (closed, removed)] == before


def test_readers_without_an_account_cannot_vote(anyone, article):
    answer = vote(anyone, article, "vote")

    assert error_of(answer) == (401, "login-required")
    assert answer["WWW-Authenticate"] == "Bearer"
    assert anyone.get(f"articles/{article}").json()["votes"] == 1


@pytest.fixture
def callers(site_store, transactional_db):
    """A program of one member for each of four threads. The first use of a token is recorded here, as it locks
    the SQLite database in memory."""
    user = User.objects.create_user("bob")
    found = [with_token(user) for _ in range(4)]
    for caller in found:
        assert caller.get("articles").status_code == 200
    return found


def at_once(callers, article, choices):
    def cast(caller: Caller, choice: str):
        try:
            return choice, vote(Caller(Client(), **caller.headers), article, choice)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(callers)) as pool:
        return list(pool.map(cast, cycle(callers), choices))


def posted(site_store):
    return site_store.articles.post(1_000_000, "alice", "An article", "https://example.org/article").id


def test_fifty_identical_concurrent_votes_count_once(callers, site_store):
    article = posted(site_store)

    answers = at_once(callers, article, ["vote"] * 50)

    assert {answer.status_code for _, answer in answers} == {200}
    assert {answer.json()["votes"] for _, answer in answers} == {2}
    assert problems(site_store) == []


def test_two_hundred_mixed_concurrent_votes_leave_one_choice(callers, site_store):
    article = posted(site_store)

    answers = at_once(callers, article, islice(cycle(["vote", "oppose", "none"]), 200))

    states = {"vote": (2, 0), "oppose": (1, 1), "none": (1, 0)}
    for choice, answer in answers:
        body = answer.json()
        assert body["choice"] == choice
        assert (body["votes"], body["opposes"]) == states[choice]
    assert problems(site_store) == []
