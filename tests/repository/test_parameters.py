"""Applying ranking parameters: in steps that any process can finish, and never half visible to a reader."""

import random
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from threading import Event, Thread

import pytest

from articles.domain import ranking
from articles.domain.articles import Choice
from articles.domain.errors import ArticlesError, ChangeRunning
from articles.domain.lists import Order
from articles.domain.moderation_log import OPERATOR, Action, Actor
from articles.domain.ranking import Parameters
from articles.repository import Repository
from articles.repository.store import schema
from tests.cast import MODERATOR
from tests.clock import DAY, Clock
from tests.factories import imported, post, visit
from tests.repository.racing import during
from tests.repository.usage import finish_tuning, listed, tune, warm
from tests.rules import connect, default_rules
from tests.store_state import contents, problems

OTHER = Parameters(votes_per_day=20, alpha=2.0, beta=0.5, base=1.0, gamma=1.8)
SAME_WEIGHT = Parameters(alpha=3.0, gamma=2.5)
BOB = Actor(2, "bob")


pytestmark = [
    pytest.mark.usefixtures("small_batches"),
    pytest.mark.parametrize("small_batches", [3], indirect=True, ids=["steps"]),
]


@pytest.fixture
def filled(repository: Repository, clock: Clock) -> Repository:
    return fill(repository, clock)


def fill(repository: Repository, clock: Clock, count: int = 40) -> Repository:
    """Post open and closed articles in the group python, a minute apart, with all kinds of votes and views."""
    chance = random.Random(3)
    rows = [
        imported(
            n, clock() - n * DAY / 3, votes=chance.randint(0, 30), opposes=chance.randint(0, 9), groups=("python",)
        )
        for n in range(count)
    ]
    ids = repository.imports.add(rows)
    views = [(i, visit(n), clock()) for i in ids for n in range(chance.randint(0, 4))]
    repository.pageviews.record_many(views)
    repository.hot.rescore()
    warm(repository, "python")
    return repository


def begin(repository: Repository, parameters: Parameters = OTHER, *, actor: Actor = MODERATOR) -> int:
    """Begin to apply parameters; return how many articles are scored by them."""
    version = repository.parameters.get_state().version
    repository.parameters.apply(parameters, expected=version, actor=actor, reason="To see")
    applying = repository.parameters.get_state().applying
    assert applying, "there was nothing to do in steps"
    return applying.done


def by_score(repository: Repository, parameters: Parameters) -> list[int]:
    """Return the front page as these parameters order it."""
    values = {
        a.id: ranking.score(a.posted_at, a.points, seconds_per_point=parameters.seconds_per_point)
        for a in repository.imports.iterate()
        if a.removed is None
    }
    return sorted(values, key=lambda i: (values[i], str(i).encode()), reverse=True)


def scores(repository: Repository) -> dict[int, float]:
    """Return the contents of the rankings of all shards."""
    client, shards = repository.store.client, repository.store.shards.all
    return {
        int(i): value
        for keys in shards
        for i, value in client.zrange(keys.order(Order.SCORE), 0, -1, withscores=True)
    }


def leftovers(repository: Repository) -> list[str]:
    """Return what applying should not leave behind."""
    client, found = repository.store.client, []
    for keys in repository.store.shards.all:
        found += [name for name in client.hkeys(keys.ranking) if name.startswith("next_")]
        found += [keys.next_score] * client.exists(keys.next_score)
    return found


# Immediately, or in steps


def test_a_new_store_ranks_by_the_configured_weight_and_the_default_values(repository):
    state = repository.parameters.get_state()

    assert (state.parameters, state.version, state.applying) == (Parameters(), 1, None)
    (entry,) = repository.parameters.list_changes()
    assert (entry.version, entry.at, entry.actor_name, entry.parameters) == (1, 0.0, "", Parameters())


def test_parameters_with_the_same_weight_take_effect_immediately(filled, clock):
    clock.advance(5)
    before = scores(filled)

    filled.parameters.apply(SAME_WEIGHT, expected=1, actor=MODERATOR, reason="Hotter")

    state = filled.parameters.get_state()
    assert (state.parameters, state.version, state.applying) == (SAME_WEIGHT, 2, None)
    assert scores(filled) == before
    assert filled.hot.get_refreshed_at() == clock()
    for article in filled.lists.get_page(Order.HOT).articles:
        hours = ranking.hours_between(article.posted_at, clock())
        exact = ranking.hotness(article.pv, article.uv, hours, SAME_WEIGHT)
        assert article.hotness == pytest.approx(exact, rel=1e-9)
    assert leftovers(filled) == []
    assert problems(filled) == []


@pytest.mark.needs("few shards")
def test_a_new_weight_is_applied_in_steps_while_readers_see_the_old_order(filled):
    old, steps = listed(filled), 0
    begin(filled)
    done = [filled.parameters.get_state().applying.done]
    while not filled.parameters.advance():
        assert listed(filled) == listed(filled, Order.SCORE, "python") == old
        assert filled.parameters.get_current() == Parameters()
        assert filled.articles.get(1).score == scores(filled)[1]
        assert problems(filled) == []
        done.append(filled.parameters.get_state().applying.done)
        steps += 1

    assert steps >= 2
    assert done == sorted(done)
    assert filled.parameters.get_current() == OTHER
    assert listed(filled) == listed(filled, Order.SCORE, "python") == by_score(filled, OTHER) != old
    assert leftovers(filled) == []
    assert problems(filled) == []


def test_more_articles_of_one_moment_than_a_step_holds_are_all_scored(repository, clock):
    ids = repository.imports.add([imported(n, clock() - 100, votes=n) for n in range(30)])

    tune(repository, OTHER)

    assert sorted(scores(repository)) == ids
    assert listed(repository) == by_score(repository, OTHER)
    assert problems(repository) == []


# What happens meanwhile


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2))
def test_any_changes_in_any_order_while_weights_are_applied_are_ranked_correctly(repository, clock, seed):
    repository, chance = fill(repository, clock, 25), random.Random(seed)
    weights, numbers = cycle([10, 500, 200, 3000]), iter(range(1000, 9000))

    def tune_on() -> None:
        with suppress(ChangeRunning):
            state = repository.parameters.get_state()
            wanted = replace(state.parameters, votes_per_day=next(weights))
            repository.parameters.apply(wanted, expected=state.version, actor=MODERATOR, reason="Why not")

    def change() -> None:
        article_id = chance.randint(1, 30)
        with suppress(ArticlesError):
            chance.choice(
                [
                    lambda: repository.votes.cast(article_id, chance.randint(1, 9), chance.choice([*Choice])),
                    lambda: repository.articles.remove(article_id, MODERATOR, "Spam"),
                    lambda: repository.articles.restore(article_id, MODERATOR, "No spam"),
                    lambda: repository.groups.assign(article_id, ["redis"], ["python"]),
                    lambda: post(repository, next(numbers), ("python",)),
                    lambda: repository.pageviews.record(article_id, visit(chance.randint(1, 99))),
                    lambda: repository.imports.add([imported(next(numbers), clock() - chance.randint(0, 10**6))]),
                    lambda: repository.lists.get_page(Order.SCORE, slug="python"),
                    repository.hot.rescore,
                    repository.parameters.advance,
                    tune_on,
                ]
            )()
        clock.advance(0.5)

    for _ in range(150):
        change()
        if chance.random() < 0.1:
            assert problems(repository) == []
            assert listed(repository) == by_score(repository, repository.parameters.get_current())
    finish_tuning(repository)

    assert repository.parameters.get_state().version > 1
    assert listed(repository) == by_score(repository, repository.parameters.get_current())
    assert leftovers(repository) == []
    assert problems(repository) == []


# Interruptions


class Dying(Exception):
    """Raised where the process dies."""


def dying_after(repository: Repository, uses: int) -> Repository:
    """Return the same store, for a process that dies after this number of calls."""
    left = iter(range(uses))

    def observe(_operation: str, _outcome: str, seconds: float | None) -> None:
        if seconds is not None and next(left, None) is None:
            raise Dying

    store = repository.store
    return connect(store.client, shards=store.shards.count, clock=store.now, rules=store.rules, observe=observe)


@pytest.mark.deep
@pytest.mark.parametrize("parameters", [OTHER, SAME_WEIGHT], ids=["other weight", "same weight"])
def test_another_process_completes_the_change_after_a_crash_at_any_step(repository, clock, parameters):
    for uses in range(60):
        repository.store.client.flushdb()
        schema.stamp(repository.store)
        fill(repository, clock, 12)
        dying = dying_after(repository, uses)
        ended = False
        try:
            dying.parameters.apply(parameters, expected=1, actor=MODERATOR, reason="To see")
            finish_tuning(dying)
            ended = True
        except Dying:
            assert problems(repository) == []
            assert listed(repository) == by_score(repository, repository.parameters.get_current())

        finish_tuning(repository)

        begun = repository.parameters.get_state().version == 2
        assert begun or uses == 0
        assert repository.parameters.get_current() == (parameters if begun else Parameters())
        assert len(repository.parameters.list_changes()) == 1 + begun
        assert len(repository.moderation_log.get_page().entries) == begun
        assert listed(repository) == by_score(repository, repository.parameters.get_current())
        assert leftovers(repository) == []
        assert problems(repository) == []
        if ended:
            assert uses > (5 if parameters is OTHER else 2)
            return
    raise AssertionError("it never came to an end")


# Two at once


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(gamma=0.99), Parameters(votes_per_day=0), Parameters(alpha=0, beta=0),
        Parameters(base=float("nan")), Parameters(beta=float("inf")),
    ],
    ids=repr,
)  # fmt: skip
def test_parameters_out_of_their_range_are_refused(filled, parameters):
    before = contents(filled)

    with pytest.raises(ValueError, match=r"gamma|votes_per_day|alpha, beta|base|beta"):
        filled.parameters.apply(parameters, expected=1, actor=MODERATOR, reason="To see")

    assert contents(filled) == before


@pytest.mark.deep
def test_a_delayed_worker_does_not_affect_a_later_change(filled):
    begin(filled)
    stages, ends = [], []
    late = connect(filled.store.client, shards=filled.store.shards.count, clock=filled.store.now)
    late.store.run_many = lambda calls: stages.append(list(calls)) or filled.store.run_many(stages[-1])
    late.store.run_together = lambda calls: ends.append(list(calls)) or filled.store.run_together(calls)
    finish_tuning(late)
    third = replace(OTHER, votes_per_day=1000)
    for applied in (False, True):
        if applied:
            finish_tuning(filled)
        else:
            begin(filled, third)
        before = contents(filled)

        for calls in stages:
            filled.store.run_many(calls)
        for calls in ends:
            filled.store.run_together(calls)

        assert contents(filled) == before
    assert filled.parameters.get_current() == third
    assert listed(filled) == by_score(filled, third)
    assert problems(filled) == []


def test_a_group_ranking_built_during_a_change_does_not_keep_the_old_order(repository, clock, monkeypatch):
    repository = fill(repository, clock, 20)
    run_together = repository.store.run_together

    def overtaken(calls):
        if calls[0].script == "ranking/log_change":
            for article_id in range(1, 9):
                repository.groups.assign(article_id, ["late"])
            warm(repository, "late")
        return run_together(calls)

    monkeypatch.setattr(repository.store, "run_together", overtaken)

    tune(repository, OTHER)

    assert listed(repository, Order.SCORE, "late") == [i for i in by_score(repository, OTHER) if i < 9]
    assert problems(repository) == []


# Readers


def reversing(repository: Repository, clock: Clock, count: int = 40) -> dict[float, list[int]]:
    """Post articles, each newer and with fewer votes, whose order two weights reverse; return both orders."""
    rows = [
        imported(n, clock() - 30 * DAY + n * 3600, votes=200 - 4 * n, opposes=0, groups=("python",))
        for n in range(count)
    ]
    repository.imports.add(rows)
    weights = (Parameters(votes_per_day=200), Parameters(votes_per_day=20))
    orders = {weight.votes_per_day: by_score(repository, weight) for weight in weights}
    assert orders[200] == orders[20][::-1]
    return orders


@pytest.mark.deep
def test_no_reader_sees_a_mixture_of_two_weights(repository, clock):
    orders = reversing(repository, clock)
    shown, seen, stop = [order[:25] for order in orders.values()], set(), Event()

    def change() -> None:
        for votes_per_day in (20, 200) * 8:
            tune(repository, Parameters(votes_per_day=votes_per_day))

    def read() -> None:
        for slug in (None, "python"):
            ids = [article.id for article in repository.lists.get_page(Order.SCORE, slug=slug).articles]
            assert ids in shown
            seen.add(shown.index(ids))

    def cool() -> None:
        while not stop.is_set():  # so that group rankings are rebuilt in some shards and already exist in others
            for keys in repository.store.shards.all[::2]:
                repository.store.client.delete(keys.group_order(Order.SCORE, "python"))

    cooler = Thread(target=cool)
    cooler.start()
    try:
        during(change, read, repository)
    finally:
        stop.set()
        cooler.join()

    assert seen == {0, 1}
    assert problems(repository) == []


@pytest.mark.parametrize("repository", [4], indirect=True)
@pytest.mark.parametrize("cold", [(0, 1), (0, 1, 2, 3)], ids=["some cold", "all cold"])
def test_a_group_ranking_built_while_the_weight_changes_is_read_again(repository, clock, monkeypatch, cold):
    orders = reversing(repository, clock)
    warm(repository, "python")
    for number in cold:
        keys = repository.store.shards.all[number]
        repository.store.client.delete(keys.group_order(Order.SCORE, "python"))
    reader = connect(repository.store.client, shards=4, clock=clock)
    run_many, overtaken = reader.store.run_many, []

    def overtaking(calls, **options):
        calls = list(calls)
        if overtaken:
            return run_many(calls, **options)
        overtaken.append(True)
        first = run_many(calls[:1], **options)
        tune(repository, Parameters(votes_per_day=20))
        return first + run_many(calls[1:], **options)

    monkeypatch.setattr(reader.store, "run_many", overtaking)

    ids = [article.id for article in reader.lists.get_page(Order.SCORE, slug="python").articles]

    assert overtaken
    assert ids in [order[:25] for order in orders.values()]


# Records


def test_the_history_lists_each_change_with_moderator_time_and_reason_newest_first(filled, clock):
    clock.advance(10)
    filled.parameters.apply(SAME_WEIGHT, expected=1, actor=BOB, reason="Hotter")
    clock.advance(10)
    tune(filled, OTHER)

    newest, middle, first = filled.parameters.list_changes()

    assert (newest.version, newest.at, newest.actor_name, newest.parameters) == (3, clock(), "carol", OTHER)
    assert (middle.version, middle.at, middle.actor_name, middle.reason) == (2, clock() - 10, "bob", "Hotter")
    assert middle.parameters == SAME_WEIGHT
    assert (first.version, first.at, first.actor_name, first.parameters) == (1, 0.0, "", Parameters())


def test_the_public_log_names_every_changed_parameter(filled, clock):
    filled.parameters.apply(SAME_WEIGHT, expected=1, actor=BOB, reason="Hotter")
    tune(filled, replace(SAME_WEIGHT, votes_per_day=50))

    newest, older = filled.moderation_log.get_page().entries[:2]

    assert (older.action, older.at, older.actor_name, older.reason) == (Action.TUNE, clock(), "bob", "Hotter")
    assert older.details == {"alpha": "1 → 3", "gamma": "1.5 → 2.5", "version": "2"}
    assert newest.details == {"votes_per_day": "200 → 50", "version": "3"}


def test_numbers_are_stored_exactly(filled):
    odd = Parameters(votes_per_day=7, alpha=0.1 + 0.2, beta=1 / 3, base=2 / 3, gamma=1.0000000000000002)

    tune(filled, odd)

    assert filled.parameters.get_current() == filled.parameters.list_changes()[0].parameters == odd
    assert problems(filled) == []


# The configuration


def configured(repository: Repository, votes_per_day: int) -> Repository:
    """Start the site with another VOTES_PER_DAY."""
    store = repository.store
    return connect(
        store.client, shards=store.shards.count, clock=store.now, rules=default_rules(votes_per_day=votes_per_day)
    )


def test_a_changed_configuration_is_adopted_and_recorded(filled):
    assert configured(filled, 50).adopt_rules()

    assert filled.parameters.get_current() == Parameters(votes_per_day=50)
    assert filled.parameters.list_changes()[0].actor_name == OPERATOR.name == ""
    assert listed(filled) == by_score(filled, Parameters(votes_per_day=50))
    assert not configured(filled, 50).adopt_rules()
    assert problems(filled) == []


def test_the_last_change_wins_whether_by_the_lab_or_the_configuration(filled):
    tune(filled, OTHER)
    assert configured(filled, 50).adopt_rules()
    assert filled.parameters.get_current() == replace(OTHER, votes_per_day=50)

    tune(filled, OTHER)
    assert not configured(filled, 50).adopt_rules()
    assert filled.parameters.get_current() == OTHER

    assert configured(filled, 200).adopt_rules()
    assert filled.parameters.get_current() == replace(OTHER, votes_per_day=200)
    assert problems(filled) == []


def test_a_start_completes_an_interrupted_change_before_it_reads_the_configuration(filled):
    begin(filled)
    told: list[tuple[int, int]] = []

    assert configured(filled, 50).adopt_rules(lambda done, total: told.append((done, total)))

    assert filled.parameters.get_current() == replace(OTHER, votes_per_day=50)
    assert [entry.version for entry in filled.parameters.list_changes()] == [3, 2, 1]
    assert all(0 <= done <= total == 40 for done, total in told)
    assert problems(filled) == []


# Lost parameters


def test_the_next_start_restores_lost_parameters_from_the_history(filled):
    tune(filled, OTHER)
    for keys in filled.store.shards.all:
        filled.store.client.delete(keys.ranking)

    schema.stamp(configured(filled, 200).store)

    state = filled.parameters.get_state()
    assert (state.parameters, state.version) == (OTHER, 2)
    filled.hot.rescore()
    assert problems(filled) == []


@pytest.mark.deep
@pytest.mark.parametrize("repository", [4], indirect=True)
@pytest.mark.parametrize("lost", range(4))
def test_parameters_lost_in_one_shard_are_restored_from_another(repository, clock, lost):
    repository = fill(repository, clock)
    tune(repository, OTHER)
    repository.store.client.delete(repository.store.shards.all[lost].ranking)
    assert problems(repository) != []
    clock.advance(5)

    repository.prepare()

    assert repository.parameters.get_current() == OTHER
    assert problems(repository) == []
