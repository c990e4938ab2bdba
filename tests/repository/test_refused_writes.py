"""A store that refuses writes, for lack of replicas or memory, still serves every read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import StoreUnavailable
from articles.domain.lists import TOP_PERIODS, Order, Period
from articles.repository import FeedFilter, Repository
from articles.repository.lists import gathering
from articles.text.searching import Hiding
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import Clock
from tests.every_server import configure, delete
from tests.factories import discuss, imported, post, visit
from tests.rules import connect
from tests.store_state import problems
from voting_site.embedded import StorePaths, Supervisor

pytestmark = pytest.mark.deep

REFUSALS = {"min-replicas-to-write": ("1", "0"), "maxmemory": ("1", "0")}
"""What makes a server refuse writes, and what lets it take them again."""

ARTICLES = 90


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a server for these tests alone."""
    supervisor = Supervisor(StorePaths(tmp_path_factory.mktemp("store")), config={"appendfsync": "no"})
    supervisor.start(60)
    yield supervisor.paths.url(0)
    supervisor.stop()


@pytest.fixture(params=[1, 4], ids=["one shard", "4 shards"])
def used(request: pytest.FixtureRequest, server: str, clock: Clock) -> Repository:
    """A store of articles of several groups and ages, with votes and views."""
    repository = connect(server, shards=request.param, clock=clock)
    repository.store.client.flushdb()
    repository.prepare()
    rows = [
        imported(n, clock() - 1700 * n - n % 7, votes=n % 5, groups=("python", "redis", "java")[: n % 4])
        for n in range(ARTICLES)
    ]
    ids = repository.imports.add(rows)
    ids.append(post(repository, 1, ("python",)))
    discuss(repository, ids)
    repository.pageviews.record_many([(i, visit(n), clock()) for i in ids for n in range(i % 6)])
    repository.votes.cast(ids[-1], BOB, Choice.VOTE)
    repository.members.save(BOB, ids[-1], wanted=True)
    repository.articles.remove(ids[7], MODERATOR, "Spam")
    repository.hot.rescore()
    return repository


def pages_of(repository: Repository) -> dict[str, Callable[[], Any]]:
    """Return every kind of page."""
    lists, feeds, wish = repository.lists, repository.feeds, FeedFilter(hidden=Hiding(("java",)))
    found: dict[str, Callable[[], Any]] = {}
    for order in Order:
        found |= {
            f"site by {order}": lambda order=order: lists.get_page(order, 2, reader=BOB),
            f"group by {order}": lambda order=order: lists.get_page(order, 2, slug="python", reader=BOB),
            f"groups by {order}": lambda order=order: lists.get_page(order, 2, slugs=("python", "redis")),
            f"group by {order}, some hidden": lambda order=order: lists.get_page(
                order, slug="python", hidden=Hiding(("java",))
            ),
            f"group by {order}, more": lambda order=order: lists.get_page(order, slug="redis", shown=(3, 6, 11)),
            f"site by {order}, some hidden": lambda order=order: lists.get_page(order, hidden=Hiding(("java",))),
        }
    for period in TOP_PERIODS.values():
        found |= {
            f"top of a {period}": lambda period=period: lists.get_page(Order.POINTS, period=period),
            f"top of a {period}, more": lambda period=period: lists.get_page(
                Order.POINTS, 2, period=period, shown=(3, 6, 11)
            ),
            f"feed of a {period}": lambda period=period: feeds.list_top(period, wish),
        }
    now = repository.store.now()
    return found | {
        "hot list of a day": lambda: lists.get_page(Order.HOT, since=now - 86400),
        "feed of the front page": lambda: feeds.list_in(Order.SCORE, wish),
        "feed of the hot list": lambda: feeds.list_in(Order.HOT, wish),
        "feed of groups": lambda: feeds.list_groups(["python", "redis"], FeedFilter()),
        "feed of a member": lambda: feeds.list_posted(ALICE, FeedFilter()),
        "explanation": lambda: repository.explanations.get(repository.articles.get(ARTICLES + 1)),
        "explanation of the last": lambda: repository.explanations.get(repository.articles.get(3)),
        "pulse": lambda: repository.refresh.get([1, 2, 3], order=Order.HOT, since=now - 5000, reader=BOB),
        "log": repository.moderation_log.get_page,
        "what was done to an article": lambda: repository.moderation_log.get_for_article(8),
        "profile": lambda: repository.members.get_posted(ALICE, reader=BOB),
        "voted": lambda: repository.members.get_voted(BOB),
        "saved": lambda: repository.members.get_saved(BOB),
    }


def cool(repository: Repository) -> None:
    """Expire everything that is built for readers."""
    client = repository.store.client
    for keys in repository.store.shards.all:
        slugs = repository.groups.get_titles()
        delete(client, *(keys.group_order(order, slug) for order in Order for slug in slugs))
        delete(client, *(keys.top(period) for period in TOP_PERIODS.values()))


@contextmanager
def refusing(repository: Repository, how: str) -> Iterator[None]:
    """Let the server refuse writes in this block."""
    client, (on, off) = repository.store.client, REFUSALS[how]
    configure(client, how, on)
    try:
        with pytest.raises(StoreUnavailable):
            repository.votes.cast(1, BOB, Choice.VOTE)
        yield
    finally:
        configure(client, how, off)


@pytest.mark.parametrize("choice", [Choice.VOTE, Choice.OPPOSE])
def test_a_full_store_refuses_every_choice_and_lets_members_take_theirs_back(used, choice):
    before = used.articles.get(ARTICLES + 1)

    with refusing(used, "maxmemory"):
        with pytest.raises(StoreUnavailable):
            used.votes.cast(ARTICLES + 1, ALICE + 50, choice)
        assert used.articles.get(ARTICLES + 1) == before
        assert used.votes.cast(ARTICLES + 1, BOB, Choice.NONE).votes == before.votes - 1

    assert problems(used) == []


@pytest.mark.parametrize("state", ["warm", "cold"])
@pytest.mark.parametrize("how", REFUSALS)
def test_every_page_is_unchanged_while_the_store_refuses_writes(used, how, state):
    pages = pages_of(used)
    expected = {name: read() for name, read in pages.items()}
    if state == "cold":
        cool(used)

    with refusing(used, how):
        found = {name: read() for name, read in pages.items()}

    assert found == expected


@pytest.mark.parametrize("how", REFUSALS)
def test_pages_of_large_groups_and_periods_are_found_without_their_rankings(used, how, monkeypatch):
    pages = pages_of(used)
    expected = {name: read() for name, read in pages.items()}
    cool(used)
    monkeypatch.setattr(gathering, "FEW", 2)

    with refusing(used, how):
        found = {name: read() for name, read in pages.items()}

    assert found == expected


def test_the_hot_list_is_unchanged_while_the_store_refuses_writes(used, clock):
    before = used.lists.get_page(Order.HOT)
    clock.advance(300)

    with refusing(used, "min-replicas-to-write"):
        assert used.lists.get_page(Order.HOT) == before
        assert used.feeds.list_in(Order.HOT, FeedFilter())

    assert used.lists.get_page(Order.HOT).refreshed_at == clock()


def test_a_page_too_deep_to_find_raises_the_stores_refusal_and_is_not_empty(used, monkeypatch):
    deep = {
        "group": lambda: used.lists.get_page(Order.SCORE, 2, slug="python"),
        "period": lambda: used.lists.get_page(Order.POINTS, 2, period=Period.WEEK),
        "more": lambda: used.lists.get_page(Order.SCORE, slug="python", shown=range(2000, 2030)),
    }
    expected = {name: read() for name, read in deep.items()}
    cool(used)
    monkeypatch.setattr(gathering, "FEW", 2)
    monkeypatch.setattr(gathering, "WALKED", 0)

    with refusing(used, "min-replicas-to-write"):
        for read in deep.values():
            with pytest.raises(StoreUnavailable):
                read()
        assert used.explanations.get(used.articles.get(3)).groups == ()

    assert {name: read() for name, read in deep.items()} == expected
