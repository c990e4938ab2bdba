"""What a reader asks for, as terms that must all be met."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from articles.searching.words import LONGEST_WORD, Piece, fold, pieces, runs, stem, whole_word

MOST_CHARACTERS = 200
"""Of a query; what is beyond is not read."""

MOST_TERMS = 12
_GROUPS_PER_TERM = 10
"""Groups whose titles a term may match: each is one more list to walk."""

_ADDRESS = re.compile(r"https?://(?:www\.)?([^/\s?#]*)\S*", re.IGNORECASE)

# Left out where other words remain: whoever looks for "the history of Rome" also wants "A history of Rome".
_STOP_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "i", "in", "is", "it", "its"),
        *("of", "on", "or", "that", "the", "this", "to", "was", "what", "with", "you", "your"),
    )
)

# A word that is being typed may stand before its ending: "votin" is on its way to "voting", whose stem is "vote".
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
    """Met by an article with one of these words, with a word that begins so, or in one of these groups."""

    words: tuple[str, ...]
    beginning: str = ""
    groups: tuple[str, ...] = ()

    def is_met_by(self, word: str) -> bool:
        return word in self.words or bool(self.beginning and word.startswith(self.beginning))


@dataclass(frozen=True, slots=True)
class Query:
    """All terms must be met; without any there is nothing to find."""

    terms: tuple[Term, ...]

    def of_whole_words(self) -> "Query | None":
        """The same with the last word as it was typed, not as a beginning; None where that changes nothing."""
        if not (self.terms and self.terms[-1].words and self.terms[-1].beginning):
            return None
        return Query((*self.terms[:-1], Term(self.terms[-1].words[:1])))

    def with_groups(self, titles: Mapping[str, str]) -> "Query":
        """The same with the groups (slug → title) that each term names."""
        words = {slug: _words_of_group(slug, title) for slug, title in titles.items()}
        return Query(tuple(replace(term, groups=_groups_met(term, words)) for term in self.terms))


def read_query(text: str) -> Query:
    """The terms of what was typed. The last word is also the beginning of one, unless a space follows."""
    plain = _ADDRESS.sub(r"\1", text[:MOST_CHARACTERS])
    found = [(fold(run[0]).removeprefix("www."), run.end() == len(plain)) for run in runs(plain)]
    if any(word not in _STOP_WORDS for word, _ in found):
        found = [(word, last) for word, last in found if last or word not in _STOP_WORDS]
    terms = [term for word, last in found for term in _terms(word, last)]
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
    return [Term(tuple(dict.fromkeys((word, *_on_the_way(beginning)))), beginning)]


def _on_the_way(typed: str) -> list[str]:
    """Stems that what is typed may become, and that do not begin with it."""
    if len(typed) < 4 or not (typed.isascii() and typed.isalpha()):
        return []
    stems = {stem(typed + ending) for ending in _ENDINGS}
    return sorted(
        word for word in stems if 3 <= len(word) <= len(typed) and word != typed and typed.startswith(word[:-1])
    )


@lru_cache(maxsize=1 << 14)
def _words_of_group(slug: str, title: str) -> frozenset[str]:
    found: set[str] = {slug}
    for text in (slug, title):
        for run in runs(text):
            folded = fold(run[0])
            for part in pieces(folded):
                found.add(part.text if part.unspaced else stem(part.text))
                if part.unspaced:
                    found |= {part.text[at : at + 2] for at in range(len(part.text))}
    return frozenset(found)


def _groups_met(term: Term, words: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Groups the term names. One typed letter names none: it would name too many."""
    wanted, beginning = set(term.words), term.beginning if len(term.beginning.encode()) > 1 else ""

    def is_met(found: frozenset[str]) -> bool:
        return not wanted.isdisjoint(found) or bool(beginning and any(w.startswith(beginning) for w in found))

    return tuple(sorted(slug for slug, found in words.items() if is_met(found))[:_GROUPS_PER_TERM])
