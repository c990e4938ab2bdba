"""What a feed holds: enough for a subscriber who looks in every two days to miss nothing.

docs/feeds.md tells readers the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import GroupNotFound
from articles.domain.lists import Order, Span
from articles.domain.members import UserId
from articles.repository.lists.hot import Hot
from articles.repository.lists.merging import Cut, group_rankings, merge_page, site_rankings
from articles.repository.lists.reading import moved_to, read_articles, sort_key
from articles.repository.lists.standings import Standing, Standings
from articles.repository.search.find import Search
from articles.repository.store.connection import Store
from articles.repository.store.windows import longest_window
from articles.searching import Query

COVERED = 49 * 3600
"""Seconds that feeds go back: two days, and an hour for caches and for polls that come late."""

LEAST_ARTICLES = 30
MOST_ARTICLES = 1000
"""Articles in a feed."""

CANDIDATES = 10_000
"""Articles of a list among which those with enough points are looked for."""

MOST_READ = 2000
"""Articles read at most, so that those in hidden groups do not make a feed cost without end."""

ARTICLES_PER_BATCH = 250
"""Articles read in one round trip: fewer than a whole feed, of which hidden groups may leave out some."""


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """What a subscriber wants to see. `min_points`: None for all; `hidden`: slugs of groups to leave out."""

    min_points: int | None = None
    hidden: tuple[str, ...] = ()

    def showing(self, slugs: Collection[str]) -> "FeedFilter":
        """The same where these groups are asked for: none of them is left out."""
        return replace(self, hidden=tuple(slug for slug in self.hidden if slug not in slugs))

    def admits(self, article: Article) -> bool:
        return (
            article.removed is None
            and (self.min_points is None or article.points >= self.min_points)
            and not any(slug in self.hidden for slug in article.groups)
        )


class Feeds:
    """The articles of every feed, in the order of its list.

    All that were posted since `since()`, and at least `LEAST_ARTICLES`, the first of the list; at most
    `MOST_ARTICLES`. Of the most points the first alone.
    Round trips: candidates, where they stand, the articles (one for the first, one for each `ARTICLES_PER_BATCH`
    more).
    """

    def __init__(self, store: Store, hot: Hot, search: Search, catalogue: Standings) -> None:
        self._store = store
        self._search = search
        self._hot = hot
        self._catalogue = catalogue

    def get_since(self, wish: FeedFilter) -> float:
        """Unix seconds from which on nothing is left out.

        Points come in until voting ends: whatever reached `min_points` within `COVERED` was posted within that and
        the longest voting window, which is one round trip more.
        """
        window = 0.0 if wish.min_points is None else longest_window(self._store)
        return self._store.now() - window - COVERED

    def list_newest(self, wish: FeedFilter) -> list[Article]:
        return self._collect(self._catalogue.list_for(self._ids(Order.TIME, wish)), wish)

    def list_front(self, wish: FeedFilter) -> list[Article]:
        """By score."""
        ids = dict.fromkeys([*self._ids(Order.TIME, wish), *self._ids(Order.SCORE, wish)])
        found = self._catalogue.list_for(list(ids))
        return self._collect(sorted(found, key=lambda one: sort_key(one.score, str(one.id)), reverse=True), wish)

    def list_top(self, span: Span, wish: FeedFilter) -> list[Article]:
        """Most points first: of what was posted within the span the first `LEAST_ARTICLES`, and no more."""
        rankings = site_rankings(self._store, Order.POINTS, span)
        ids = merge_page(self._store, rankings, 0, self._candidates(wish)).ids
        return self._collect(self._catalogue.list_for(ids), wish, since=inf)[:LEAST_ARTICLES]

    def list_hot(self, wish: FeedFilter) -> list[Article]:
        """By hotness. Covers what is on the hot list: articles that nobody has read are not."""
        most = self._store.rules.hot_size
        cut = self._hot.fresh(lambda: self._cut(Order.HOT, most), lambda found: found.refreshed_at)
        return self._collect(self._catalogue.list_for(cut.ids), wish)

    def list_groups(self, slugs: Sequence[str], wish: FeedFilter) -> tuple[Mapping[str, str], list[Article]]:
        """Titles of the groups by slug; the articles in any of them, newest first. Raises GroupNotFound."""
        wish = wish.showing(slugs)
        titles: dict[str, str] = {}
        posted: dict[ArticleId, float] = {}
        for slug in slugs:
            cut = self._cut(Order.TIME, self._candidates(wish), slug)
            if cut.group_title is None:
                raise GroupNotFound(slug, moved_to(self._store, slug))
            titles[slug] = cut.group_title
            posted |= dict(cut.entries)
        ids = sorted(posted, key=lambda one: sort_key(posted[one], str(one)), reverse=True)
        return titles, self._collect(self._catalogue.list_for(ids[: self._candidates(wish)]), wish)

    def list_posted(self, poster: UserId, wish: FeedFilter) -> list[Article]:
        """Newest first."""
        most = self._candidates(wish)
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.zrevrange(keys.posted(poster), 0, most - 1, withscores=True)
            found = [sort_key(at, member) for shard in pipe.execute() for member, at in shard]
        ids = [int(member) for _, member in sorted(found, reverse=True)[:most]]
        return self._collect(self._catalogue.list_for(ids), wish)

    def list_found(self, query: Query, wish: FeedFilter, *, slug: str | None = None) -> list[Article]:
        """What meets all terms, newest first, inside a group if `slug` is given. Raises GroupNotFound.

        Looked for among the newest `MOST_ARTICLES` that meet them and are in no hidden group, whatever their
        points.
        """
        if slug is not None:
            wish = wish.showing([slug])
        ids = self._search.list_newest(query, MOST_ARTICLES, slug=slug, hidden=wish.hidden)
        return self._collect(self._catalogue.list_for(ids), wish)

    def _ids(self, order: Order, wish: FeedFilter) -> list[ArticleId]:
        return self._cut(order, self._candidates(wish)).ids

    @staticmethod
    def _candidates(wish: FeedFilter) -> int:
        return MOST_ARTICLES if wish == FeedFilter() else CANDIDATES

    def _cut(self, order: Order, size: int, slug: str | None = None) -> Cut:
        """The first `size` entries of a list."""
        store = self._store
        rankings = site_rankings(store, order) if slug is None else group_rankings(store, order, [slug])
        return merge_page(store, rankings, 0, size, slug=slug)

    def _collect(
        self, standings: Sequence[Standing], wish: FeedFilter, since: float | None = None
    ) -> list[Article]:
        """The first ones, and all posted `since`, in Unix seconds, as far as the wish admits them."""
        since, found, looked_at = self.get_since(wish) if since is None else since, list[Article](), 0
        waiting = [one for one in standings if wish.min_points is None or one.points >= wish.min_points]
        while waiting and len(found) < MOST_ARTICLES and looked_at < MOST_READ:
            if len(found) >= LEAST_ARTICLES:
                waiting = [one for one in waiting if one.posted_at >= since]
            size = ARTICLES_PER_BATCH if len(found) >= LEAST_ARTICLES else LEAST_ARTICLES
            chunk, waiting = waiting[:size], waiting[size:]
            found += filter(wish.admits, read_articles(self._store, [one.id for one in chunk], None))
            looked_at += len(chunk)
        return found[:MOST_ARTICLES]
