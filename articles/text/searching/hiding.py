"""What a reader need not see: groups, members, hosts, words in titles, and single articles.

`Hiding.hides` decides. The scripts of the store decide most of the same, by `lib/hiding.lua`.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from articles.domain.articles import Article, ArticleId
from articles.domain.members import UserId
from articles.text.lines import InvalidInput, clean_line
from articles.text.links import hosts_of
from articles.text.searching.query import clean_home
from articles.text.searching.tokens import bare, fold, kept_if_short, pieces, runs

_PLAIN = re.compile("(?: [a-z0-9]{1,39})+ ")


class Kind(StrEnum):
    """What can be hidden."""

    GROUP = "group"
    MEMBER = "member"
    HOST = "host"
    WORD = "word"
    ARTICLE = "article"


MOST = {Kind.GROUP: 50, Kind.MEMBER: 500, Kind.HOST: 100, Kind.WORD: 50, Kind.ARTICLE: 500}
"""How many of each kind one reader can hide. A further article replaces the oldest."""

WORD_LIMIT = 50  # characters

_MOST_KNOWN = 100  # titles and links about which a process keeps what one reader's choices decide

_SIGNS = {"@": Kind.MEMBER, "/": Kind.HOST, "~": Kind.WORD, "#": Kind.ARTICLE}
"""How an entry begins in `Hiding.text`; a group has no sign."""


def kind_and_value(entry: str) -> tuple[Kind, str]:
    """Return of which kind an entry of `Hiding.text` is, and what it names."""
    kind = _SIGNS.get(entry[:1], Kind.GROUP)
    return kind, entry if kind is Kind.GROUP else entry[1:]


@dataclass(frozen=True)
class Hiding:
    """What one reader hides. Its words are as they were typed, its articles the oldest first."""

    groups: tuple[str, ...] = ()
    members: tuple[UserId, ...] = ()
    hosts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    articles: tuple[ArticleId, ...] = ()
    read_by: UserId | None = None  # the member whose read articles are hidden too; not part of `text`

    @staticmethod
    @lru_cache(200)
    def of(text: str) -> "Hiding":
        """Return what `text` of another one says. Malformed entries, and those beyond the limits, are left out."""
        found: dict[Kind, dict[Any, None]] = {kind: {} for kind in Kind}
        for entry in filter(None, text.split(",")):
            kind, value = kind_and_value(entry)
            if kind in (Kind.MEMBER, Kind.ARTICLE):
                found[kind] |= dict.fromkeys(int(one) for one in value.split(".") if _is_id(one))
            elif value and (kind is Kind.WORD or _can_be_in_address(kind, value)):
                found[kind][value] = None
        groups, members, hosts, words = (tuple(found[kind])[: MOST[kind]] for kind in list(Kind)[:4])
        return Hiding(groups, members, hosts, words, tuple(found[Kind.ARTICLE])[-MOST[Kind.ARTICLE] :])

    @property
    def text(self) -> str:
        """All of it in a line, for a cookie or a column."""
        return ",".join(
            (
                *self.groups,
                *(f"@{user}" for user in self.members),
                *(f"/{host}" for host in self.hosts),
                *(f"~{word}" for word in self.words),
                *((f"#{'.'.join(map(str, self.articles))}",) if self.articles else ()),
            )
        )

    def __bool__(self) -> bool:
        return self != NOTHING

    def values(self, kind: Kind) -> tuple[str, ...] | tuple[int, ...]:
        """Return what is hidden of one kind."""
        found: tuple[str, ...] | tuple[int, ...] = getattr(self, f"{kind}s")
        return found

    def changed(self, kind: Kind, value: str | int, *, hidden: bool) -> "Hiding":
        """Return this with one more hidden, or one fewer; the oldest article gives way to a further one."""
        others = tuple(one for one in self.values(kind) if not _is_same(kind, one, value))
        found: Any = (*others, value) if hidden else others
        return replace(self, **{f"{kind}s": found[-MOST[kind] :] if kind is Kind.ARTICLE else found})

    def without(self, *kinds: Kind) -> "Hiding":
        """Return this without these kinds."""
        nothing: Any = ()
        return replace(self, **dict.fromkeys((f"{kind}s" for kind in kinds), nothing)) if kinds else self

    def showing(self, groups: Collection[str]) -> "Hiding":
        """Return what applies to a list of these groups: none of them is hidden."""
        left = tuple(slug for slug in self.groups if slug not in groups)
        return self if left == self.groups else replace(self, groups=left)

    def and_groups(self, groups: Collection[str]) -> "Hiding":
        """Return this with further groups, however many."""
        return replace(self, groups=(*self.groups, *groups)) if groups else self

    @cached_property
    def hides_texts(self) -> bool:
        """Whether a title or a link can be hidden."""
        return bool(self.hosts or self._patterns)

    def hides(self, article: Article) -> bool:
        """Return whether the reader need not see an article."""
        return (
            article.id in self._sets[Kind.ARTICLE]
            or (self.read_by is not None and article.read_at is not None)
            or article.poster in self._sets[Kind.MEMBER]
            or not self._sets[Kind.GROUP].isdisjoint(article.groups)
            or self.hides_text(article.title, article.link)
        )

    def hides_text(self, title: str, link: str) -> bool:
        """Return whether a title or a link is reason enough. The last answers are kept, for lists repeat."""
        known = self._known
        if (answer := known.get((title, link))) is None:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            answer = known[title, link] = self._decides_by_text(title, link)
        return answer

    def _decides_by_text(self, title: str, link: str) -> bool:
        if self.hosts and link and not self._sets[Kind.HOST].isdisjoint(hosts_of(link)):
            return True
        return bool(self._patterns) and any(map(_spaced(title).__contains__, self._patterns))

    @cached_property
    def _known(self) -> dict[tuple[str, str], bool]:
        return {}

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """What the scripts of the store look for, comma-separated: ids, groups, posters, hosts, words and parts.

        Words are of ASCII letters and digits. Parts are several of these, with spaces around them, or text that is
        written without spaces.
        """
        plain = [one for one in self._patterns if _PLAIN.fullmatch(one)]
        words = [one.strip() for one in plain if one.count(" ") == 2]
        parts = [one for one in self._patterns if " " not in one or (one in plain and one.count(" ") > 2)]
        lists = (self.articles, self.groups, self.members, self.hosts, words, parts)
        return tuple(",".join(map(str, one)) for one in lists)

    @cached_property
    def _sets(self) -> dict[Kind, frozenset[str | int]]:
        return {kind: frozenset[str | int](self.values(kind)) for kind in Kind}

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        return tuple(filter(None, map(_pattern, self.words)))


NOTHING = Hiding()


def _can_be_in_address(kind: Kind, value: str) -> bool:
    return value.isprintable() and (kind is Kind.HOST or "/" not in value)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 15


def _is_same(kind: Kind, one: str | int, other: str | int) -> bool:
    return _pattern(str(one)) == _pattern(str(other)) if kind is Kind.WORD else one == other


def clean_word(raw: str) -> str:
    """Return a word, or several in a row, as one that can be hidden. Raises InvalidInput ("word-…")."""
    word = " ".join(clean_line(raw, limit=WORD_LIMIT, field="word").replace(",", " ").split())
    if not _pattern(word):
        raise InvalidInput("word-empty")
    return word


def clean_hidden_host(raw: str) -> str:
    """Return a host as articles are known by it, also of an address. Raises InvalidInput ("link-host")."""
    bare_address = raw.strip().partition("://")[2] or raw.strip()
    try:
        host = clean_home("/".join(bare_address.split("/")[:2]))
    except ValueError as invalid:
        raise InvalidInput("link-host") from invalid
    if "," in host or not host:
        raise InvalidInput("link-host")
    return host


@kept_if_short(1 << 12, 300)
def _spaced(title: str) -> str:
    """Return the folded words of a title, each between spaces; text that is written without spaces as it is."""
    return f" {' '.join(text for text, _ in _words(title))} "


@kept_if_short(1 << 12)
def _pattern(words: str) -> str:
    """Return what `_spaced` contains of every title with these words in a row; "" for none."""
    found = list(_words(words))
    if not found:
        return ""
    (_, first_is_unspaced), (_, last_is_unspaced) = found[0], found[-1]
    joined = " ".join(text for text, _ in found)
    return f"{'' if first_is_unspaced else ' '}{joined}{'' if last_is_unspaced else ' '}"


def _words(text: str) -> Iterable[tuple[str, bool]]:
    for run in runs(text):
        for piece in pieces(fold(run[0])):
            if word := piece.text if piece.unspaced else bare(piece.text):
                yield word, piece.unspaced
