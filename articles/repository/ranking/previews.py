"""What other parameters would make of the lists, worked out beside the live ones. Only reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from articles.domain import ranking
from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository.lists.hot import Hot
from articles.repository.lists.merging import MOST_READINGS
from articles.repository.lists.reading import read_articles, sort_key
from articles.repository.ranking.parameters import parameters_from
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys

PART = 1000
"""Articles looked at in one step, all shards together: some milliseconds of the store's time."""

Values = dict[ArticleId, float]
"""Articles of a list with what ranks them."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The first articles of a list: by the parameters in force, and by others. `score` and `hotness` are theirs.

    `at`: the moment for which hotness is worked out, or at which the scores were read, in Unix seconds.
    """

    in_force: tuple[Article, ...]
    other: tuple[Article, ...]
    at: float


@dataclass(frozen=True, slots=True)
class _Readership:
    """What ranks an article in the hot list."""

    id: ArticleId
    posted_at: float
    pv: int
    uv: int


class Previews:
    """Lists of a store as other parameters would order them."""

    def __init__(self, store: Store, hot: Hot) -> None:
        self._store = store
        self._hot = hot

    def get(self, order: Order, parameters: Parameters, size: int) -> Preview:
        """The first `size` of the front page or of the hot list.

        The front page is worked out from all articles, in steps; the hot list from those that are on it, which
        are what would be on it after a change too.
        """
        return self._hot_list(parameters, size) if order is Order.HOT else self._front_page(parameters, size)

    def _front_page(self, parameters: Parameters, size: int) -> Preview:
        at = self._store.now()
        for _ in range(MOST_READINGS):
            scan = _Scan(self._store, parameters.seconds_per_point, size)
            if scan.run():
                break  # all by the same version; else parameters were put in force meanwhile
        articles = self._articles([*scan.in_force, *scan.other])

        def listed(values: Values) -> tuple[Article, ...]:
            return tuple(replace(articles[i], score=value) for i, value in values.items() if i in articles)

        return Preview(listed(scan.in_force), listed(scan.other), at)

    def _hot_list(self, parameters: Parameters, size: int) -> Preview:
        at, numbers = self._hot.fresh(self._readership, lambda found: found[0])
        in_force = _hottest(numbers, self._in_force(), at, size)
        other = _hottest(numbers, parameters, at, size)
        articles, counts = self._articles([*in_force, *other]), {one.id: one for one in numbers}

        def listed(values: Values) -> tuple[Article, ...]:
            return tuple(
                replace(articles[i], pv=counts[i].pv, uv=counts[i].uv, hotness=value)
                for i, value in values.items()
                if i in articles
            )

        return Preview(listed(in_force), listed(other), at)

    def _in_force(self) -> Parameters:
        with self._store.commands() as client:
            return parameters_from(client.hgetall(self._store.shards.directory.ranking))

    def _readership(self) -> tuple[float, list[_Readership]]:
        """The moment the hot list is scored for, and what is on it."""
        for _ in range(MOST_READINGS):
            replies = self._store.run_many([_numbers_of(keys) for keys in self._store.shards.all])
            states = [state for state, _ in replies]
            if all(state == states[0] for state in states):
                break
        rows = (flat[at : at + 4] for _, flat in replies for at in range(0, len(flat), 4))
        return float(states[0][1]), [_Readership(int(i), float(time), pv, uv) for i, time, pv, uv in rows]

    def _articles(self, ids: Iterable[ArticleId]) -> dict[ArticleId, Article]:
        """Those of the articles that have not been removed meanwhile."""
        found = read_articles(self._store, list(dict.fromkeys(ids)), None)
        return {article.id: article for article in found if article.removed is None}


def _numbers_of(keys: Keys) -> Call:
    return Call(
        "ranking/read_hot_numbers", (keys.order(Order.HOT), keys.order(Order.TIME), keys.ranking), (keys.prefix,)
    )


def _hottest(numbers: Sequence[_Readership], parameters: Parameters, at: float, size: int) -> Values:
    def value(one: _Readership) -> float:
        return ranking.hotness(one.pv, one.uv, ranking.hours_between(one.posted_at, at), parameters)

    return _highest(((one.id, value(one)) for one in numbers), size)


def _highest(entries: Iterable[tuple[ArticleId, float]], size: int) -> Values:
    """The first of them in a list's order."""
    ordered = sorted(entries, key=lambda entry: sort_key(entry[1], str(entry[0])), reverse=True)
    return dict(ordered[:size])


class _Scan:
    """Goes through all shards' articles, highest score first, until no other can be among the wanted ones."""

    def __init__(self, store: Store, weight: float, size: int) -> None:
        self._store, self._weight, self._size = store, weight, size
        self.in_force, self.other = Values(), Values()
        self._versions = set[str]()

    def run(self) -> bool:
        """Whether all of it was read while the same parameters were in force."""
        places: dict[Keys, tuple[str, int]] = dict.fromkeys(self._store.shards.all, ("+inf", 0))
        while places and len(self._versions) <= 1:
            calls = [self._call(keys, *place, max(1, PART // len(places))) for keys, place in places.items()]
            for keys, reply in zip(list(places), self._store.run_many(calls), strict=True):
                version, best, first, last, done = reply
                self._versions.add(version)
                self.in_force = _highest((self.in_force | _values(first)).items(), self._size)
                self.other = _highest((self.other | _values(best)).items(), self._size)
                places[keys] = (last, done)
            places = {keys: place for keys, place in places.items() if place[0]}
        return len(self._versions) == 1

    def _call(self, keys: Keys, begin: str, done: int, part: int) -> Call:
        known = f"{min(self.other.values()):.17g}" if len(self.other) == self._size else "-inf"
        return Call(
            "ranking/preview_scores",
            (keys.order(Order.SCORE), keys.order(Order.TIME)),
            (keys.prefix, f"{self._weight:.17g}", begin, done, part, self._size, known),
        )


def _values(flat: Sequence[str]) -> Values:
    return {int(i): float(value) for i, value in zip(flat[::2], flat[1::2], strict=True)}
