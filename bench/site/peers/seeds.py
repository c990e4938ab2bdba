"""The command sequences of the documents that the site grew from, in process, and the site's own beside them.

The documents keep an article as a hash, its voters as a set, and its time and score in two sorted sets. A page is
a ZREVRANGE, then an HGETALL for each of its 25 articles; a vote is ZSCORE, SADD, ZINCRBY, HINCRBY: each command is
a round trip. Corrected: the name of the sorted set, which one of them misspells, and arguments that their clients
no longer take. Opposing votes, groups, views and words, which the site has besides, are left out.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import redis
from tqdm import tqdm

from articles.domain.articles import Choice
from articles.domain.lists import Order
from articles.repository import Repository
from bench.lib.stores import empty_store
from bench.site.content import add_articles, used_memory
from bench.site.peers.layouts import bytes_of_parts
from bench.site.peers.layouts import table as memory_table
from bench.site.report.table import markdown
from bench.site.usage import store_counters
from voting_site.embedded import StorePaths

_POINT_SECONDS, _PER_PAGE, _WINDOW_SECONDS = 432, 25, 7 * 86400
_ROUNDS, _SECONDS = 5, 0.5


class Seeds:
    """The layout of the documents in a store."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def post(self, rows: Iterator[tuple[str, str, int, float, int]]) -> None:
        """Add articles: title, link, poster, posting time in Unix seconds, and votes."""
        pipeline = self._client.pipeline(transaction=False)
        for n, (title, link, poster, posted_at, votes) in enumerate(rows, 1):
            name = f"article:{n}"
            fields = {"title": title, "link": link, "poster": poster, "time": posted_at, "votes": votes}
            pipeline.hset(name, mapping={key: str(value) for key, value in fields.items()})
            pipeline.zadd("time:", {name: posted_at})
            pipeline.zadd("score:", {name: posted_at + votes * _POINT_SECONDS})
            pipeline.sadd(f"voted:{n}", *range(poster, poster + votes))
            pipeline.expire(f"voted:{n}", _WINDOW_SECONDS)
            if n % 500 == 0:
                pipeline.execute()
        pipeline.execute()

    def page(self) -> list[dict[bytes, bytes]]:
        names: Any = self._client.zrevrange("score:", 0, _PER_PAGE - 1)
        articles: Any = [self._client.hgetall(name) for name in names]
        return list(articles)

    def vote(self, article: int, user: int) -> None:
        name = f"article:{article}"
        posted_at = self._client.zscore("time:", name)
        if posted_at is None or posted_at < time.time() - _WINDOW_SECONDS:
            return
        if self._client.sadd(f"voted:{article}", user):
            self._client.zincrby("score:", _POINT_SECONDS, name)
            self._client.hincrby(name, "votes", 1)


@dataclass
class _Action:
    """Something to repeat, and what its repetitions took."""

    client: redis.Redis
    once: Callable[[int], object]
    rates: list[float] = field(default_factory=list)
    trips: float = 0.0

    def run(self, numbers: Iterator[int]) -> None:
        before, began, times = store_counters(self.client), time.perf_counter(), 0
        while (elapsed := time.perf_counter() - began) < _SECONDS:
            self.once(next(numbers))
            times += 1
        self.rates.append(times / elapsed)
        self.trips = (store_counters(self.client).round_trips - before.round_trips) / times


def measure(articles: int) -> str:
    """Return a table: actions a second of one client in this process, and each layout's memory for an article."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        of_site = stack.enter_context(empty_store(Path(folder) / "site"))
        other = stack.enter_context(empty_store(Path(folder) / "seeds"))
        client = redis.Redis.from_url(StorePaths(Path(folder) / "seeds").url(0))
        stack.callback(client.close)
        client.flushdb()
        site_bytes = add_articles(of_site, articles)
        seeds, seeds_bytes = _filled(client, articles, other)
        parts = {
            "site": bytes_of_parts(of_site.store.client, articles),
            "seeds": bytes_of_parts(client, articles),
        }
        actions = _actions(of_site, seeds, client, articles)
        numbers = count()
        for _ in tqdm(range(_ROUNDS), desc="in process", unit="", leave=False):
            for action in actions.values():
                action.run(numbers)
    sizes = (
        f"Memory for an article, of {articles:,}: site {site_bytes:.0f} bytes, seeds {seeds_bytes:.0f} bytes.\n"
    )
    return f"{_table(actions)}\n{sizes}\n{memory_table(parts)}"


def _filled(client: redis.Redis, articles: int, store: Repository) -> tuple[Seeds, float]:
    from bench.site.content import rows

    now, before, seeds = time.time(), used_memory(store), Seeds(client)
    seeds.post((a.title, a.link, a.poster, a.posted_at, a.votes) for a in rows(0, articles, articles, now))
    return seeds, (used_memory(store) - before) / articles


def _actions(site: Repository, seeds: Seeds, client: redis.Redis, articles: int) -> dict[str, _Action]:
    chance = random.Random(3)

    def newest() -> int:
        return articles - chance.randrange(min(articles, 1000))

    def pings(times: int) -> Callable[[int], object]:
        return lambda _: [client.ping() for _ in range(times)]

    own = site.store.client
    return {
        "page, seeds": _Action(client, lambda _: seeds.page()),
        "page, site": _Action(own, lambda _: site.lists.get_page(Order.SCORE, 1)),
        "vote, seeds": _Action(client, lambda n: seeds.vote(newest(), n + 1000)),
        "vote, site": _Action(own, lambda n: site.votes.cast(newest(), n + 1000, Choice.VOTE)),
        "26 plain round trips": _Action(client, pings(26)),
        "4 plain round trips": _Action(client, pings(4)),
        "2 plain round trips": _Action(client, pings(2)),
        "1 plain round trip": _Action(client, pings(1)),
    }


def _table(actions: Mapping[str, _Action]) -> str:
    rows, trip = [], statistics.median(actions["1 plain round trip"].rates)
    for name, action in actions.items():
        middle = statistics.median(action.rates)
        spread = (max(action.rates) - min(action.rates)) / 2 / middle
        cells = f"{trip / middle:.1f}", f"{spread:.0%}", f"{middle:,.0f}", f"{action.trips:.1f}"
        rows.append([name, *cells])
    columns = ["in process, one client", "time × one plain round trip", "±", "a second", "round trips"]
    return markdown(columns, rows)
