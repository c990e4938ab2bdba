"""Checks and repairs the index of words, for the audit and the repair."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from articles.repository.store import keys as names
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions, ranked_members, set_members
from articles.searching import WORDS_VERSION, words_of

ALL_INDEXED = f"{WORDS_VERSION} all"
"""Value of the field `indexed` in the store's stamp when every article is indexed."""

_IDS_PER_SCRIPT = 500
"""Ids under words, and words, that one script audits or repairs: it compares each with its article."""


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


class Index:
    """The index of a store, for the audit and the repair."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def check_articles(self, keys: Keys, batch: Sequence[str]) -> Iterator[Finding]:
        """Yield articles whose words differ from title, link and poster, once all are indexed. One round trip."""
        with self._store.pipeline() as pipe:
            pipe.hget(names.SCHEMA, "indexed")
            for article_id in batch:
                pipe.hmget(keys.article(int(article_id)), ["title", "link", "poster_name", "words"])
            indexed, *rows = pipe.execute()
        if indexed != ALL_INDEXED:
            return
        for article_id, (title, link, poster, words) in zip(batch, rows, strict=True):
            if None not in (title, link, poster) and words != words_of(title, link, poster):
                yield Finding(
                    keys.article(int(article_id)), "is not indexed by the words of its title, link and poster"
                )

    def check_words(self, keys: Keys, indexed_words: Iterable[str]) -> Iterator[Finding]:
        """Yield words with articles that do not belong there, and errors of the lexicon. In batches."""
        for arguments in self._portions(keys, indexed_words):
            flat = self._store.run("audit/words", [keys.lexicon], [keys.prefix, *arguments])
            for word, problem in zip(flat[::2], flat[1::2], strict=True):
                yield Finding(keys.word(word), problem)

    def repair_words(self, keys: Keys, indexed_words: Iterable[str]) -> None:
        """Remove articles that do not belong there from these words and those in the lexicon. In batches."""
        for arguments in self._portions(keys, indexed_words):
            self._store.run("repair/words", [keys.lexicon], [keys.prefix, *arguments])

    def _portions(self, keys: Keys, indexed_words: Iterable[str]) -> Iterator[list[str | int]]:
        """Yield arguments of the scripts: words with up to 500 ids in total, or a part of the ids of one word."""
        words = sorted({*indexed_words, *ranked_members(self._store, keys.lexicon)})
        batch, ids = list[str](), 0
        for at in range(0, len(words), _IDS_PER_SCRIPT):
            portion = words[at : at + _IDS_PER_SCRIPT]
            for word, size in zip(portion, self._sizes(keys, portion), strict=True):
                if size > _IDS_PER_SCRIPT:
                    yield from self._parts(keys, word)
                    continue
                if batch and (ids + size > _IDS_PER_SCRIPT or len(batch) >= _IDS_PER_SCRIPT):
                    yield [len(batch), *batch]
                    batch, ids = [], 0
                batch.append(word)
                ids += size
        if batch:
            yield [len(batch), *batch]

    def _sizes(self, keys: Keys, words: Sequence[str]) -> list[int]:
        with self._store.pipeline() as pipe:
            for word in words:
                pipe.scard(keys.word(word))
            sizes: list[int] = pipe.execute()
        return sizes

    def _parts(self, keys: Keys, word: str) -> Iterator[list[str | int]]:
        for ids in portions(set_members(self._store, keys.word(word)), _IDS_PER_SCRIPT):
            yield [1, word, *ids]
