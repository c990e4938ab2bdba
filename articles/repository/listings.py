"""Pages of articles in any order, of the whole site or of one group."""

from collections.abc import Sequence

from articles.domain import Article, ArticleId, ArticlePage, Group, Order, UserId
from articles.errors import GroupNotFound, PageNotFound
from articles.repository.merging import Ranking, merge_page
from articles.repository.reading import read_articles
from articles.repository.store import Store


class Listings:
    """The lists of a store: every one is a ranking, cut into pages."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(
        self, order: Order, number: int = 1, *, slug: str | None = None, reader: UserId | None = None
    ) -> ArticlePage:
        """Page `number`, counted from 1, highest or newest first, with the reader's own choices.

        Two round trips; one more when a group's ranking has to be made. With shards, see `merging`.
        Raises GroupNotFound, and PageNotFound before the first and beyond the last page.
        """
        if number < 1:
            raise PageNotFound(number)
        size = self._store.rules.per_page
        rankings = self._rankings(order, slug)
        start = (number - 1) * size
        cut = merge_page(self._store, rankings, start, size, slug=slug)
        if slug is not None and cut.group_title is None:
            raise GroupNotFound(slug, self._moved_to(slug))
        if number > 1 and start >= cut.total:
            raise PageNotFound(number)
        group = None if slug is None else Group(slug, cut.group_title or slug, cut.total)
        articles = self._listed(cut.ids, reader)
        return ArticlePage(tuple(articles), number, size, cut.total, order, group)

    def _listed(self, ids: Sequence[ArticleId], reader: UserId | None) -> list[Article]:
        """The articles, but for those removed since the ids were read."""
        return [article for article in read_articles(self._store, ids, reader) if article.removed is None]

    def _rankings(self, order: Order, slug: str | None) -> list[Ranking]:
        if slug is None:
            return [Ranking(keys.order(order)) for keys in self._store.shards.all]
        return [
            Ranking(keys.group_order(order, slug), keys.group(slug), keys.order(order))
            for keys in self._store.shards.all
        ]

    def _moved_to(self, slug: str) -> str | None:
        with self._store.commands() as client:
            found: str | None = client.hget(self._store.shards.directory.merged, slug)
        return found
