"""Entering articles with their history, and reading all of them out again."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from articles.domain import PLACEHOLDERS, Article, ArticleId, ImportedArticle, Order
from articles.errors import Refused
from articles.links import link_digest
from articles.repository import keys as names
from articles.repository.groups import Groups
from articles.repository.reading import read_articles
from articles.repository.store import Call, Store, exact_time

_LOCK_LIFE = 120
_READ_AT_ONCE = 500


class ImportRunning(Refused):
    """Another import is at work on this store."""


class Imports:
    """Imports into a store, and exports from it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._groups = Groups(store)
        self._known_groups: set[str] = set()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other import out. Raises ImportRunning. A lock left by a crash ends after two minutes."""
        self._token = secrets.token_hex(8)
        with self._store.commands() as client:
            if not client.set(names.IMPORTING, self._token, nx=True, ex=_LOCK_LIFE):
                raise ImportRunning
        try:
            yield
        finally:
            with self._store.commands() as client:
                if client.get(names.IMPORTING) == self._token:
                    client.delete(names.IMPORTING)

    def shift_of(self, file_digest: str, proposed: float) -> float:
        """Seconds by which a file's times are moved: those of its first import, else `proposed`, kept."""
        with self._store.commands() as client:
            client.set(names.shift(file_digest), exact_time(proposed), nx=True)
            return float(client.get(names.shift(file_digest)))

    def add(self, articles: Sequence[ImportedArticle]) -> list[ArticleId | None]:
        """Enter those that are not there yet; returns their new ids, None for what was there.

        An article is the same when its link and its time are equal, to the millisecond. Voters of articles
        whose window is still open are entered as placeholders. Five round trips, whatever the number.
        """
        known, fresh = self._existing(articles), dict[tuple[str, str], ImportedArticle]()
        for article in articles:
            if (mark := _mark(article)) not in known:
                fresh.setdefault(mark, article)
        ids = iter(self._new_ids(len(fresh)))
        numbered = {mark: (next(ids), article) for mark, article in fresh.items()}
        self._ensure_groups(fresh.values())
        self._store.run_many([self._call(i, article) for i, article in numbered.values()])
        self._index(numbered.values())
        return [number[0] if (number := numbered.pop(_mark(a), None)) else None for a in articles]

    def _existing(self, articles: Sequence[ImportedArticle]) -> set[tuple[str, str]]:
        times = list({exact_time(article.posted_at) for article in articles})
        replies = self._store.run_many(
            [
                Call("find_imported", (keys.order(Order.TIME), keys.removed), (keys.prefix, *times))
                for keys in self._store.shards.all
            ]
        )
        return {mark for flat in replies for mark in zip(flat[1::2], flat[::2], strict=True)}

    def _new_ids(self, count: int) -> range:
        if not count:
            return range(0)
        with self._store.commands() as client:
            client.expire(names.IMPORTING, _LOCK_LIFE)
            last = int(client.incrby(names.COUNTER, count))
        return range(last - count + 1, last + 1)

    def _ensure_groups(self, articles: Iterable[ImportedArticle]) -> None:
        slugs = {slug for article in articles for slug in article.groups}
        if missing := slugs - self._known_groups:
            self._groups.ensure({slug: slug for slug in missing})
            self._known_groups |= missing

    def _call(self, article_id: ArticleId, article: ImportedArticle) -> Call:
        rules, keys = self._store.rules, self._store.shards.of(article_id)
        left = article.posted_at + rules.voting_window - self._store.now()
        life = int(left) + 1 + rules.voters_grace if left >= 0 else 0
        return Call(
            "import_article",
            (keys.article(article_id), keys.voted(article_id), keys.oppose(article_id)),
            (
                article_id,
                article.title,
                article.link,
                article.poster,
                article.poster_name,
                exact_time(article.posted_at),
                article.votes,
                article.opposes,
                ",".join(article.groups),
                article.removed or "",
                life,
                PLACEHOLDERS.start,
                keys.prefix,
            ),
        )

    def _index(self, numbered: Iterable[tuple[ArticleId, ImportedArticle]]) -> None:
        """Put new articles on their posters' profiles, and recent links where posting looks for them."""
        now, window = self._store.now(), self._store.rules.repost_window
        with self._store.pipeline() as pipe:
            for article_id, article in numbered:
                if article.poster:
                    pipe.zadd(names.posted(article.poster), {str(article_id): article.posted_at})
                if (left := int(article.posted_at + window - now)) > 0:
                    pipe.set(names.link(link_digest(article.link)), article_id, nx=True, ex=left)
            pipe.execute()

    def all(self) -> Iterator[Article]:
        """Every article, removed ones included, by id."""
        with self._store.commands() as client:
            last = int(client.get(names.COUNTER) or 0)
        for first in range(1, last + 1, _READ_AT_ONCE):
            ids = range(first, min(first + _READ_AT_ONCE, last + 1))
            yield from read_articles(self._store, ids, None)

    def count(self) -> int:
        """How many articles there are, removed ones included."""
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.zcard(keys.order(Order.TIME))
                pipe.zcard(keys.removed)
            return sum(pipe.execute())


def _mark(article: ImportedArticle) -> tuple[str, str]:
    """What makes an imported article the same one."""
    return article.link, exact_time(article.posted_at)
