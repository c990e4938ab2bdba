"""Which articles are listed, when they were posted and how many points they have: read off the rankings.

No article itself is read, so thousands cost little.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from articles.domain.articles import ArticleId
from articles.domain.lists import Order
from articles.domain.ranking import ONE_POINT
from articles.repository.store import keys as names
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys

STANDINGS_PER_READ = 5000
"""Articles in one round trip: a few numbers for each, without texts."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A listed article without its texts. `posted_at` in Unix seconds."""

    id: ArticleId
    posted_at: float
    score: float
    points: int


class Standings:
    """All listed articles of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_last_id(self) -> ArticleId:
        """The highest id given out, 0 before the first. One round trip."""
        with self._store.commands() as client:
            return int(client.get(names.COUNTER) or 0)

    def list_for(self, ids: Sequence[ArticleId]) -> list[Standing]:
        """Return them in the order of `ids`, without those that are not listed.

        One round trip for each `STANDINGS_PER_READ`.
        """
        found: dict[ArticleId, Standing] = {}
        for at in range(0, len(ids), STANDINGS_PER_READ):
            found |= {standing.id: standing for standing in self._of_some(ids[at : at + STANDINGS_PER_READ])}
        return [found[article_id] for article_id in ids if article_id in found]

    def _of_some(self, ids: Sequence[ArticleId]) -> Iterator[Standing]:
        shards = self._store.shards
        dealt: dict[Keys, list[str]] = {}
        for article_id in ids:
            dealt.setdefault(shards.of(article_id), []).append(str(article_id))
        for members, (times, scores, points) in zip(dealt.values(), self._read(dealt), strict=True):
            for member, *facts in zip(members, times, scores, points, strict=True):
                if None not in facts:
                    posted_at, score, count = facts
                    yield Standing(int(member), posted_at, score, int(count // ONE_POINT))

    def _read(self, dealt: dict[Keys, list[str]]) -> list[Any]:
        """For each shard the posting times, scores and points; None for what is not listed."""
        orders = (Order.TIME, Order.SCORE, Order.POINTS)
        with self._store.pipeline() as pipe:
            for keys, members in dealt.items():
                for order in orders:
                    pipe.zmscore(keys.order(order), members)
            replies: list[Any] = pipe.execute()
        return [replies[at : at + len(orders)] for at in range(0, len(replies), len(orders))]
