"""Parses what a reader types into a query: words, "phrases", -exclusions, alternatives with OR, and filters.

An article matches if it matches one alternative of every clause, and none that is excluded. What is not understood
is searched as words, and named in `Query.doubts`.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count, islice, takewhile
from operator import methodcaller
from typing import TypeAlias

from accounts.names import canonical
from articles.text.links import HOMES, clean_host
from articles.text.searching.tokens import is_single_sign, joined, phrase_of, stem, tokens_of
from articles.text.slugs import clean_slug

MOST_CHARACTERS = 200  # characters of a query that are read; the rest is ignored
MOST_TERMS = 12  # terms of a query that are looked up, alternatives included; the rest is ignored
MOST_RANGES = 4  # of these, filters by points or time, each of which may read a value of every article
_GROUPS_PER_TERM = 10  # groups whose titles a term may match

_PART = re.compile(
    r'(?P<sign>-)?(?:(?P<name>[A-Za-z]{2,8}):)?(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+))(?P<end>\s|$)?'
)
_ADDRESS = re.compile(r"https?://(?:www\.)?([^/\s?#]*)\S*", re.IGNORECASE)
_WWW = re.compile(r"^www\.(?=.*\.)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_POINTS = re.compile(r"(>=?|<=?)?(-?\d{1,7})|(-?\d{1,7})\.\.(-?\d{1,7})")

# Ignored if other words remain: a search for "the history of Rome" also finds "A history of Rome".
_STOP_WORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "i", "in", "is", "it", "its",
        "of", "on", "or", "that", "the", "this", "to", "was", "what", "with", "you", "your",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """Matches texts with these tokens in a row; a single one also by its stem, and if `begins`, as a beginning.

    `field`: `title` or `text`, where alone they are searched; "" for everywhere. `groups`: those with that name.
    """

    tokens: tuple[str, ...]
    begins: bool = False
    field: str = ""
    is_quoted: bool = False
    groups: tuple[str, ...] = ()

    @property
    def spelled(self) -> str:
        """The words, as readers see them."""
        return joined(self.tokens)


@dataclass(frozen=True, slots=True)
class Named:
    """Matches articles by their `author`, `group` or `host`, exactly."""

    kind: str
    name: str

    @property
    def spelled(self) -> str:
        """The filter, as readers type it."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Between:
    """Matches articles whose `time`, in Unix seconds, or `points` are in this range, both ends included."""

    kind: str
    least: float | None = None
    most: float | None = None

    @property
    def spelled(self) -> str:
        """The name of the filter: it counts nothing."""
        return f"{self.kind}:"


Term: TypeAlias = Words | Named | Between


@dataclass(frozen=True, slots=True)
class Clause:
    """Matches what one of its alternatives matches; or, if it excludes, what none matches."""

    terms: tuple[Term, ...]
    excludes: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """Matches what all its clauses match; without clauses, nothing.

    `of_comments`: comments are searched, not articles. `doubts`: what looked like a filter but is searched
    as words.
    """

    clauses: tuple[Clause, ...] = ()
    of_comments: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[Words, ...]:
        """The words that matches have, for marking them."""
        return tuple(
            term
            for clause in self.clauses
            if not clause.excludes
            for term in clause.terms
            if isinstance(term, Words)
        )

    def with_groups(self, titles: Mapping[str, str]) -> "Query":
        """Return the query with the groups (slug → title) that each word names."""
        groups = _groups_by_words(titles)

        def named(term: Term) -> Term:
            return (
                replace(term, groups=groups.met_by(term)) if isinstance(term, Words) and not term.field else term
            )

        clauses = (Clause(tuple(map(named, clause.terms)), clause.excludes) for clause in self.clauses)
        return replace(self, clauses=tuple(clauses))


def read_query(text: str) -> Query:
    """Parse a typed query. The last word also matches as a beginning, unless a space follows."""
    clauses, doubts, field, of_comments, joins = list[Clause](), list[str](), "", False, False
    parts = [*_PART.finditer(_ADDRESS.sub(r"\1", text[:MOST_CHARACTERS]))]
    for part in parts:
        name, value = (part["name"] or "").lower(), part["word"] or part["phrase"] or ""
        if not name and part["word"] == "OR":
            joins = bool(clauses)
            continue
        if name == "in" and value.lower() in ("title", "text", "comments"):
            field, of_comments = ("", True) if value.lower() == "comments" else (value.lower(), of_comments)
            continue
        term = _filter(name, value) if name else None
        found = [term] if term else [*_words(part, is_last=part is parts[-1])]
        if name and not term:
            doubts.append(f"{part['name']}:")
        excludes = bool(part["sign"])
        for one in found:
            if joins and clauses[-1].excludes == excludes:
                clauses[-1] = replace(clauses[-1], terms=(*clauses[-1].terms, one))
            else:
                clauses.append(Clause((one,), excludes))
            joins = False
    clauses = [_in_field(clause, field) for clause in _without_stop_words(clauses)]
    return Query(tuple(_bounded(clauses)), of_comments, tuple(dict.fromkeys(doubts)))


def _bounded(clauses: list[Clause]) -> Iterator[Clause]:
    """Yield the clauses with their first `MOST_TERMS` and `MOST_RANGES` different terms, alternatives included."""
    left, ranges = MOST_TERMS, count()
    for clause in dict.fromkeys(replace(one, terms=tuple(dict.fromkeys(one.terms))) for one in clauses):
        counting = (one for one in clause.terms if not isinstance(one, Between) or next(ranges) < MOST_RANGES)
        if terms := tuple(islice(counting, left)):
            yield replace(clause, terms=terms)
            left -= len(terms)


def _words(part: re.Match[str], *, is_last: bool) -> Iterator[Words]:
    text = part["word"] if part["word"] is not None else part["phrase"]
    if part["name"]:
        text = f"{part['name']} {text}"
    text = _WWW.sub("", text)
    is_quoted = part["phrase"] is not None
    if tokens := tuple(phrase_of(text)):
        is_typed = is_last and part["end"] == "" and not is_quoted and not part["sign"]
        begins = is_typed or (len(tokens) == 1 and is_single_sign(tokens[0]))
        yield Words(tokens, begins, is_quoted=is_quoted)


def _in_field(clause: Clause, field: str) -> Clause:
    terms = (replace(term, field=field) if isinstance(term, Words) else term for term in clause.terms)
    return replace(clause, terms=tuple(terms)) if field else clause


def _without_stop_words(clauses: list[Clause]) -> list[Clause]:
    """Return the clauses without stop words, unless there are only these; the last one may become another."""

    def is_stop_word(clause: Clause) -> bool:
        return not clause.excludes and all(
            isinstance(term, Words) and not term.is_quoted and {*term.tokens} <= _STOP_WORDS
            for term in clause.terms
        )

    if all(clause.excludes or is_stop_word(clause) for clause in clauses):
        return clauses
    return [
        clause for clause in clauses if not is_stop_word(clause) or (clause is clauses[-1] and _begins(clause))
    ]


def _begins(clause: Clause) -> bool:
    return any(isinstance(term, Words) and term.begins for term in clause.terms)


def _filter(name: str, value: str) -> Term | None:
    """Return the filter `name:value`; None if it is none."""
    read = _FILTERS.get(name)
    with suppress(ValueError):
        return read(value) if read and value else None
    return None


def _day(text: str) -> tuple[float, float] | None:
    """Return when a day, a month or a year begins and ends, in Unix seconds (UTC). Raises ValueError."""
    match = _DATE.fullmatch(text)
    if not match:
        return None
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    begin = datetime(year, month, day, tzinfo=UTC)
    if match[3]:
        end = begin + timedelta(days=1)
    elif match[2]:
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    else:
        end = datetime(year + 1, 1, 1, tzinfo=UTC)
    return begin.timestamp(), end.timestamp()


def _before(value: str) -> Between | None:
    day = _day(value)
    return Between("time", most=day[0] - 0.001) if day else None


def _after(value: str) -> Between | None:
    day = _day(value)
    return Between("time", least=day[1]) if day else None


def _points(value: str) -> Between | None:
    match = _POINTS.fullmatch(value)
    if not match:
        return None
    sign, number, least, most = match.groups()
    if least is not None:
        return Between("points", float(least), float(most))
    points = float(number)
    return {
        ">": Between("points", least=points + 1),
        ">=": Between("points", least=points),
        "<": Between("points", most=points - 1),
        "<=": Between("points", most=points),
        None: Between("points", points, points),
    }[sign]


def _author(value: str) -> Named:
    return Named("author", canonical(value.removeprefix("@")))


def _host(value: str) -> Named:
    return Named("host", clean_home(value))


def of_host(name: str) -> Query:
    """Return the query for all articles from a host, in any spelling. Raises ValueError."""
    return Query((Clause((_host(name),)),))


def clean_home(value: str) -> str:
    """Return a host as the index has it, or `github.com/django` for an author's part. Raises ValueError."""
    host, _, part = value.partition("/")
    cleaned = clean_host(host)
    return f"{cleaned}/{part.strip('/').lower()}" if part and cleaned in HOMES else cleaned


_FILTERS: Mapping[str, Callable[[str], Term | None]] = {
    **dict.fromkeys(("author", "by", "user"), _author),
    **dict.fromkeys(("host", "site"), _host),
    "group": lambda value: Named("group", clean_slug(value)),
    "before": _before,
    "after": _after,
    "points": _points,
}


@lru_cache(maxsize=1 << 14)
def _words_of_group(slug: str, title: str) -> frozenset[str]:
    tokens = [slug, *tokens_of(slug), *tokens_of(title)]
    return frozenset((*tokens, *map(stem, tokens)))


class _Groups:
    """The groups by the words of their slugs and titles."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self.titles = dict(titles)
        self._slugs: dict[str, list[str]] = {}
        for slug, title in titles.items():
            for word in _words_of_group(slug, title):
                self._slugs.setdefault(word, []).append(slug)
        self._words = sorted(self._slugs)

    def met_by(self, term: Words) -> tuple[str, ...]:
        """Return the slugs of groups that the term names. A single letter names none: it would match too many."""
        found = [{*self._slugs.get(token, ()), *self._slugs.get(stem(token), ())} for token in term.tokens[:-1]]
        last = term.tokens[-1]
        words = {last, stem(last)} & self._slugs.keys()
        if term.begins and len(last.encode()) > 1:
            first = bisect_left(self._words, last)
            words.update(takewhile(methodcaller("startswith", last), islice(self._words, first, None)))
        found.append({slug for word in words for slug in self._slugs[word]})
        return tuple(sorted(set.intersection(*found))[:_GROUPS_PER_TERM])


def groups_named(query: Query, titles: Mapping[str, str]) -> set[str]:
    """Return the slugs of the groups (slug → title) that all words of the query name, at most ten for each."""
    named = [set(words.groups) for words in query.with_groups(titles).words if not words.field]
    return set.intersection(*named) if named else set()


_known = _Groups({})


def _groups_by_words(titles: Mapping[str, str]) -> _Groups:
    """Return the groups by words. All of the site are kept: they seldom change, and each search needs them."""
    global _known  # noqa: PLW0603  one for the process; any thread may replace it
    groups = _known
    if groups.titles != titles:
        groups = _Groups(titles)
        if 2 * len(titles) > len(_known.titles):  # not those of a page
            _known = groups
    return groups
