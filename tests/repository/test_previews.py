"""Previews of other ranking parameters, compared with the lists once those parameters are applied."""

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from articles.domain import ranking
from articles.domain.articles import ImportedArticle
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.domain.readership import Visit
from articles.domain.rules import Rules
from articles.repository.ranking import previews
from tests.cast import BOB, MODERATOR
from tests.clock import DAY, Clock
from tests.every_server import names_in
from tests.factories import imported, link
from tests.repository.racing import interleaved
from tests.rules import connect, default_rules

SIZE = 25
OTHERS = [
    Parameters(votes_per_day=1),
    Parameters(votes_per_day=27, alpha=0, beta=3),
    Parameters(votes_per_day=200, gamma=2.5, base=0.1),
    Parameters(votes_per_day=86400, gamma=1.0, base=48),
]


@pytest.fixture
def rules() -> Rules:
    return default_rules(per_page=SIZE)


def fill(repository, clock, count=150, seed=1):
    """Post articles of 30 days with random votes, some at the same moment, some with views."""
    rng = Random(seed)
    times = [round(clock() - rng.choice([60, 3600, 7200, rng.random() * 30 * DAY]), 3) for _ in range(count)]
    repository.imports.add(
        [
            ImportedArticle(f"Article {n}", link(n), BOB, "bob", time, rng.randrange(60), rng.randrange(30), ())
            for n, time in enumerate(times)
        ]
    )
    visits = [(rng.randrange(1, count + 1), Visit(f"{rng.randrange(40):016x}"), clock()) for _ in range(6 * count)]
    repository.pageviews.record_many(visits)


def apply(repository, parameters):
    version = repository.parameters.get_state().version
    repository.parameters.apply(parameters, expected=version, actor=MODERATOR, reason="To compare")
    while not repository.parameters.advance():
        pass


def shown(repository, order):
    return list(repository.lists.get_page(order).articles)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "PART", 40)


@pytest.mark.parametrize("order", [Order.SCORE, Order.HOT])
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_a_preview_equals_what_the_site_shows_once_it_is_applied(repository, clock, small_parts, order, other):
    fill(repository, clock)
    repository.hot.rescore()
    before = shown(repository, order)

    preview = repository.previews.get(order, other, SIZE)

    assert ids(preview.current) == ids(before)
    apply(repository, other)
    after = shown(repository, order)
    assert ids(preview.other) == ids(after)
    if order is Order.SCORE:
        assert [a.score for a in preview.current] == [a.score for a in before]
        assert [a.score for a in preview.other] == [a.score for a in after]
    else:
        assert [a.hotness for a in preview.current] == pytest.approx([a.hotness for a in before], rel=1e-12)
        assert [a.hotness for a in preview.other] == pytest.approx([a.hotness for a in after], rel=1e-12)
        assert [(a.pv, a.uv) for a in preview.other] == [(a.pv, a.uv) for a in after]


def ids(articles):
    return [article.id for article in articles]


WEIGHTS = st.one_of(st.integers(1, 60), st.integers(1, 86400))
ARTICLES = st.lists(
    st.tuples(st.one_of(st.integers(0, 3), st.integers(0, 40 * 86400)), st.integers(0, 400), st.integers(0, 400)),
    max_size=60,
)
MANY = settings(max_examples=60)


@pytest.mark.deep
@pytest.mark.parametrize("shards", [1, 4])
@MANY
@given(rows=ARTICLES, now=WEIGHTS, other=WEIGHTS, part=st.integers(4, 30), size=st.integers(1, 8))
def test_a_preview_that_stops_early_misses_no_article_of_the_top(server_url, shards, rows, now, other, part, size):
    clock, rules = Clock(), default_rules(votes_per_day=now)
    repository = connect(server_url, shards=shards, rules=rules, clock=clock)
    repository.store.client.flushdb()
    repository.prepare()
    repository.imports.add(
        [imported(n, clock() - age, votes=votes, opposes=opposes) for n, (age, votes, opposes) in enumerate(rows)]
    )
    weight = 86400 / other
    scores = {
        a.id: ranking.score(a.posted_at, a.points, seconds_per_point=weight) for a in repository.imports.iterate()
    }
    wanted = sorted(scores, key=lambda i: (scores[i], str(i).encode()), reverse=True)[:size]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(previews, "PART", part)
        preview = repository.previews.get(Order.SCORE, Parameters(votes_per_day=other), size)

    assert [(a.id, a.score) for a in preview.other] == [(i, scores[i]) for i in wanted]
    assert ids(preview.current) == ids(shown(repository, Order.SCORE))[:size]


def test_a_preview_changes_nothing(repository, clock):
    fill(repository, clock, 40)
    repository.hot.rescore()
    client = repository.store.client
    before = {name: client.dump(name) for name in names_in(client)}

    for order in (Order.SCORE, Order.HOT):
        repository.previews.get(order, OTHERS[0], SIZE)
    repository.weights.get_recent()

    assert {name: client.dump(name) for name in names_in(client)} == before


def test_parameters_applied_between_two_steps_restart_the_preview(repository, clock, small_parts):
    fill(repository, clock)
    second = len(repository.store.shards.all) + 1
    reader = interleaved(
        repository, "ranking/preview_scores", lambda: apply(repository, Parameters(votes_per_day=20)), second
    )

    preview = reader.previews.get(Order.SCORE, Parameters(votes_per_day=5), SIZE)

    assert ids(preview.current) == ids(shown(repository, Order.SCORE))
    apply(repository, Parameters(votes_per_day=5))
    assert ids(preview.other) == ids(shown(repository, Order.SCORE))


def test_previews_exclude_articles_removed_during_the_computation(repository, clock, monkeypatch):
    fill(repository, clock, 30)
    read = previews.read_articles

    def remove_first(store, found, reader):
        repository.articles.remove(found[0], MODERATOR, "Spam")
        return read(store, found, reader)

    monkeypatch.setattr(previews, "read_articles", remove_first)
    for order in (Order.SCORE, Order.HOT):
        preview = repository.previews.get(order, OTHERS[0], SIZE)

        assert all(repository.articles.get(i).removed is None for i in ids(preview.current + preview.other))
