"""Marks the parts of a text that match a query."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple, Self

from articles.text.searching.query import Query
from articles.text.searching.tokens import bare, fold, kept_if_short, pieces, runs, stems_of, whole_of

_SHARED = 2


def marked_parts(text: str, query: Query) -> Iterator[tuple[str, bool]]:
    """Yield the whole text in parts, each with whether it matches one of the query's words."""
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
    return kept_if_short(1 << 10)(partial(_places_in, marks=_Marks.of(query)))


def _places_in(run: str, *, marks: "_Marks") -> tuple[tuple[int, int], ...]:
    if run.isascii() and run.isalnum():  # most runs: the same as below, in a fifth of the time
        return ((0, len(run)),) if marks.are_met_by(run.lower()) else ()
    folded = fold(run)
    at, places = _origins(run, folded), list[tuple[int, int]]()
    for first, last in _places_in_run(folded, marks):
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


class _Marks(NamedTuple):
    """What matches any word of a query: these tokens and stems, and tokens with these beginnings."""

    words: frozenset[str]
    beginnings: tuple[str, ...]
    heads: frozenset[str]  # first letters of what matches by its stem, which all forms of a word share

    @classmethod
    def of(cls, query: Query) -> Self:
        words = [term for term in query.words if not term.is_quoted]
        quoted = {token for term in query.words if term.is_quoted for token in term.tokens}
        forms = {form for term in words for token in term.tokens for form in (token, *stems_of(token))}
        begins = tuple(term.tokens[-1] for term in words if term.begins)
        heads = frozenset(token[:_SHARED] for term in words for token in term.tokens)
        return cls(frozenset(forms | quoted), begins, heads)

    @property
    def dotted_beginnings(self) -> tuple[str, ...]:
        """Beginnings of whole dotted words: of `python.org`, `python` is a part."""
        return tuple(beginning for beginning in self.beginnings if "." in beginning)

    def are_met_by(self, token: str) -> bool:
        if token in self.words or token.startswith(self.beginnings):
            return True
        return token[:_SHARED] in self.heads and not self.words.isdisjoint(stems_of(token))

    def length_met(self, pair: str) -> int:
        """Return how many of two neighbouring characters match: a query of one character marks only that one."""
        if pair in self.words:
            return len(pair)
        if not pair.startswith(self.beginnings):  # of most pairs, at once
            return 0
        return max((len(begin) for begin in self.beginnings if pair.startswith(begin)), default=0)


def _places_in_run(run: str, marks: _Marks) -> Iterator[tuple[int, int]]:
    if (whole := whole_of(run)) and (whole in marks.words or whole.startswith(marks.dotted_beginnings)):
        yield 0, len(run)
    for text, start, end, unspaced in pieces(run):
        if not unspaced:
            if marks.are_met_by(bare(text)):
                yield start, end
            continue
        for at in range(len(text)):
            if length := marks.length_met(text[at : at + 2]):
                yield start + at, start + at + length
