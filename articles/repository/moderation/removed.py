"""Removed articles: the list of them for moderators."""

from heapq import merge
from operator import itemgetter
from typing import NamedTuple

from articles.domain.articles import Article
from articles.domain.moderation.log import Action, LogEntry
from articles.repository.lists.paging import page_window
from articles.repository.lists.reading import read_articles
from articles.repository.moderation.log import entries_from
from articles.repository.store.connection import Call, Store
from articles.repository.store.values import article_id_from

MOST_PAGED_ARTICLES = 10_000
"""Maximum number of removed articles that can be paged through: a page reads the ids before it."""

_ENTRIES_READ = 10
"""Entries of an article's log that are searched for its removal: moderators can continue editing it."""


class RemovedArticle(NamedTuple):
    """A removed article, and the log's entry of its removal, if it is among the latest entries about it."""

    article: Article
    removal: LogEntry | None


class RemovedPage(NamedTuple):
    """One page of the removed articles, the last posted first."""

    articles: tuple[RemovedArticle, ...]
    number: int
    has_next: bool


class RemovedArticles:
    """The removed articles of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(self, number: int = 1) -> RemovedPage:
        """Return page `number` of the removed articles, counted from 1. Three round trips.

        Raises PageNotFound, and PageTooDeep beyond `MOST_PAGED_ARTICLES`.
        """
        page = page_window(number, self._store.rules.per_page, MOST_PAGED_ARTICLES)
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.zrevrange(keys.removed, 0, page.end, withscores=True)
            shards = pipe.execute()
        members = [member for member, _ in merge(*shards, key=itemgetter(1), reverse=True)][page.start :]
        page.check_entries(members)
        articles = read_articles(self._store, [article_id_from(member) for member in members[: page.size]], None)
        removed = [article for article in articles if article.removed is not None]
        rows = tuple(map(RemovedArticle, removed, self._removals(removed)))
        return RemovedPage(rows, number, has_next=page.has_next(len(members)))

    def _removals(self, articles: list[Article]) -> list[LogEntry | None]:
        """Return the log's entry of each article's removal."""
        keys = [(article.id, self._store.shards.of(article.id)) for article in articles]
        calls = [Call("moderation_log/find", (one.article(id_), one.log), (_ENTRIES_READ,)) for id_, one in keys]
        entries = [tuple(entries_from(texts)) for texts in self._store.run_many(calls)]
        removals = (Action.REMOVE, Action.WITHDRAW)
        return [next((entry for entry in found if entry.action in removals), None) for found in entries]
