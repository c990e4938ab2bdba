"""Marks the parts of a text that match a query."""

from collections.abc import Iterator

from articles.searching.query import Query
from articles.searching.words import fold, pieces, runs, stem, whole_word


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
    for run in runs(text):
        folded = fold(run[0])
        at = _origins(run[0], folded)
        for first, last in _places_in_run(folded, query):
            if at:
                end = max(at[last], at[last - 1] + 1)  # mark the whole character where one folds to several
                yield run.start() + at[first], run.start() + end
            else:
                yield run.span()


def _origins(run: str, folded: str) -> list[int]:
    """Return for each place in the folded run, and its end, the place in the run; [] if that is ambiguous."""
    if len(run) == len(folded):
        return list(range(len(run) + 1))
    each = [fold(char) for char in run]
    if "".join(each) != folded:
        return []
    origins = [at for at, text in enumerate(each) for _ in text]
    return [*origins, len(run)]


def _places_in_run(run: str, query: Query) -> Iterator[tuple[int, int]]:
    parts = pieces(run)
    if (whole := whole_word(run, parts)) and _is_met(whole, query):
        yield 0, len(run)
    for text, start, end, unspaced in parts:
        if not unspaced:
            if _is_met(stem(text), query):
                yield start, end
            continue
        for at in range(len(text)):
            if length := _met_length(text[at : at + 2], query):
                yield start + at, start + at + length


def _is_met(word: str, query: Query) -> bool:
    return any(term.is_met_by(word) for term in query.terms)


def _met_length(pair: str, query: Query) -> int:
    """Return how many of two neighbouring characters match a term: a term of one character marks only that one."""
    if any(pair in term.words for term in query.terms):
        return len(pair)
    return max((len(t.beginning) for t in query.terms if t.beginning and pair.startswith(t.beginning)), default=0)
