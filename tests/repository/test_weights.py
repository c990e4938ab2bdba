"""The vote weight that adapts to the site."""

from dataclasses import replace

import pytest

from articles.domain.articles import ImportedArticle
from articles.domain.ranking import Parameters
from articles.repository import Repository
from articles.repository.ranking import weights
from articles.repository.store import keys as names
from tests.cast import MODERATOR
from tests.clock import DAY
from tests.factories import link, post
from tests.repository.usage import finish_tuning, listed
from tests.rules import connect, default_rules
from tests.store_state import problems


def started(repository: Repository, votes_per_day: int | None = None) -> Repository:
    """Start the site with this VOTES_PER_DAY; `auto` is None."""
    store = repository.store
    found = connect(
        store.client,
        shards=store.shards.count,
        clock=store._clock,
        rules=default_rules(votes_per_day=votes_per_day),
    )
    found.adopt_rules()
    return found


def bring(repository, points, days=lambda n: 2 + n / 10, opposes=0):
    """Import articles with these points, each posted this many days ago."""
    now = repository.store.now()
    repository.imports.add(
        [
            ImportedArticle(f"Article {n}", link(n), 5, "bob", now - days(n) * DAY, votes + opposes, opposes)
            for n, votes in enumerate(points, 1)
        ]
    )


@pytest.fixture
def auto(repository):
    """A site more than a week old that has not adapted yet; 20 votes a day fit it."""
    found = started(repository)
    bring(found, [20] * 60 + [90] * 10)
    return found


def next_day(repository, clock):
    """Advance past the day in which the site does not check again."""
    clock.advance(DAY)
    repository.store.client.delete(names.WEIGHT_LOCK)


def follow(repository):
    votes_per_day = repository.weights.adjust()
    finish_tuning(repository)
    return votes_per_day


def votes_per_day(repository):
    return repository.parameters.get_current().votes_per_day


def choose(repository, **values):
    state = repository.parameters.get_state()
    wanted = replace(state.parameters, **values)
    repository.parameters.apply(wanted, expected=state.version, actor=MODERATOR, reason="Better")
    finish_tuning(repository)


def test_an_unconfigured_site_gets_the_weight_that_fits_its_articles(auto):
    assert votes_per_day(auto) == 200

    assert follow(auto) == 20

    assert auto.parameters.get_current() == Parameters(votes_per_day=20)
    first = auto.store.shards.directory
    assert float(auto.store.client.hget(first.ranking, "seconds_per_point")) == 4320
    assert listed(auto) == sorted(
        listed(auto), key=lambda i: -auto.articles.get(i).posted_at - 4320 * auto.articles.get(i).points
    )
    assert problems(auto) == []


def test_the_public_log_and_the_history_credit_the_site_and_give_the_sample_size(auto):
    follow(auto)

    (entry,) = [entry for entry in auto.moderation_log.get_page(1).entries if entry.action == "tune-ranking"]
    assert (entry.actor_name, entry.reason) == ("", "")
    assert entry.details["votes_per_day"] == "200 → 20"
    assert entry.details["learnt_from"] == "70"
    newest, oldest = auto.parameters.list_changes()
    assert (newest.learnt_from, oldest.learnt_from) == (70, 0)


def test_the_weight_is_checked_once_a_day(auto, clock):
    follow(auto)
    bring(auto, [90] * 400, days=lambda n: 1.5)

    assert follow(auto) is None
    assert votes_per_day(auto) == 20

    next_day(auto, clock)
    assert follow(auto) == 90
    assert auto.store.client.ttl(names.WEIGHT_LOCK) == pytest.approx(DAY, abs=60)


def test_a_young_site_keeps_its_first_weight_for_a_week(repository, clock):
    site = started(repository)
    bring(site, [20] * 60, days=lambda n: 6.9 - n / 20)

    assert follow(site) is None

    next_day(site, clock)
    assert follow(site) == 20


def test_imported_articles_are_fitted_immediately_on_a_site_of_any_age(repository):
    site = started(repository)
    bring(site, [20] * 60, days=lambda n: 900 + n / 24)
    assert follow(site) == 20
    bring(site, [90] * 400, days=lambda n: 3)

    assert site.fit_weight() == 90

    assert votes_per_day(site) == 90
    assert problems(site) == []


def test_only_listed_articles_of_the_last_month_that_are_older_than_a_day_count(repository, clock):
    site = started(repository)
    bring(site, [7] * 30, days=lambda n: 2)
    bring(site, [50] * 30, days=lambda n: 33)
    bring(site, [100] * 30, days=lambda n: 0.9)
    gone = post(site, 5000)
    clock.advance(0.05 * DAY)
    site.articles.remove(gone, MODERATOR, "Spam")

    recent = site.weights.get_recent()

    assert list(recent.points) == [7] * 30
    assert recent.choices == 6 * 30
    assert recent.since == pytest.approx(site.store.now() - 33.05 * DAY, abs=1)


def test_opposing_votes_subtract_points_and_count_as_choices(repository):
    site = started(repository)
    bring(site, [4] * 3, days=lambda n: 2, opposes=5)

    recent = site.weights.get_recent()

    assert (sorted(recent.points), recent.choices) == ([4] * 3, 3 * (9 + 5 - 1))


def test_an_even_sample_of_very_many_articles_is_read(repository, monkeypatch):
    monkeypatch.setattr(weights, "_PART", 5)
    monkeypatch.setattr(weights, "MOST_ARTICLES", 50)
    site = started(repository)
    bring(site, range(1, 401), days=lambda n: 29 - n / 20)

    points = site.weights.get_recent().points

    assert 40 <= len(points) <= 50
    assert min(points) < 50
    assert max(points) > 300
    assert sum(points) / len(points) == pytest.approx(200, abs=40)


def test_a_configured_number_fixes_the_weight_permanently(auto):
    site = started(auto, 200)

    assert follow(site) is site.fit_weight() is None
    assert votes_per_day(site) == 200


def test_a_weight_chosen_in_the_lab_ends_automatic_changes(auto, clock):
    choose(auto, votes_per_day=60)

    assert auto.parameters.get_state().is_chosen
    assert follow(auto) is auto.fit_weight() is None
    assert votes_per_day(auto) == 60


def test_other_parameters_chosen_in_the_lab_do_not_end_automatic_changes(auto):
    choose(auto, alpha=2.0)

    assert not auto.parameters.get_state().is_chosen
    assert follow(auto) == 20
    assert auto.parameters.get_current() == Parameters(votes_per_day=20, alpha=2.0)


def test_moderators_can_resume_automatic_changes(auto):
    choose(auto, votes_per_day=60)
    state = auto.parameters.get_state()

    auto.parameters.apply(
        state.parameters, expected=state.version, actor=MODERATOR, reason="Again", is_chosen=False
    )

    assert not auto.parameters.get_state().is_chosen
    assert follow(auto) == 20


@pytest.mark.parametrize("numbers", [[80], [80, 200], [200, 80, 200]])
def test_auto_overrides_earlier_configured_or_chosen_weights(auto, numbers):
    for number in numbers:
        started(auto, number)
    if numbers == [80]:
        choose(auto, votes_per_day=60)

    site = started(auto)

    assert not site.parameters.get_state().is_chosen
    assert follow(site) == 20


def test_automatic_changes_wait_while_moderators_apply_parameters(auto):
    state = auto.parameters.get_state()
    wanted = replace(state.parameters, votes_per_day=60)
    auto.store.run(
        "ranking/begin_change",
        [auto.store.shards.directory.ranking],
        [1, "0", "carol", "Mine", "", 0, *(x for pair in values(wanted) for x in pair)],
    )

    assert auto.weights.adjust() is None
    assert not auto.store.client.exists(names.WEIGHT_LOCK), "it looks as soon as that is done"

    finish_tuning(auto)
    assert votes_per_day(auto) == 60
    assert auto.parameters.get_state().is_chosen


def values(parameters):
    from articles.repository.ranking.parameters import values_of

    return values_of(parameters).items()


def test_an_interrupted_change_resumes_as_the_sites_own(small_batches, auto):
    auto.weights.adjust()
    state = auto.parameters.get_state()
    assert state.applying
    assert state.applying.parameters.votes_per_day == 20

    finish_tuning(started(auto))

    assert auto.parameters.list_changes()[0].learnt_from == 70
    assert not auto.parameters.get_state().is_chosen
