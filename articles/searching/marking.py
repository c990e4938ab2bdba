"""Marks the parts of a text that match a query."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple, Self

from articles.searching.query import Query
from articles.searching.words import fold, kept_if_short, pieces, runs, stem, whole_word


def marked_parts(text: str, query: Query) -> Iterator[tuple[str, bool]]:
    """Yield the whole text in parts, each with whether it matches one of the query's terms."""
    end = 0
    for first, last in _joined(sorted(_places(text, query))):
        if first > end:
            yield text[end:first], False
        yield text[first:last], True
        end = last
    if end < len(text):
        yield text[end:], False


def first_match(text: str, query: Query) -> int:
    """Return where the first part of the text begins that matches; the length of the text if none does."""
    return next((first for first, _last in _places(text, query)), len(text))


def _joined(places: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merge overlapping places, which come in order."""
    current: tuple[int, int] | None = None
    for first, last in places:
        if current and first <= current[1]:
            current = current[0], max(current[1], last)
        else:
            if current:
                yield current
            current = first, last
    if current:
        yield current


def _places(text: str, query: Query) -> Iterator[tuple[int, int]]:
    find = _finder(query)
    for run in runs(text):
        start = run.start()
        for first, last in find(run[0]):
            yield start + first, start + last


@lru_cache(maxsize=64)
def _finder(query: Query) -> Callable[[str], tuple[tuple[int, int], ...]]:
    """Return a function that finds the places in a run that match. It remembers runs: titles share most words."""
    return kept_if_short(1 << 10)(partial(_places_in, terms=_Terms.of(query)))


def _places_in(run: str, *, terms: "_Terms") -> tuple[tuple[int, int], ...]:
    if run.isascii() and run.isalnum():  # most runs: the same as below, in a fifth of the time
        return ((0, len(run)),) if terms.are_met_by(stem(run.lower())) else ()
    folded = fold(run)
    at, places = _origins(run, folded), list[tuple[int, int]]()
    for first, last in _places_in_run(folded, terms):
        if at:
            end = max(at[last], at[last - 1] + 1)  # mark the whole character where one folds to several
            places.append((at[first], end))
        else:
            places.append((0, len(run)))
    return tuple(places)


def _origins(run: str, folded: str) -> list[int]:
    """Return for each place in the folded run, and its end, the place in the run; [] if that is ambiguous."""
    if len(run) == len(folded):
        return list(range(len(run) + 1))
    each = [fold(char) for char in run]
    if "".join(each) != folded:
        return []
    origins = [at for at, text in enumerate(each) for _ in text]
    return [*origins, len(run)]


class _Terms(NamedTuple):
    """What matches any term of a query: these words, and words with these beginnings."""

    words: frozenset[str]
    beginnings: tuple[str, ...]

    @classmethod
    def of(cls, query: Query) -> Self:
        words = frozenset(word for term in query.terms for word in term.words)
        return cls(words, tuple(term.beginning for term in query.terms if term.beginning))

    def are_met_by(self, word: str) -> bool:
        return word in self.words or word.startswith(self.beginnings)

    def length_met(self, pair: str) -> int:
        """Return how many of two neighbouring characters match: a term of one character marks only that one."""
        if pair in self.words:
            return len(pair)
        if not pair.startswith(self.beginnings):
            return 0
        return max(len(beginning) for beginning in self.beginnings if pair.startswith(beginning))


def _places_in_run(run: str, terms: _Terms) -> Iterator[tuple[int, int]]:
    parts = pieces(run)
    if (whole := whole_word(run, parts)) and terms.are_met_by(whole):
        yield 0, len(run)
    for text, start, end, unspaced in parts:
        if not unspaced:
            if terms.are_met_by(stem(text)):
                yield start, end
            continue
        for at in range(len(text)):
            if length := terms.length_met(text[at : at + 2]):
                yield start + at, start + at + length
