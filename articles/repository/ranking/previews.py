"""Previews: the lists as other parameters would order them. Read-only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from articles.domain import ranking
from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository.lists.gathering import MOST_READINGS
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import read_articles, sort_key
from articles.repository.store.connection import Call, OfStore, Store
from articles.repository.store.keys import Keys
from articles.repository.store.values import article_id_from, parameters_from

PART = 1000  # articles read in one step, all shards together: some milliseconds of the store's time
Values = dict[ArticleId, float]  # articles of a list with their values in the ranking


@dataclass(frozen=True, slots=True)
class Preview:
    """The first articles of a list by the current and by other parameters, each with its `score` or `hotness`.

    `at`: the moment for which hotness is computed, or at which the scores were read, in Unix seconds.
    """

    current: tuple[Article, ...]
    other: tuple[Article, ...]
    at: float


@dataclass(frozen=True, slots=True)
class _Readership:
    """The numbers that rank an article in the hot list."""

    id: ArticleId
    posted_at: float
    pv: int
    uv: int


class Previews(OfStore):
    """The previews of a store."""

    def get(self, order: Order, parameters: Parameters, size: int) -> Preview:
        """Return a preview of the first `size` articles of the front page or of the hot list.

        The front page is computed from all articles, in one round trip per step, and one more for the articles.
        The hot list is computed from its current articles, which a change would also keep, in three round trips;
        more if it is stale.
        """
        return self._hot_list(parameters, size) if order is Order.HOT else self._front_page(parameters, size)

    def _front_page(self, parameters: Parameters, size: int) -> Preview:
        at = self._store.now()
        for _ in range(MOST_READINGS):
            scan = _Scan(self._store, parameters.seconds_per_point, size)
            if scan.run():
                break  # else the parameters changed during the scan
        articles = self._articles([*scan.current, *scan.other])

        def listed(values: Values) -> tuple[Article, ...]:
            return tuple(replace(articles[i], score=value) for i, value in values.items() if i in articles)

        return Preview(listed(scan.current), listed(scan.other), at)

    def _hot_list(self, parameters: Parameters, size: int) -> Preview:
        at, numbers = Hot(self._store).fresh(self._readership, lambda reading: reading[0])
        current = _hottest(numbers, self._current(), at, size)
        other = _hottest(numbers, parameters, at, size)
        articles, counts = self._articles([*current, *other]), {entry.id: entry for entry in numbers}

        def listed(values: Values) -> tuple[Article, ...]:
            return tuple(
                replace(articles[i], pv=counts[i].pv, uv=counts[i].uv, hotness=value)
                for i, value in values.items()
                if i in articles
            )

        return Preview(listed(current), listed(other), at)

    def _current(self) -> Parameters:
        with self._store.commands() as client:
            return parameters_from(client.hgetall(self._store.shards.directory.ranking))

    def _readership(self) -> tuple[float, list[_Readership]]:
        """Return the moment of the hot list's last rescore, and its entries."""
        for _ in range(MOST_READINGS):
            replies = self._store.run_many(_numbers_of(keys) for keys in self._store.shards.all)
            states = [state for state, _ in replies]
            if all(state == states[0] for state in states):
                break
        rows = (flat[at : at + 4] for _, flat in replies for at in range(0, len(flat), 4))
        return float(states[0][1]), [_Readership(int(i), float(time), pv, uv) for i, time, pv, uv in rows]

    def _articles(self, ids: Iterable[ArticleId]) -> dict[ArticleId, Article]:
        """Read the articles, without those removed meanwhile."""
        articles = read_articles(self._store, list(dict.fromkeys(ids)), None)
        return {article.id: article for article in articles if article.removed is None}


def _numbers_of(keys: Keys) -> Call:
    return Call(
        "ranking/read_hot_numbers", (keys.order(Order.HOT), keys.order(Order.TIME), keys.ranking), (keys.prefix,)
    )


def _hottest(numbers: Sequence[_Readership], parameters: Parameters, at: float, size: int) -> Values:
    def value(entry: _Readership) -> float:
        return ranking.hotness(entry.pv, entry.uv, ranking.hours_between(entry.posted_at, at), parameters)

    return _highest(((entry.id, value(entry)) for entry in numbers), size)


def _highest(entries: Iterable[tuple[ArticleId, float]], size: int) -> Values:
    """Return the first `size` entries in the order of a list."""
    ordered = sorted(entries, key=lambda entry: sort_key(entry[1], str(entry[0])), reverse=True)
    return dict(ordered[:size])


class _Scan:
    """A scan of all shards' articles, highest score first, until no further one can be among the first `size`."""

    def __init__(self, store: Store, seconds_per_point: float, size: int) -> None:
        self._store, self._seconds_per_point, self._size = store, seconds_per_point, size
        self.current, self.other = Values(), Values()
        self._versions = set[str]()

    def run(self) -> bool:
        """Scan; return whether the current parameters stayed the same throughout."""
        places: dict[Keys, tuple[str, int]] = dict.fromkeys(self._store.shards.all, ("+inf", 0))
        while places and len(self._versions) <= 1:
            calls = [
                self._call(keys, *place, max(self._size, PART // len(places))) for keys, place in places.items()
            ]
            for keys, reply in zip(list(places), self._store.run_many(calls), strict=True):
                version, best, first, last, done = reply
                self._versions.add(version)
                self.current = _highest((self.current | _values(first)).items(), self._size)
                self.other = _highest((self.other | _values(best)).items(), self._size)
                places[keys] = (last, done)
            places = {keys: place for keys, place in places.items() if place[0]}
        return len(self._versions) == 1

    def _call(self, keys: Keys, begin: str, done: int, part: int) -> Call:
        known = f"{min(self.other.values()):.17g}" if len(self.other) == self._size else "-inf"
        return Call(
            "ranking/preview_scores",
            (keys.order(Order.SCORE), keys.order(Order.TIME)),
            (keys.prefix, f"{self._seconds_per_point:.17g}", begin, done, part, self._size, known),
        )


def _values(flat: Sequence[str]) -> Values:
    """Return the articles' scores."""
    return {article_id_from(one): float(value) for one, value in zip(flat[::2], flat[1::2], strict=True)}
