"""What a number of articles and requests needs, from what was measured at a few sizes. Pure functions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean

from bench.load_model.mix import ASK_EVERY_SHARD, KEPT


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a request, or of the requests of a second."""

    web_ms: float = 0.0
    """Processor time of the web server, in milliseconds."""

    store_ms: float = 0.0
    """Processor time of the store, in milliseconds."""

    commands: float = 0.0
    round_trips: float = 0.0
    bytes: float = 0.0
    """Size of the response, with its head."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Cost)))

    def times(self, factor: float) -> "Cost":
        return Cost(*(factor * getattr(self, each.name) for each in fields(Cost)))


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured with one number of articles on one number of shards."""

    articles: int
    shards: int
    fresh: Mapping[str, Cost]
    """Cost of each kind of request that is answered without a kept page."""

    kept: Mapping[str, Cost]
    """Cost of those answered with a kept page."""

    article_bytes: float
    """Memory of the store for each article."""


@dataclass(frozen=True, slots=True)
class Line:
    """A figure that grows with the articles, and with each shard after the first."""

    fixed: float
    slope: float
    per_shard: float
    growth: Callable[[float], float]

    def at(self, articles: float, shards: int = 1) -> float:
        return self.fixed + self.slope * self.growth(articles) + self.per_shard * (shards - 1)


def fit(points: Sequence[tuple[float, float]], growth: Callable[[float], float]) -> tuple[float, float]:
    """Return fixed and slope of value = fixed + slope × growth(articles), neither of them negative.

    Least squares of relative errors, so that no size outweighs the others.
    """
    rows = [(growth(articles), value, 1 / max(value, 1e-9) ** 2) for articles, value in points]
    total = sum(weight for *_, weight in rows)
    x_mean = sum(weight * x for x, _, weight in rows) / total
    y_mean = sum(weight * y for _, y, weight in rows) / total
    spread = sum(weight * (x - x_mean) ** 2 for x, _, weight in rows)
    slope = sum(weight * (x - x_mean) * (y - y_mean) for x, y, weight in rows) / spread if spread else 0.0
    if slope <= 0:
        return y_mean, 0.0
    fixed = y_mean - slope * x_mean
    if fixed < 0:
        return 0.0, sum(w * x * y for x, y, w in rows) / sum(w * x * x for x, _, w in rows)
    return fixed, slope


def proportional(articles: float) -> float:
    return articles


class Costs:
    """What each kind of request costs, for any number of articles and shards."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._fresh = {kind: _lines(samples, kind, lambda sample: sample.fresh) for kind in samples[0].fresh}
        self._kept = {kind: _lines(samples, kind, lambda sample: sample.kept) for kind in samples[0].kept}

    def fresh(self, kind: str, articles: float, shards: int = 1) -> Cost:
        return _cost(self._fresh[kind], articles, shards)

    def kept(self, kind: str, articles: float) -> Cost:
        """A kept page costs the store nothing that depends on shards: they are the view's."""
        return _cost(self._kept[kind], articles, 1)

    def of_rates(
        self, rates: Mapping[str, float], weights: Sequence[float], workers: float, articles: float, shards: int
    ) -> Cost:
        """Return the cost of these numbers of requests of each kind in a second.

        `weights`: the share of the reads of each article, if not of all; pages of the others are never kept.
        `workers`: web processes, each with pages of its own.
        """
        total = Cost()
        for kind, rate in rates.items():
            if kind in KEPT and kind in self._kept:
                pages = KEPT[kind]
                shares = [1 / pages] * pages if pages else weights
                rendered = renders([rate * share for share in shares], workers) + rate * (1 - sum(shares))
                total += self.fresh(kind, articles, shards).times(rendered)
                total += self.kept(kind, articles).times(rate - rendered)
            else:
                total += self.fresh(kind, articles, shards).times(rate)
        return total


def renders(rates: Sequence[float], workers: float) -> float:
    """Return how many pages a second are rendered, if each worker keeps a page for a second.

    `rates`: requests a second for each page. A worker renders, keeps for a second, and waits for the next request.
    """
    return sum(rate / (1 + rate / workers) for rate in rates)


def _lines(samples: Sequence[Sample], kind: str, of: Callable[[Sample], Mapping[str, Cost]]) -> dict[str, Line]:
    lines = {}
    for figure in (each.name for each in fields(Cost)):
        single = [(s.articles, getattr(of(s)[kind], figure)) for s in samples if s.shards == 1]
        fixed, slope = fit(single, math.log)
        more = [
            (getattr(of(s)[kind], figure) - fixed - slope * math.log(s.articles)) / (s.shards - 1)
            for s in samples
            if s.shards > 1 and kind in ASK_EVERY_SHARD
        ]
        lines[figure] = Line(fixed, slope, max(0.0, fmean(more)) if more else 0.0, math.log)
    return lines


def _cost(lines: Mapping[str, Line], articles: float, shards: int) -> Cost:
    return Cost(**{figure: line.at(articles, shards) for figure, line in lines.items()})


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of the store: of the articles, of each article that is read, and of each open vote."""

    article: Line
    read: float
    vote: float

    def of_articles(self, articles: float) -> float:
        """Return the bytes that this many articles take, without views."""
        return self.article.at(articles)


def memory(samples: Sequence[Sample], read: float, vote: float) -> Memory:
    """Return the memory of the articles: a fixed part, and one for each article.

    It is that between the two largest sizes, since ids and sets of more articles take more.
    """
    *_, smaller, larger = sorted((s for s in samples if s.shards == 1), key=lambda s: s.articles)

    def line(each: Callable[[Sample], float]) -> Line:
        first, last = (each(s) * s.articles for s in (smaller, larger))
        slope = (last - first) / (larger.articles - smaller.articles)
        return Line(max(0.0, first - slope * smaller.articles), slope, 0.0, proportional)

    return Memory(line(lambda s: s.article_bytes), read, vote)
