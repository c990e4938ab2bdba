"""The standings of listed articles, read from the rankings."""

from dataclasses import replace

import pytest

from articles.domain.articles import Choice
from articles.domain.moderation_log import OPERATOR
from articles.repository.lists import feeds
from articles.repository.lists.feeds import Standing
from tests.cast import ALICE, BOB

pytestmark = pytest.mark.one_shard


def test_an_empty_store_has_no_last_id_and_nothing_listed(repository):
    assert repository.changes.get_last_id() == 0
    assert repository.standings.list_for(range(1, 10)) == []
    assert repository.standings.list_for([]) == []


def test_standings_match_the_articles_themselves(repository, clock):
    ids = []
    for n in range(12):
        clock.advance(n * 1000.123)
        ids.append(repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}").id)
    for voter in range(100, 107):
        repository.votes.cast(ids[3], voter, Choice.VOTE)
        repository.votes.cast(ids[5], voter, Choice.OPPOSE)

    found = repository.standings.list_for(ids[::-1])

    whole = repository.articles.get_many(ids[::-1])
    assert found == [Standing(a.id, a.posted_at, a.score, a.points) for a in whole]
    assert [one.points for one in found if one.id in (ids[3], ids[5])] == [-6, 8]
    assert repository.changes.get_last_id() == ids[-1]


def test_thousands_are_read_in_batches_and_keep_their_order(repository, monkeypatch):
    monkeypatch.setattr(feeds, "STANDINGS_PER_READ", 3)
    ids = [repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}").id for n in range(10)]
    wanted = ids[::2] + ids[1::2]

    assert [one.id for one in repository.standings.list_for(wanted)] == wanted


def test_points_are_correct_for_any_weight(repository):
    ids = [repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}").id for n in range(5)]
    repository.votes.cast(ids[2], BOB, Choice.VOTE)
    state = repository.parameters.get_state()
    repository.parameters.apply(
        replace(state.parameters, votes_per_day=86400), expected=state.version, actor=OPERATOR, reason="x"
    )

    while not repository.parameters.advance():
        assert [one.points for one in repository.standings.list_for(ids)] == [1, 1, 2, 1, 1]

    assert [one.points for one in repository.standings.list_for(ids)] == [1, 1, 2, 1, 1]
