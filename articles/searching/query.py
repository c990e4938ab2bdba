"""Parses a reader's query into terms. An article has to match all of them."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, takewhile
from operator import methodcaller

from articles.searching.words import LONGEST_WORD, Piece, fold, is_plain, pieces, runs, stem, whole_word

MOST_CHARACTERS = 200
"""Characters of a query that are read; the rest is ignored."""

MOST_TERMS = 12
_GROUPS_PER_TERM = 10
"""Groups whose titles a term may match: each is one more list to walk."""

_ADDRESS = re.compile(r"https?://(?:www\.)?([^/\s?#]*)\S*", re.IGNORECASE)

# Ignored if other words remain: a search for "the history of Rome" also finds "A history of Rome".
_STOP_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "i", "in", "is", "it", "its"),
        *("of", "on", "or", "that", "the", "this", "to", "was", "what", "with", "you", "your"),
    )
)

# Endings of a word that is still being typed: "votin" may become "voting", whose stem is "vote".
_ENDINGS = (
    "g",
    "ng",
    "ing",
    "s",
    "es",
    "d",
    "ed",
    "n",
    "on",
    "ion",
    "tion",
    "ation",
    "e",
    "y",
    "ly",
    "ity",
    "ies",
)


@dataclass(frozen=True, slots=True)
class Term:
    """Matches articles with one of these words, with a word of this beginning, or in one of these groups."""

    words: tuple[str, ...]
    beginning: str = ""
    groups: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether articles can have such words: some compatibility forms of letters contain spaces or signs."""
        return all(map(is_plain, (*self.words, self.beginning)))

    def is_met_by(self, word: str) -> bool:
        """Return whether a word of an article matches; groups are not considered."""
        return word in self.words or bool(self.beginning and word.startswith(self.beginning))


@dataclass(frozen=True, slots=True)
class Query:
    """A query matches articles that match all its terms; without terms it matches none."""

    terms: tuple[Term, ...]

    def of_whole_words(self) -> "Query | None":
        """Return the query with the last word as a whole word, not a beginning; None if that changes nothing."""
        if not (self.terms and self.terms[-1].words and self.terms[-1].beginning):
            return None
        return Query((*self.terms[:-1], Term(self.terms[-1].words[:1])))

    def with_groups(self, titles: Mapping[str, str]) -> "Query":
        """Return the query with the groups (slug → title) that each term names."""
        groups = _groups_by_words(titles)
        return Query(tuple(replace(term, groups=groups.met_by(term)) for term in self.terms))


def read_query(text: str) -> Query:
    """Parse a typed query. The last word also matches as a beginning, unless a space follows."""
    plain = _ADDRESS.sub(r"\1", text[:MOST_CHARACTERS])
    words = [(fold(run[0]).removeprefix("www."), run.end() == len(plain)) for run in runs(plain)]
    if any(word not in _STOP_WORDS for word, _ in words):
        words = [(word, last) for word, last in words if last or word not in _STOP_WORDS]
    terms = [term for word, last in words for term in _terms(word, last) if term.is_plain]
    return Query(tuple(dict.fromkeys(terms))[:MOST_TERMS])


def _terms(run: str, last: bool) -> list[Term]:
    parts = pieces(run)
    if whole := whole_word(run, parts):
        return [Term((whole,), whole if last else "")]
    return [term for part in parts for term in _terms_of(part, last and part is parts[-1])]


def _terms_of(part: Piece, last: bool) -> list[Term]:
    text = part.text
    if part.unspaced and len(text) == 1:
        return [Term((), text)]
    if part.unspaced:
        return [Term((text[at : at + 2],)) for at in range(len(text) - 1)]
    word = stem(text)
    if not last or not word:
        return [Term((word,))] if word else []
    beginning = text.replace("'", "")[:LONGEST_WORD]
    return [Term(tuple(dict.fromkeys((word, *_completed_stems(beginning)))), beginning)]


def _completed_stems(typed: str) -> list[str]:
    """Return stems of possible completions of the typed word that do not begin with it."""
    if len(typed) < 4 or not (typed.isascii() and typed.isalpha()):
        return []
    stems = {stem(typed + ending) for ending in _ENDINGS}
    return sorted(
        word for word in stems if 3 <= len(word) <= len(typed) and word != typed and typed.startswith(word[:-1])
    )


@lru_cache(maxsize=1 << 14)
def _words_of_group(slug: str, title: str) -> frozenset[str]:
    words: set[str] = {slug}
    for text in (slug, title):
        for run in runs(text):
            folded = fold(run[0])
            for part in pieces(folded):
                words.add(part.text if part.unspaced else stem(part.text))
                if part.unspaced:
                    words |= {part.text[at : at + 2] for at in range(len(part.text))}
    return frozenset(words)


class _Groups:
    """The groups by the words of their slugs and titles."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self.titles = dict(titles)
        self._slugs: dict[str, list[str]] = {}
        for slug, title in titles.items():
            for word in _words_of_group(slug, title):
                self._slugs.setdefault(word, []).append(slug)
        self._words = sorted(self._slugs)

    def met_by(self, term: Term) -> tuple[str, ...]:
        """Return the slugs of groups that the term names. A single letter names none: it would match too many."""
        beginning = term.beginning if len(term.beginning.encode()) > 1 else ""
        words = {word for word in term.words if word in self._slugs}
        if beginning:
            first = bisect_left(self._words, beginning)
            words.update(takewhile(methodcaller("startswith", beginning), islice(self._words, first, None)))
        return tuple(sorted({slug for word in words for slug in self._slugs[word]})[:_GROUPS_PER_TERM])


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
