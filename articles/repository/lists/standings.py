"""Standings: ids, posting times, scores and points of listed articles, read from the rankings.

The articles themselves are not read, so thousands of standings are cheap.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from articles.domain.articles import ArticleId
from articles.domain.lists import Order, closed_groups
from articles.domain.ranking import ONE_POINT
from articles.repository.store import keys as names
from articles.repository.store.connection import OfStore
from articles.repository.store.keys import Keys
from articles.repository.store.values import whole_from

STANDINGS_PER_READ = 5000
"""Articles read in one round trip."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A listed article's numbers. `posted_at` and `score` in Unix seconds."""

    id: ArticleId
    posted_at: float
    score: float
    points: int


class Standings(OfStore):
    """The standings of a store's listed articles."""

    def get_last_id(self) -> ArticleId:
        """Return the highest article id given out, 0 before the first. One round trip. Raises StoreDamaged."""
        with self._store.commands() as client:
            return whole_from(client.get(names.COUNTER) or "0", "the last article id")

    def list_for(self, ids: Sequence[ArticleId]) -> list[Standing]:
        """Return standings in the order of `ids`, without unlisted articles.

        One round trip for each `STANDINGS_PER_READ`.
        """
        standings: dict[ArticleId, Standing] = {}
        for at in range(0, len(ids), STANDINGS_PER_READ):
            standings |= {
                standing.id: standing for standing in self._list_batch(ids[at : at + STANDINGS_PER_READ])
            }
        return [standings[article_id] for article_id in ids if article_id in standings]

    def _list_batch(self, ids: Sequence[ArticleId]) -> Iterator[Standing]:
        by_shard = self._store.shards.split(ids)
        if closed := self._in_closed_groups(by_shard):
            by_shard = self._store.shards.split([one for one in ids if one not in closed])
        for numbers, (times, scores, points) in zip(by_shard.values(), self._read(by_shard), strict=True):
            for article_id, *facts in zip(numbers, times, scores, points, strict=True):
                if None not in facts and all(map(isfinite, facts)):
                    posted_at, score, count = facts
                    yield Standing(article_id, posted_at, score, int(count // ONE_POINT))

    def _in_closed_groups(self, by_shard: Mapping[Keys, list[ArticleId]]) -> set[ArticleId]:
        """Return those that the reader does not get to see. No round trip unless there are such groups."""
        if not closed_groups():
            return set()
        asked = [(keys, numbers, slug) for keys, numbers in by_shard.items() for slug in closed_groups()]
        with self._store.pipeline() as pipe:
            for keys, numbers, slug in asked:
                pipe.smismember(keys.group(slug), list(map(str, numbers)))
            replies = pipe.execute()
        return {
            one
            for (_, numbers, _), are_in in zip(asked, replies, strict=True)
            for one, is_in in zip(numbers, are_in, strict=True)
            if is_in
        }

    def _read(self, by_shard: Mapping[Keys, list[ArticleId]]) -> list[Any]:
        """Return for each shard the posting times, scores and points; None for unlisted articles."""
        orders = (Order.TIME, Order.SCORE, Order.POINTS)
        with self._store.pipeline() as pipe:
            for keys, numbers in by_shard.items():
                for order in orders:
                    pipe.zmscore(keys.order(order), list(map(str, numbers)))
            replies: list[Any] = pipe.execute()
        return [replies[at : at + len(orders)] for at in range(0, len(replies), len(orders))]
