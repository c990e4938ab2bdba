"""Rate limits in the store: exact, shared by all processes, forgotten when they are refilled."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import LimitReached
from articles.domain.limits import Rate, Use, take
from articles.repository import Repository
from tests.cast import ALICE, BOB
from tests.factories import link, post
from tests.rules import RATES, connect, default_rules
from tests.store_state import problems

LIMITS = RATES | {"votes": Rate(60, 7200), "search": Rate(30, 3600)}
"""The store's own clock runs: a use is refilled so late that no test takes as long."""

LOGIN, SEARCH = Use("logins", "a" * 16), Use("search", "b" * 16)


@pytest.fixture
def rules():
    return default_rules(limits=LIMITS)


def refused(repository: Repository, *uses: Use) -> LimitReached | None:
    try:
        repository.limits.take(uses)
    except LimitReached as reached:
        return reached
    return None


def test_a_limit_refuses_once_its_uses_are_taken_and_says_for_how_long(repository, clock):
    outcomes = [refused(repository, LOGIN) for _ in range(11)]

    assert outcomes[:10] == [None] * 10
    assert (outcomes[10].limit, outcomes[10].wait_ms, outcomes[10].retry_after) == ("logins", 60_000, 60)
    clock.advance(59.999)
    assert refused(repository, LOGIN).retry_after == 1
    clock.advance(0.001)
    assert refused(repository, LOGIN) is None


def test_other_subjects_and_limits_are_not_affected(repository):
    while not refused(repository, LOGIN):
        pass

    assert refused(repository, LOGIN._replace(subject="c" * 16)) is None
    assert refused(repository, SEARCH) is None


def test_a_share_multiplies_the_uses(repository):
    outcomes = [refused(repository, SEARCH._replace(share=5)) for _ in range(151)]

    assert outcomes[:150] == [None] * 150
    assert outcomes[150].wait_ms == 24_000


def test_a_refused_request_takes_nothing_of_the_other_limits(repository):
    for _ in range(40):
        refused(repository, LOGIN, SEARCH)

    assert sum(refused(repository, SEARCH) is None for _ in range(40)) == LIMITS["search"].uses - 10


def test_a_use_can_be_given_back(repository):
    for _ in range(30):
        repository.limits.take([LOGIN])
        repository.limits.give_back([LOGIN])

    assert refused(repository, LOGIN) is None


def test_the_limits_survive_the_process_and_are_the_same_for_all(repository, rules, clock):
    while not refused(repository, LOGIN):
        pass

    other = connect(repository.store.client, shards=repository.store.shards.count, rules=rules, clock=clock)

    assert refused(other, LOGIN).limit == "logins"


def test_many_at_once_take_no_more_than_there_are(repository):
    refused(repository, SEARCH)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: refused(repository, LOGIN), range(80)))

    assert outcomes.count(None) == RATES["logins"].uses


def test_the_script_and_the_formula_agree(repository, clock):
    chance, full_at, rate = random.Random(1), 0, RATES["logins"]
    for _ in range(400):
        clock.advance(chance.choice([0, 0.001, 7, 59.5, 60, 300, -30]))
        full_at, wait = take(full_at, round(clock() * 1000), rate)
        reached = refused(repository, LOGIN)
        assert (reached.wait_ms if reached else 0) == wait


# Votes


def test_a_thousand_toggles_are_throttled_and_the_counts_stay_exact(repository, article, clock):
    choices, refusals = [Choice.VOTE, Choice.NONE], []
    for number in range(1000):
        try:
            tally = repository.votes.cast(article, BOB, choices[number % 2])
        except LimitReached as reached:
            refusals.append(reached)

    assert len(refusals) == 1000 - LIMITS["votes"].uses
    assert (refusals[0].limit, refusals[0].retry_after) == ("votes", 120)
    assert (tally.votes, tally.opposes) == (1, 0)
    clock.advance(120)
    assert repository.votes.cast(article, BOB, Choice.NONE).votes == 1
    assert problems(repository) == []


# Posts


def test_posts_are_limited_in_a_burst_and_in_the_long_run(repository, clock):
    refusals, posted = [], 0
    for number in range(300):
        try:
            post(repository, number)
        except LimitReached as reached:
            refusals.append(reached.limit)
            clock.advance(reached.retry_after)
        else:
            posted += 1
        if "posts_day" in refusals:
            break

    # One more was refilled in the hour that 30 posts take.
    assert (refusals.index("posts"), posted) == (0, RATES["posts_day"].uses + 1)
    assert post(repository, 2000, poster=BOB)


def test_a_refused_post_claims_neither_an_id_nor_the_link(repository):
    for number in range(RATES["posts"].uses):
        last = post(repository, number)

    for number in range(100, 110):
        with pytest.raises(LimitReached):
            post(repository, number)

    assert post(repository, 100, poster=BOB) == last + 1


def test_a_known_link_is_found_also_when_the_limit_is_used_up(repository):
    ids = [post(repository, number) for number in range(RATES["posts"].uses)]

    again = repository.articles.post(ALICE, "alice", "Again", link(2))

    assert (again.id, again.is_new) == (ids[2], False)


def test_a_single_limit_can_be_off(repository, clock):
    rules = default_rules(limits={"posts": Rate(1, 60)})
    other = connect(repository.store.client, shards=repository.store.shards.count, rules=rules, clock=clock)
    article_id = post(other, 1)

    for _ in range(200):
        other.votes.cast(article_id, BOB, Choice.VOTE)
