"""Checks and repairs the index of words, for the audit and the repair."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys
from articles.searching import WORDS_VERSION, words_of

ALL_INDEXED = f"{WORDS_VERSION} all"
"""Value of the field `indexed` in the store's stamp when every article is indexed."""


def version_of(state: str | None) -> int:
    """Return the version of the words in the store's stamp; 0 if there is none."""
    version, _, _ = (state or "").partition(" ")
    return int(version) if version.isdigit() else 0


_WORDS_PER_SCRIPT = 3000
"""Words that one script adds; each may also replace another."""


def by_words(rows: Iterable[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """Yield the rows, whose last field holds words, in batches that one script can add."""
    batch, words = list[tuple[str, ...]](), 0
    for row in rows:
        more = row[-1].count(" ")
        if batch and words + more > _WORDS_PER_SCRIPT:
            yield batch
            batch, words = [], 0
        batch.append(row)
        words += more
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken invariant: the key or article, and what is wrong with it."""

    subject: str
    problem: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.problem}"


class Indexed(NamedTuple):
    """What an article is indexed by, and the words and groups that it names; None where its hash lacks it."""

    title: str | None
    link: str | None
    poster_name: str | None
    words: str | None
    groups: str | None
    state: str

    @property
    def facts(self) -> tuple[str, str, str]:
        """Title, link and poster's name, from which its words are made; "" for a missing one."""
        return self.title or "", self.link or "", self.poster_name or ""

    def has_its_words(self) -> bool:
        """Return whether it names the words of these, or lacks one of them."""
        return None in self[:3] or self.words == words_of(*self.facts)


LISTED, DAMAGED = "listed", "damaged"
"""States of an article that is whole and in the lists, and of one that is not whole or does not exist."""


def reading(keys: Keys, ids: Iterable[ArticleId | str]) -> Call:
    """Return the script that reads what articles are indexed by; `indexed_from` takes its reply."""
    return Call("search/read", [keys.article(int(article_id)) for article_id in ids], [])


def indexed_from(reply: Sequence[str]) -> Iterator[Indexed]:
    """Yield the articles in a reply."""
    width = len(Indexed._fields)
    return (Indexed(*reply[at : at + width]) for at in range(0, len(reply), width))


class Index:
    """The index of a store, for the audit and the repair."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, keys: Keys, ids: Sequence[str]) -> dict[str, Indexed]:
        """Return what these articles are indexed by. One round trip."""
        return dict(zip(ids, indexed_from(self._store.run(*reading(keys, ids))), strict=True))

    def check_articles(self, keys: Keys, articles: Mapping[str, Indexed]) -> Iterator[Finding]:
        """Yield those of these articles whose words differ from title, link and poster, once all are indexed.

        No round trip; two if an article seems wrong: it may have been read while all were being indexed.
        """
        doubtful = [article_id for article_id, article in articles.items() if not article.has_its_words()]
        if doubtful and self._is_complete():
            for article_id, article in self.read(keys, doubtful).items():
                if not article.has_its_words():
                    yield Finding(
                        keys.article(int(article_id)), "is not indexed by the words of its title, link and poster"
                    )

    def _is_complete(self) -> bool:
        with self._store.commands() as client:
            return bool(client.hget(names.SCHEMA, "indexed") == ALL_INDEXED)
