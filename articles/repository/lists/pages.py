"""Pages of articles in any order, of the whole site or of groups."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import GroupNotFound, PageNotFound, PageTooDeep
from articles.domain.lists import MOST_PAGED, ArticlePage, Group, Order, Span
from articles.domain.members import UserId
from articles.repository.lists.hot import Hot
from articles.repository.lists.merging import Cut, Ranking, group_rankings, merge_page, site_rankings
from articles.repository.lists.reading import moved_to, read_articles
from articles.repository.lists.unseen import UnseenQuery, read_unseen
from articles.repository.store.connection import Store


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a caller wants, with the page's place in the list."""

    order: Order
    slugs: tuple[str, ...]
    since: float | None
    span: Span
    size: int
    start: int
    hidden: tuple[str, ...]
    shown: tuple[ArticleId, ...]

    @property
    def is_plain(self) -> bool:
        """Whether the page is a part of one ranking, or of one in each shard."""
        return len(self.slugs) <= 1 and not self.hidden and not self.shown

    @property
    def choosing(self) -> UnseenQuery:
        return UnseenQuery(self.start, self.size, self.shown, self.hidden)

    @property
    def behind(self) -> int:
        """How many entries of the list stand before the page."""
        return self.start + len(self.shown)


class Lists:
    """The lists of a store: every one is a ranking, or several merged, cut into pages."""

    def __init__(self, store: Store, hot: Hot) -> None:
        self._store = store
        self._hot = hot

    def get_page(
        self,
        order: Order,
        number: int = 1,
        *,
        slug: str | None = None,
        slugs: Collection[str] = (),
        since: float | None = None,
        span: Span = Span.ALL,
        size: int | None = None,
        reader: UserId | None = None,
        hidden: Collection[str] = (),
        shown: Collection[ArticleId] = (),
    ) -> ArticlePage:
        """Page `number`, counted from 1, highest, newest or hottest first, with the reader's own choices.

        `slug` or `slugs`: only articles of any of these groups, at most `GROUPS_PER_LIST`. `hidden`: none of these
        groups, but for those asked for. `since`, in Unix seconds, keeps to what was posted then or later; for the
        site's hot list only, as `span` is for its points. `shown`, if any: the best of all others, whatever the
        number, and an empty page where there are none. `size` is `Rules.per_page` if not given.

        Two round trips; more when the hot list has to be rescored, and one more when groups are asked for with
        `hidden`, `shown` or others. No page depends on a write: see `open_ranking` in the scripts.
        With shards, see `merging` and `reading_on`.
        Raises GroupNotFound, PageNotFound before the first and beyond the last page, and PageTooDeep beyond
        `MOST_PAGED` articles.
        """
        if number < 1:
            raise PageNotFound(number)
        wanted = (slug,) if slug is not None else tuple(sorted(set(slugs)))
        size = size or self._store.rules.per_page
        if not shown and (number - 1) * size >= MOST_PAGED:
            raise PageTooDeep(number)
        asked = _Asked(
            order,
            wanted,
            since,
            span,
            size,
            start=0 if shown else (number - 1) * size,
            hidden=tuple(name for name in dict.fromkeys(hidden) if name not in wanted),
            shown=tuple(shown),
        )
        read = self._plain_page if asked.is_plain else self._chosen_page
        return read(asked, number, reader)

    def _plain_page(self, asked: _Asked, number: int, reader: UserId | None) -> ArticlePage:
        slug = asked.slugs[0] if asked.slugs else None
        rankings = self._rankings(asked)

        def read() -> Cut:
            return merge_page(self._store, rankings, asked.start, asked.size, slug=slug)

        if asked.order is Order.HOT:
            cut = self._within_the_hot_list(self._hot.fresh(read, lambda found: found.refreshed_at), asked)
        else:
            cut = read()
        if slug is not None and cut.group_title is None:
            raise GroupNotFound(slug, moved_to(self._store, slug))
        if number > 1 and asked.start >= cut.total:
            raise PageNotFound(number)
        group = None if slug is None else Group(slug, cut.group_title or slug, cut.total)
        return self._page_of(cut, asked, number, reader, (group,) if group else ())

    def _chosen_page(self, asked: _Asked, number: int, reader: UserId | None) -> ArticlePage:
        groups, rankings = self._groups(asked.slugs), self._rankings(asked)

        def read() -> tuple[Cut, bool]:
            return read_unseen(self._store, rankings, asked.choosing)

        if asked.order is Order.HOT:
            cut, goes_on = self._hot.fresh(read, lambda found: found[0].refreshed_at)
            goes_on = goes_on and asked.behind + asked.size < self._store.rules.hot_size
            cut = self._within_the_hot_list(cut, asked)
        else:
            cut, goes_on = read()
        if number > 1 and not asked.shown and not cut.entries:
            raise PageNotFound(number)
        if len(groups) == 1:
            groups = (replace(groups[0], articles=cut.total),)
        goes_on = goes_on and bool(asked.shown or asked.start + asked.size < MOST_PAGED)
        page = self._page_of(cut, asked, number, reader, groups)
        return replace(page, shown=len(asked.shown) or None, goes_on=goes_on)

    def _within_the_hot_list(self, cut: Cut, asked: _Asked) -> Cut:
        """Between two scorings a hot list holds more than it shows."""
        most = self._store.rules.hot_size
        return cut._replace(entries=cut.entries[: max(0, most - asked.behind)], total=min(cut.total, most))

    def _page_of(
        self, cut: Cut, asked: _Asked, number: int, reader: UserId | None, groups: tuple[Group, ...]
    ) -> ArticlePage:
        return ArticlePage(
            tuple(self._listed(cut, asked.order, reader)),
            number,
            asked.size,
            cut.total,
            asked.order,
            groups[0] if len(groups) == 1 else None,
            cut.refreshed_at if asked.order is Order.HOT else None,
            groups if len(groups) > 1 else (),
        )

    def _listed(self, cut: Cut, order: Order, reader: UserId | None) -> list[Article]:
        """The articles, but for those removed since the ids were read."""
        listed = [article for article in read_articles(self._store, cut.ids, reader) if article.removed is None]
        if order is not Order.HOT:
            return listed
        values = dict(cut.entries)
        return [replace(article, hotness=values[article.id]) for article in listed]

    def _rankings(self, asked: _Asked) -> Sequence[Ranking]:
        """Every shard's, of each group."""
        if not asked.slugs:
            return site_rankings(self._store, asked.order, asked.span, asked.since)
        return group_rankings(self._store, asked.order, asked.slugs)

    def _groups(self, slugs: Sequence[str]) -> tuple[Group, ...]:
        """One round trip, none for no groups. Raises GroupNotFound for the first that is not there."""
        if not slugs:
            return ()
        with self._store.commands() as client:
            titles = client.hmget(self._store.shards.directory.groups, list(slugs))
        for slug, title in zip(slugs, titles, strict=True):
            if title is None:
                raise GroupNotFound(slug, moved_to(self._store, slug))
        return tuple(Group(slug, title) for slug, title in zip(slugs, titles, strict=True))
