"""Pages of articles in any order, of the whole site or of one group."""

from collections.abc import Sequence
from dataclasses import replace

from articles.domain import Article, ArticlePage, Group, Order, UserId
from articles.errors import GroupNotFound, PageNotFound
from articles.repository.hot import Hot
from articles.repository.merging import Cut, Ranking, merge_page
from articles.repository.reading import read_articles
from articles.repository.store import Store


class Listings:
    """The lists of a store: every one is a ranking, cut into pages."""

    def __init__(self, store: Store, hot: Hot) -> None:
        self._store = store
        self._hot = hot

    def page(
        self,
        order: Order,
        number: int = 1,
        *,
        slug: str | None = None,
        since: float | None = None,
        size: int | None = None,
        reader: UserId | None = None,
    ) -> ArticlePage:
        """Page `number`, counted from 1, highest, newest or hottest first, with the reader's own choices.

        `since`, in Unix seconds, keeps to what was posted then or later; for the site's hot list only. `size`
        is `Rules.per_page` if not given. Two round trips; one more when a group's ranking has to be made or the
        hot list to be scored anew. With shards, see `merging`.
        Raises GroupNotFound, and PageNotFound before the first and beyond the last page.
        """
        if number < 1:
            raise PageNotFound(number)
        size = size or self._store.rules.per_page
        start = (number - 1) * size
        cut = self._cut(order, slug, since, start, size)
        if slug is not None and cut.group_title is None:
            raise GroupNotFound(slug, self._moved_to(slug))
        if number > 1 and start >= cut.total:
            raise PageNotFound(number)
        return ArticlePage(
            tuple(self._listed(cut, order, reader)),
            number,
            size,
            cut.total,
            order,
            None if slug is None else Group(slug, cut.group_title or slug, cut.total),
            cut.refreshed_at if order is Order.HOT else None,
        )

    def _cut(self, order: Order, slug: str | None, since: float | None, start: int, size: int) -> Cut:
        rankings = self._rankings(order, slug, since)
        cut = merge_page(self._store, rankings, start, size, slug=slug)
        if order is Order.HOT:
            if self._hot.is_stale(cut.refreshed_at) and self._hot.refresh():
                cut = merge_page(self._store, rankings, start, size, slug=slug)
            most = self._store.rules.hot_size
            cut = cut._replace(entries=cut.entries[: max(0, most - start)], total=min(cut.total, most))
        return cut

    def _listed(self, cut: Cut, order: Order, reader: UserId | None) -> list[Article]:
        """The articles, but for those removed since the ids were read."""
        listed = [article for article in read_articles(self._store, cut.ids, reader) if article.removed is None]
        if order is not Order.HOT:
            return listed
        values = dict(cut.entries)
        return [replace(article, hotness=values[article.id]) for article in listed]

    def _rankings(self, order: Order, slug: str | None, since: float | None) -> Sequence[Ranking]:
        shards = self._store.shards.all
        if slug is None:
            return [Ranking(keys, keys.order(order), since=since) for keys in shards]
        return [
            Ranking(keys, keys.group_order(order, slug), keys.group(slug), keys.order(order)) for keys in shards
        ]

    def _moved_to(self, slug: str) -> str | None:
        with self._store.commands() as client:
            found: str | None = client.hget(self._store.shards.directory.merged, slug)
        return found
