"""Reads the entries of all keys once: whether they can be read, and which articles and words they name."""

from collections.abc import Iterator, Sequence
from typing import Any

from articles.domain.articles import ArticleId
from articles.repository.search.index import Finding
from articles.repository.store.ahead import read_ahead
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Named, rankings_of_articles, walk_kinds
from articles.repository.store.values import NO_ARTICLE, article_id_from
from articles.repository.upkeep.readable import check_readable


class Entries:
    """What keys hold: what cannot be read of it, ids in rankings of articles, and words in lexicons."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.unreadable: list[Finding] = []
        shards = store.shards.all
        self._ids = {name: set[ArticleId]() for keys in shards for name in rankings_of_articles(keys)}
        self.words = {keys.lexicon: set[str]() for keys in shards}
        """The words in each lexicon, by its name."""

    def read(self) -> Iterator[list[Named]]:
        """Yield all keys in batches, after their entries are read."""
        for batch, findings in read_ahead(self._read_batch, walk_kinds(self._store)):
            self.unreadable += findings
            yield batch

    def ids_in(self, keys: Keys) -> set[ArticleId]:
        """Return the ids in the rankings of a shard, once all keys are read."""
        return set().union(*(self._ids[name] for name in rankings_of_articles(keys))) - {NO_ARTICLE}

    def _read_batch(self, batch: list[Named]) -> tuple[list[Named], list[Finding]]:
        return batch, list(check_readable(self._store, batch, self._note))

    def _note(self, name: str, entries: Sequence[Any]) -> None:
        if (ids := self._ids.get(name)) is not None:
            ids.update(article_id_from(member) for member, _ in entries)
        elif (words := self.words.get(name)) is not None:
            words.update(member.decode(errors="backslashreplace") for member, _ in entries)
