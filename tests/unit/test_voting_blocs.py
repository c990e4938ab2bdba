"""Voting blocs in simulated crowds, whose activity and articles' popularity follow Zipf's law."""

import random
from math import exp

import pytest

from articles.domain import voting_blocs
from articles.domain.voting_blocs import Ballot, binomial_tail, find_blocs

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


def discussions(seed, accounts=2000, count=300, readers=20, comments=10, picks=3, thorough=0.1, **_facts):
    """Return the ballots of ordinary discussions, on every third article.

    Readers choose on some comments each, mostly on those above, but some of them on all: the share `thorough`.
    """
    chance = random.Random(seed + 1000)
    activity, popularity = weights(accounts, 0.8, chance), weights(count, 0.7, chance)
    is_thorough = [chance.random() < thorough for _ in range(accounts)]
    ballots = []
    for n in range(count):
        read = round(readers * popularity[n] * count / sum(popularity))
        size = max(1, min(100, round(chance.expovariate(1 / comments))))
        places, chosen = [1 / (place + 1) ** 0.8 for place in range(size)], [([], []) for _ in range(size)]
        for member in {*chance.choices(range(accounts), activity, k=max(1, read))}:
            some = chance.choices(range(size), places, k=min(size, 1 + int(chance.expovariate(1 / picks))))
            for one in range(size) if is_thorough[member] else {*some}:
                chosen[one][chance.random() < 0.1].append(member)
        ballots += [
            Ballot(3 * n, f"topic {3 * n % 10}", tuple(members), is_on_comment=True)
            for choices in chosen
            for members in choices
        ]
    return ballots


def joining(ballots, articles, members=RING):
    """Return the ballots after these members voted for the articles, too."""
    return [
        one._replace(members=one.members + members)
        if n % 2 == 0 and one.article in articles and not one.is_on_comment
        else one
        for n, one in enumerate(ballots)
    ]


def joining_comments(ballots, articles, each=1, members=RING):
    """Return the ballots after these members voted for `each` comments on each of the articles, the last ones."""
    found, left = [], dict.fromkeys(articles, each)
    for n, one in reversed([*enumerate(ballots)]):
        joins = one.is_on_comment and n % 2 == 0 and left.get(one.article, 0) > 0
        left[one.article] = left.get(one.article, 0) - joins
        found.append(one._replace(members=one.members + members) if joins else one)
    return found[::-1]


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
    assert bloc.alike.number == 12
    assert bloc.alike.expected < 1
    assert bloc.alike_on_comments is None


TALK = [
    {},
    {"thorough": 0.3, "accounts": 600},
    {"count": 40, "readers": 60, "comments": 30, "picks": 8},
    {"accounts": 300, "fandom": 0.9, "readers": 30},
]
TALKS = ["any", "thorough", "few discussions", "few accounts"]


@pytest.mark.parametrize("facts", TALK, ids=TALKS)
def test_ordinary_readers_of_discussions_make_no_bloc(facts):
    for seed in range(2):
        ordinary = crowd(seed, accounts=facts.get("accounts", 2000), fandom=facts.get("fandom", 0))
        assert find_blocs(ordinary + discussions(seed, **facts)) == []


@pytest.mark.parametrize("facts", [TALK[0], TALK[1], TALK[3]], ids=["any", "thorough", "few accounts"])
def test_accounts_that_vote_for_comments_on_the_same_articles_are_found_whole(facts):
    ordinary = crowd(7, accounts=facts.get("accounts", 2000)) + discussions(7, **facts)
    chosen = {*range(0, 900, 75)}

    (bloc,) = find_blocs(joining_comments(ordinary, chosen))

    assert bloc.members == RING
    assert set(bloc.articles) == chosen
    assert bloc.alike.number == 12
    assert bloc.alike.expected < 2


def test_votes_on_articles_and_on_their_comments_add_up_and_count_an_article_once():
    ordinary = crowd(7) + discussions(7)
    half = joining(joining_comments(ordinary, set(range(0, 450, 75)), each=3), set(range(450, 900, 75)))
    (bloc,) = find_blocs(joining(half, set(range(0, 300, 75))))

    assert bloc.members == RING
    assert bloc.alike.number == 12


def test_accounts_that_agree_on_nearly_all_comments_in_few_long_discussions_are_found():
    ordinary = crowd(7) + discussions(7, **TALK[2])
    long = [one for one in range(0, 120, 3) if sum(ballot.article == one for ballot in ordinary) > 60][:4]

    (bloc,) = find_blocs(joining_comments(ordinary, set(long), each=5))

    assert bloc.members == RING
    assert set(bloc.articles) == set(long)
    assert bloc.alike is None, "four articles are too few"
    assert (bloc.alike_on_comments.number, len(long)) == (20, 4)
    also_others = joining_comments(ordinary, set(long), each=5)
    for n in range(len(also_others) - 1, 0, -11)[: 10 * len(RING)]:
        one, member = also_others[n], RING[n % len(RING)]
        also_others[n] = one._replace(members=tuple({*one.members, member}))
    assert find_blocs(also_others) == []


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


def test_articles_of_very_many_voters_and_pairs_beyond_the_bound_are_left_out():
    many = Ballot(1, "", tuple(range(voting_blocs.MOST_VOTERS + 1)))
    small = [Ballot(number, "", (1, 2, 3)) for number in range(2, 9)]

    assert list(voting_blocs._bounded([many, *small], 1000)) == small
    assert list(voting_blocs._bounded([*small], 10)) == small[:2]


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
