"""Which articles are listed, when they were posted and how many points they have: read off the rankings.

No article itself is read, so thousands cost little.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from articles.domain import ArticleId, Order
from articles.errors import StoreUnfit
from articles.repository import keys as names
from articles.repository.client import UNPREPARED
from articles.repository.keys import Keys
from articles.repository.merging import MOST_READINGS
from articles.repository.store import Store

AT_ONCE = 5000
"""Articles asked for in one round trip."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A listed article without its texts. `posted_at` in Unix seconds."""

    id: ArticleId
    posted_at: float
    score: float
    points: int


class Catalogue:
    """All listed articles of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def last_id(self) -> ArticleId:
        """The highest id given out, 0 before the first. One round trip."""
        with self._store.commands() as client:
            return int(client.get(names.COUNTER) or 0)

    def standings(self, ids: Sequence[ArticleId]) -> list[Standing]:
        """In the order of `ids`; those that are not listed are left out. One round trip for each `AT_ONCE`."""
        found: dict[ArticleId, Standing] = {}
        for at in range(0, len(ids), AT_ONCE):
            found |= {standing.id: standing for standing in self._of_some(ids[at : at + AT_ONCE])}
        return [found[article_id] for article_id in ids if article_id in found]

    def _of_some(self, ids: Sequence[ArticleId]) -> Iterator[Standing]:
        shards = self._store.shards
        dealt: dict[Keys, list[str]] = {}
        for article_id in ids:
            dealt.setdefault(shards.of(article_id), []).append(str(article_id))
        for members, (before, times, scores, _) in zip(dealt.values(), self._read(dealt), strict=True):
            for member, posted_at, score in zip(members, times, scores, strict=True):
                if posted_at is not None and score is not None:
                    points = round((score - posted_at) / float(before))
                    yield Standing(int(member), posted_at, score, points)

    def _read(self, dealt: dict[Keys, list[str]]) -> list[Any]:
        """For each shard the weight of a point, posting times, scores, and the weight again.

        Both weights are the same, or a change of them is under way that lasts longer than we wait.
        """
        for _ in range(MOST_READINGS):
            with self._store.pipeline() as pipe:
                for keys, members in dealt.items():
                    pipe.hget(keys.ranking, "seconds_per_point")
                    pipe.zmscore(keys.order(Order.TIME), members)
                    pipe.zmscore(keys.order(Order.SCORE), members)
                    pipe.hget(keys.ranking, "seconds_per_point")
                replies: list[Any] = pipe.execute()
            rows = [replies[at : at + 4] for at in range(0, len(replies), 4)]
            if any(row[0] is None for row in rows):
                raise StoreUnfit(UNPREPARED)
            if all(row[0] == row[3] for row in rows):
                break
        return rows
