"""Pages of lists of articles in any order: of the whole site, of groups, or of followed groups.

Each followed group has its share: `followed_place` of the domain says how.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from math import inf
from typing import NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import GroupNotFound, PageNotFound, PageTooDeep
from articles.domain.lists import (
    MOST_FOLLOWED_PAGED,
    MOST_PAGED,
    ArticlePage,
    Group,
    Order,
    Period,
    Position,
    closed_groups,
)
from articles.domain.members import UserId
from articles.domain.ranking import SHARE, followed_place
from articles.repository.lists import gathering
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import moved_to, read_articles, sort_key, stale_if_whole
from articles.repository.store.connection import OfStore, Store
from articles.repository.store.values import article_id_from
from articles.text.searching import NOTHING, Hiding


class PageWindow(NamedTuple):
    """The entries of page `number`, counted from 1, in a list whose first `most` entries can be paged through."""

    number: int
    size: int
    most: int

    @property
    def start(self) -> int:
        """Number of entries before the page."""
        return (self.number - 1) * self.size

    @property
    def end(self) -> int:
        """Number of entries up to the end of the page."""
        return self.start + self.size

    def check_entries(self, entries: Sized) -> None:
        """Raise PageNotFound if there are no entries from `start` on, unless this is the first page."""
        if self.number > 1 and not entries:
            raise PageNotFound(self.number)

    def has_next(self, read: int) -> bool:
        """Return whether there is a next page, given how many entries were read from `start` on."""
        return read > self.size and self.end < self.most


def page_window(number: int, size: int, most: int, after: Position | None = None) -> PageWindow:
    """Return the place of a page; that of a first one for a page `after` a position, whatever the number.

    Raises PageNotFound before the first, and PageTooDeep beyond `most` entries.
    """
    window = PageWindow(number if after is None else 1, size, most)
    if window.number < 1:
        raise PageNotFound(number)
    if window.start >= most:
        raise PageTooDeep(number)
    return window


def read_window(
    store: Store, names: Sequence[str], window: PageWindow, after: Position | None
) -> list[tuple[str, float]]:
    """Return the entries of a page of lists by time, newest first, each with its time, and the next one.

    `after`: if given, those that follow this position instead, wherever it is. One round trip; more if many
    entries have the time of the position.
    """
    if after is not None:
        return _read_after(store, names, after, window.size + 1)
    first = window.start if len(names) == 1 else 0  # of several, the number of entries before it is unknown
    with store.pipeline() as pipe:
        for name in names:
            pipe.zrevrange(name, first, window.end, withscores=True)
        entries = newest_first(pipe.execute())
    return list(islice(entries, window.start - first, window.end - first + 1))


def _read_after(store: Store, names: Sequence[str], after: Position, most: int) -> list[tuple[str, float]]:
    position, wanted = sort_key(*after), most
    while True:
        with store.pipeline() as pipe:
            for name in names:
                pipe.zrevrangebyscore(name, repr(after[0]), "-inf", start=0, num=wanted, withscores=True)
            replies = pipe.execute()
        following = [[one for one in entries if sort_key(one[1], one[0]) < position] for entries in replies]
        if all(len(all_) < wanted or len(found) >= most for all_, found in zip(replies, following, strict=True)):
            return list(islice(newest_first(following), most))
        wanted *= 4


def newest_first(lists: Iterable[Iterable[tuple[str, float]]]) -> Iterator[tuple[str, float]]:
    """Merge lists by time that are each ordered newest first."""
    return merge(*lists, key=lambda entry: sort_key(entry[1], entry[0]), reverse=True)


def position_of(entries: Sequence[tuple[str, float]]) -> Position | None:
    """Return the position of the last of these entries; None without any."""
    return (entries[-1][1], entries[-1][0]) if entries else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageQuery(gathering.UnseenQuery):
    """The requested list, and the page's position in it."""

    order: Order
    since: float | None
    period: Period
    number: int

    @property
    def is_plain(self) -> bool:
        """Whether the page is a part of one ranking per shard."""
        return len(self.slugs) <= 1 and not self.hidden and not self.goes_on

    @property
    def goes_on(self) -> bool:
        """Whether the page follows others that the reader has, whatever its number."""
        return bool(self.shown) or self.after is not None

    @property
    def may_be_stale(self) -> bool:
        """Whether replicas can serve the page: not if a read may make or rescore its ranking."""
        return self.order is not Order.HOT and not self.slugs and self.period is Period.ALL

    @property
    def preceding(self) -> int:
        """Number of entries of the list before the page."""
        return self.start + len(self.shown)


class Lists(OfStore):
    """The lists of a store. Each is a ranking, or several merged ones, in pages."""

    def get_page(
        self,
        order: Order,
        number: int = 1,
        *,
        slug: str | None = None,
        slugs: Collection[str] = (),
        since: float | None = None,
        period: Period = Period.ALL,
        size: int | None = None,
        reader: UserId | None = None,
        hidden: Hiding = NOTHING,
        shown: Collection[ArticleId] = (),
        after: Position | None = None,
        with_visitors: bool = True,
    ) -> ArticlePage:
        """Return page `number`, counted from 1, highest, newest or hottest first, with the reader's own choices.

        `slug` or `slugs`: only articles in any of these groups, at most `GROUPS_PER_LIST`. `hidden`: without what
        these hide, except requested groups. `since` (Unix seconds): only articles posted then or
        later, for the site's hot list only. `period`: the same for the site's list by points only. `shown`: if
        given, the page holds the best articles that are not among these, whatever the number, and is empty if
        there are none. `after`: likewise, those that follow this position; for lists by time, which never change.
        `size`: by default `Rules.per_page`. `with_visitors`: see `read_articles`.

        One round trip with one shard, else two; more if the hot list has to be rescored, or if `hidden` hides many
        articles by titles or links. No page depends on a write: see `open_ranking` in the scripts. For
        several shards see `merging` and `unseen`. Raises GroupNotFound, PageNotFound before the first and beyond
        the last page, and PageTooDeep beyond `MOST_PAGED` articles.
        """
        size = size or self._store.rules.per_page
        page = page_window(1 if shown else number, size, MOST_PAGED, after)
        groups = (slug,) if slug is not None else tuple(sorted(set(slugs)))
        closed = closed_groups()
        for one in closed.intersection(groups):
            raise GroupNotFound(one, None)
        query = _PageQuery(
            page.start,
            size,
            tuple(shown),
            hidden.showing(groups).and_groups(closed),
            after,
            groups,
            reader,
            with_visitors,
            order=order,
            since=since,
            period=period,
            number=number,
        )
        return self._plain_page(query) if query.is_plain else self._unseen_page(query)

    def _plain_page(self, query: _PageQuery) -> ArticlePage:
        slug = query.slugs[0] if query.slugs else None
        rankings = self._rankings(query)

        def read() -> gathering.Cut:
            return stale_if_whole(
                lambda is_stale: gathering.read_page(self._store, rankings, query, may_be_stale=is_stale),
                may_be_stale=query.reader is None and query.may_be_stale,
            )

        if query.order is Order.HOT:
            cut = self._within_the_hot_list(Hot(self._store).fresh(read, lambda cut: cut.refreshed_at), query)
        else:
            cut = read()
        if slug is not None and cut.group_title is None:
            raise GroupNotFound(slug, moved_to(self._store, slug))
        if query.number > 1 and query.start >= cut.total:
            raise PageNotFound(query.number)
        groups = [Group(slug, cut.group_title or slug, cut.total, cut.description) for slug in query.slugs]
        return self._page_of(cut, query, groups)

    def _unseen_page(self, query: _PageQuery) -> ArticlePage:
        rankings = self._rankings(query)

        def read() -> gathering.UnseenCut:
            return gathering.read_unseen(self._store, rankings, query)

        if query.order is Order.HOT:
            found = Hot(self._store).fresh(read, lambda page: page.cut.refreshed_at)
            goes_on = found.goes_on and query.preceding + query.size < self._store.rules.hot_size
            cut = self._within_the_hot_list(found.cut, query)
        else:
            found = read()
            cut, goes_on = found.cut, found.goes_on
        groups = self._groups(query.slugs, found)
        if query.number > 1 and not query.goes_on and not cut.entries:
            raise PageNotFound(query.number)
        goes_on = goes_on and (query.goes_on or query.start + query.size < MOST_PAGED)
        page = self._page_of(cut, query, groups)
        return replace(page, shown=len(query.shown) or None, goes_on=goes_on, hidden=found.hidden)

    def _within_the_hot_list(self, cut: gathering.Cut, query: _PageQuery) -> gathering.Cut:
        """Cut to the size of the hot list, which holds more entries between two rescores."""
        most = self._store.rules.hot_size
        return cut._replace(entries=cut.entries[: max(0, most - query.preceding)], total=min(cut.total, most))

    def _page_of(self, cut: gathering.Cut, query: _PageQuery, groups: Sequence[Group]) -> ArticlePage:
        ids = tuple(cut.ids)
        return ArticlePage(
            tuple(self._listed(cut, ids, query)),
            query.number,
            query.size,
            cut.total,
            query.order,
            groups[0] if len(groups) == 1 else None,
            cut.refreshed_at if query.order is Order.HOT else None,
            tuple(groups) if len(groups) > 1 else (),
            ids=ids,
            last=(cut.entries[-1][1], str(cut.entries[-1][0])) if cut.entries else None,
        )

    def _listed(self, cut: gathering.Cut, ids: Sequence[ArticleId], query: _PageQuery) -> list[Article]:
        """Return the articles, without those removed since the ids were read."""
        known = dict(cut.articles or {})
        if missing := [article_id for article_id in ids if article_id not in known]:
            read = read_articles(
                self._store,
                missing,
                query.reader,
                with_visitors=query.with_visitors,
                may_be_stale=query.may_be_stale,
            )
            known |= {article.id: article for article in read}
        found = [known[article_id] for article_id in ids if article_id in known]
        listed = [article for article in found if article.removed is None]
        if query.order is not Order.HOT:
            return listed
        values = dict(cut.entries)
        return [replace(article, hotness=values[article.id]) for article in listed]

    def _rankings(self, query: _PageQuery) -> Sequence[gathering.Ranking]:
        """Return every shard's rankings, of the site or of each group."""
        if not query.slugs:
            return gathering.site_rankings(self._store, query.order, query.period, query.since)
        return gathering.group_rankings(self._store, query.order, query.slugs)

    def _groups(self, slugs: Sequence[str], found: gathering.UnseenCut) -> list[Group]:
        """Return the groups of a page. Raises GroupNotFound."""
        groups, articles = list[Group](), found.cut.total if len(slugs) == 1 else 0
        for slug, title in zip(slugs, found.titles, strict=True):
            if title is None:
                raise GroupNotFound(slug, moved_to(self._store, slug))
            groups.append(Group(slug, title, articles, found.cut.description))
        return groups


class Following(OfStore):
    """The lists of a store's followed groups."""

    def get_page(
        self,
        slugs: Sequence[str],
        number: int = 1,
        *,
        size: int | None = None,
        reader: UserId | None = None,
        hidden: Hiding = NOTHING,
        seen: Collection[ArticleId] = (),
    ) -> ArticlePage:
        """Return page `number`, counted from 1, of the articles in these groups, without hidden ones.

        `seen`: if given, the page has the first articles that are not among these, whatever the number. Groups
        that do not exist are empty. Two round trips; none without groups. Raises PageNotFound before the first and
        beyond the last page, and PageTooDeep beyond MOST_FOLLOWED_PAGED articles.
        """
        size = size or self._store.rules.per_page
        page = page_window(1 if seen else number, size, MOST_FOLLOWED_PAGED - len(seen))
        groups = tuple(dict.fromkeys(slugs))
        places, hidden_places = _places_in(self._store, groups, page.end + len(seen), hidden.showing(groups))
        ids = sorted(places, key=lambda article_id: (places[article_id], -article_id))
        unseen = [article_id for article_id in ids if article_id not in seen][page.start :]
        page.check_entries(unseen)
        shown = tuple(unseen[:size])
        top = places[unseen[0]] if unseen and (page.start or seen) else -inf
        bottom = places[unseen[size]] if len(unseen) > size else inf
        articles = read_articles(self._store, shown, reader)
        return ArticlePage(
            tuple(article for article in articles if article.removed is None),
            number,
            size,
            len(ids),
            Order.SCORE,
            goes_on=page.has_next(len(unseen)),
            ids=shown,
            hidden=sum(top <= place < bottom for place in hidden_places.values()),
        )


def _places_in(
    store: Store, groups: Sequence[str], wanted: int, hidden: Hiding
) -> tuple[dict[ArticleId, float], dict[ArticleId, float]]:
    """Return the places of the first articles, more than `wanted`, if there are more; and of those left out.

    An article of several groups has the first of its places. No group has more than `wanted` places. One round
    trip, none without groups, more if titles or links hide many.
    """
    if not groups:
        return {}, {}
    rankings = gathering.group_rankings(store, Order.SCORE, groups)
    each, _ = gathering.read_each(store, rankings, gathering.UnseenQuery(0, max(wanted, SHARE), hidden=hidden))
    scores = defaultdict[str, list[tuple[float, ArticleId]]](list)
    passed = defaultdict[str, list[tuple[float, ArticleId]]](list)
    for n, one in enumerate(each):
        slug = groups[n % len(groups)]
        scores[slug] += [(score, article_id_from(member)) for member, score in one.entries]
        passed[slug] += [(score, article_id_from(member)) for member, score in one.hidden.items()]
    ranked = {slug: sorted(entries, reverse=True) for slug, entries in scores.items() if entries}
    leading = max((entries[0][0] for entries in ranked.values()), default=0.0)
    places, hidden_places = dict[ArticleId, float](), dict[ArticleId, float]()
    for slug, entries in ranked.items():
        best, last = entries[0][0], entries[:SHARE][-1][0]
        for found, those in ((entries, places), (passed[slug], hidden_places)):
            for score, article_id in found:
                place = followed_place(score, best=best, last=last, leading=leading)
                those[article_id] = min(place, those.get(article_id, place))
    return places, hidden_places
