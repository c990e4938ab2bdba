"""The history of ranks: the top of the front page and of the hot list, every ten minutes, kept for a week."""

import re
from collections.abc import Iterable, Iterator

from articles.domain.articles import ArticleId
from articles.domain.explanation import Sample
from articles.domain.lists import Order, closed_groups
from articles.repository.lists.gathering import Ranking, UnseenQuery, gather_page, read_unseen
from articles.repository.store.connection import Call, OfStore, Value
from articles.repository.store.values import naming
from articles.text.searching import NOTHING

EVERY = 600  # seconds between samples; their times are multiples of it
TOP = 100  # articles of each of the two lists that are sampled
AHEAD = 86400  # seconds by which a sample may be ahead of the clock; one further ahead comes from a wrong clock
KEPT = 7 * 86400  # seconds a sample is kept: at most 1,008 samples of an article

_NOWHERE = "-"

_SAMPLE = re.compile(r"[0-9]{1,11}(?:\.[0-9]+)? (?:[0-9]+|-) -?[0-9]+ (?:[0-9]+|-)")


class History(OfStore):
    """The history of a store's ranks."""

    def record(self) -> int:
        """Sample the ranks of the first articles, once for each moment; return the number of samples added.

        Idempotent. After a clock was set back a little, nothing is added until it passes the newest sample;
        samples further ahead than AHEAD are replaced. One round trip if nothing is due, else four, whatever the
        number of articles.
        """
        store, moment = self._store, int(self._store.now() // EVERY) * EVERY
        if not self._is_due(moment):
            return 0
        front, hot = self._ranks(Order.SCORE), self._ranks(Order.HOT)
        ranked: dict[str, list[Value]] = {keys.prefix: [] for keys in store.shards.all}
        for article_id in {**front, **hot}:
            ranks = (front.get(article_id, _NOWHERE), hot.get(article_id, _NOWHERE))
            ranked[store.shards.of(article_id).prefix] += [article_id, *ranks]
        return sum(
            store.run_many(
                Call(
                    "readership/sample_history",
                    [keys.ranking],
                    [keys.prefix, moment, KEPT, AHEAD, *ranked[keys.prefix]],
                )
                for keys in store.shards.all
            )
        )

    def _is_due(self, moment: int) -> bool:
        """Return whether any shard lacks this moment, so that an interrupted call is completed."""
        newest = self._store.in_shards(lambda pipe, keys: pipe.hget(keys.ranking, "sampled_at"))
        return any(not (at or "").isdigit() or int(at) < moment or int(at) - moment > AHEAD for at in newest)

    def _ranks(self, order: Order) -> dict[ArticleId, int]:
        store = self._store
        rankings = [Ranking(keys, keys.order(order)) for keys in store.shards.all]
        first = min(TOP, store.rules.hot_size) if order is Order.HOT else TOP
        query = UnseenQuery(0, first, hidden=NOTHING.and_groups(closed_groups()))
        cut = read_unseen(store, rankings, query).cut if query.hidden else gather_page(store, rankings, 0, first)
        return {article_id: rank for rank, article_id in enumerate(cut.ids, 1)}


def samples_from(texts: Iterable[str], now: float) -> list[Sample]:
    """Parse a list of the store, newest first, into samples that are not too old, oldest first."""
    return list(_samples(texts, now))[::-1]


def _samples(texts: Iterable[str], now: float) -> Iterator[Sample]:
    for text in texts:
        with naming("a sample of ranks"):
            at, rank, points, hot_rank = text.split()
            if now - KEPT < float(at) <= now + AHEAD:
                yield Sample(float(at), _rank(rank), int(points), _rank(hot_rank))


def _rank(text: str) -> int | None:
    return None if text == _NOWHERE else int(text)
