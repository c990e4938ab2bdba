"""Voting blocs in simulated crowds, whose activity and articles' popularity follow Zipf's law."""

import random
from math import exp

import pytest

from articles.domain.moderation import voting_blocs
from articles.domain.moderation.voting_blocs import Ballot, binomial_tail, find_blocs

RING = tuple(range(9000, 9008))
ARTICLES = 1000


def weights(count, exponent, chance):
    found = [1 / number**exponent for number in range(1, count + 1)]
    chance.shuffle(found)
    return found


def crowd(seed, accounts=2000, votes=15, fandom=0.0):
    """Return the ballots of ordinary articles of ten topics.

    A share of an article's voters, `fandom`, comes from the fifth of the accounts that like its topic.
    """
    chance = random.Random(seed)
    activity, popularity = weights(accounts, 0.8, chance), weights(ARTICLES, 0.7, chance)
    fans = [chance.sample(range(accounts), accounts // 5) for _ in range(10)]
    ballots = []
    for article in range(ARTICLES):
        topic, count = article % 10, max(1, round(votes * popularity[article] * ARTICLES / sum(popularity)))
        own = round(count * fandom)
        voters = {*chance.choices(fans[topic], [activity[member] for member in fans[topic]], k=own)}
        voters |= {*chance.choices(range(accounts), activity, k=count - own)}
        opposed = {member for member in voters if chance.random() < 0.1}
        ballots.append(Ballot(article, f"topic {topic}", tuple(voters - opposed)))
        ballots.append(Ballot(article, f"topic {topic}", tuple(opposed)))
    return ballots


def joining(ballots, articles, members=RING):
    """Return the ballots after these members voted for the articles, too."""
    return [
        Ballot(one.article, one.topic, one.members + members) if n % 2 == 0 and one.article in articles else one
        for n, one in enumerate(ballots)
    ]


CROWDS = [{}, {"fandom": 0.7}, {"fandom": 0.95, "accounts": 300, "votes": 30}]


@pytest.mark.parametrize("facts", CROWDS, ids=["any topic", "fans", "few accounts"])
def test_of_a_thousand_ordinary_articles_none_makes_a_bloc(facts):
    assert [find_blocs(crowd(seed, **facts)) for seed in range(3)] == [[]] * 3


@pytest.mark.parametrize("facts", CROWDS, ids=["any topic", "fans", "few accounts"])
def test_eight_accounts_that_vote_for_the_same_twelve_articles_are_found_whole(facts):
    ordinary = crowd(7, **facts)
    quiet = sorted((one for one in ordinary[::2]), key=lambda one: len(one.members))
    chosen = {one.article for one in quiet[100:880:65]}

    (bloc,) = find_blocs(joining(ordinary, chosen))

    assert len(chosen) == 12
    assert bloc.members == RING
    assert set(bloc.articles) == chosen
    assert bloc.alike == 12
    assert bloc.expected < 1


def test_a_ring_that_also_votes_like_others_is_found():
    chance = random.Random(1)
    ballots = joining(crowd(7), set(range(0, 600, 53)))
    for member in RING:
        ballots = joining(ballots, set(chance.sample(range(ARTICLES), 10)), (member,))

    assert [bloc.members for bloc in find_blocs(ballots)] == [RING]


def test_a_ring_within_one_topic_is_found():
    ballots = joining(crowd(7, fandom=0.95), set(range(0, 600, 50)))

    assert [bloc.members for bloc in find_blocs(ballots)] == [RING]


def test_two_accounts_and_few_articles_are_no_bloc():
    ordinary = crowd(7)

    assert find_blocs(joining(ordinary, set(range(0, 600, 50)), RING[:2])) == []
    assert find_blocs(joining(ordinary, set(range(0, 200, 50)))) == []


def test_articles_of_very_many_voters_and_pairs_beyond_the_bound_are_left_out(monkeypatch):
    many = Ballot(1, "", tuple(range(voting_blocs.MOST_VOTERS + 1)))
    small = [Ballot(number, "", (1, 2, 3)) for number in range(2, 9)]

    assert list(voting_blocs._bounded([many, *small])) == small
    monkeypatch.setattr(voting_blocs, "MOST_PAIRS", 10)
    assert list(voting_blocs._bounded([*small])) == small[:2]


def test_the_binomial_tail_is_the_sum_of_its_terms():
    assert binomial_tail(3, 3, 0.5) == pytest.approx(1 / 8)
    assert binomial_tail(2, 3, 0.25) == pytest.approx(3 * 0.0625 * 0.75 + 0.015625)
    assert binomial_tail(12, 60, 0.2) == 1
    assert binomial_tail(4, 3, 0.5) == 0
    assert binomial_tail(500, 900, 1e-6) == 0
    assert binomial_tail(3, 10**9, 1e-9) == pytest.approx(1 - 2.5 * exp(-1), rel=1e-4)  # not a billion terms


def test_more_blocs_take_no_further_look_at_all_ballots():
    looks = []

    class Members(tuple):
        def __iter__(self):
            looks.append(1)
            return super().__iter__()

    def looks_for(blocs):
        ballots = crowd(7)
        for n in range(blocs):
            trio = tuple(range(9000 + 3 * n, 9003 + 3 * n))
            ballots = joining(ballots, set(range(n, 900, 60)), trio)
        looks.clear()
        found = find_blocs([Ballot(one.article, one.topic, Members(one.members)) for one in ballots])
        return len(found), len(looks) / sum(len(one.members) > 1 for one in ballots)

    (few, looks_of_few), (many, looks_of_many) = looks_for(1), looks_for(6)

    assert (few, many) == (1, 6)
    assert looks_of_many == pytest.approx(looks_of_few, abs=0.2)
