"""The contents of feeds: enough that a subscriber who polls every two days misses nothing.

docs/feeds.md describes them to readers.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import GroupNotFound
from articles.domain.lists import Order, Period, closed_groups
from articles.domain.members import UserId
from articles.domain.ranking import ONE_POINT
from articles.repository.lists.gathering import Cut, gather_page, group_rankings, site_rankings
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import moved_to, read_articles, readable, sort_key, stale_if_whole
from articles.repository.store.connection import OfStore, Store
from articles.repository.store.keys import Keys
from articles.repository.store.values import article_id_from
from articles.text.searching import NOTHING, Hiding

COVERED = 49 * 3600  # seconds that feeds cover: two days, plus an hour for caches and late polls

LEAST_ARTICLES = 30
MOST_ARTICLES = 1000  # minimum and maximum number of articles in a feed
CANDIDATES = 10_000  # articles of a list that are searched for those with enough points
MOST_READ = 2000  # maximum number of articles read, which limits the cost of a feed that hides many
MOST_TEXT_BYTES = 200_000  # size of all texts of a feed, in UTF-8; further articles are without theirs
ARTICLES_PER_BATCH = 250  # articles read in one round trip: fewer than a whole feed, because some may be hidden


STANDINGS_PER_READ = 5000  # articles read in one round trip


@dataclass(frozen=True, slots=True)
class Standing:
    """A listed article's numbers. `posted_at` and `score` in Unix seconds. Thousands of them are cheap to read."""

    id: ArticleId
    posted_at: float
    score: float
    points: int


class Standings(OfStore):
    """The standings of a store's listed articles."""

    def list_for(self, ids: Sequence[ArticleId]) -> list[Standing]:
        """Return standings in the order of `ids`, of listed articles. A round trip a `STANDINGS_PER_READ`."""
        standings: dict[ArticleId, Standing] = {}
        for at in range(0, len(ids), STANDINGS_PER_READ):
            standings |= {
                standing.id: standing for standing in self._list_batch(ids[at : at + STANDINGS_PER_READ])
            }
        return [standings[article_id] for article_id in ids if article_id in standings]

    def _list_batch(self, ids: Sequence[ArticleId]) -> Iterator[Standing]:
        known = readable(self._store, ids)
        by_shard = self._store.shards.split([one for one in ids if one in known] if closed_groups() else ids)
        for numbers, (times, scores, points) in zip(by_shard.values(), self._read(by_shard), strict=True):
            for article_id, *facts in zip(numbers, times, scores, points, strict=True):
                if None not in facts and all(map(isfinite, facts)):
                    posted_at, score, count = facts
                    yield Standing(article_id, posted_at, score, int(count // ONE_POINT))

    def _read(self, by_shard: Mapping[Keys, list[ArticleId]]) -> list[Any]:
        """Return for each shard the posting times, scores and points; None for unlisted articles."""
        orders = (Order.TIME, Order.SCORE, Order.POINTS)
        with self._store.pipeline() as pipe:
            for keys, numbers in by_shard.items():
                for order in orders:
                    pipe.zmscore(keys.order(order), list(map(str, numbers)))
            replies: list[Any] = pipe.execute()
        return [replies[at : at + len(orders)] for at in range(0, len(replies), len(orders))]


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """A subscriber's filter. `min_points`: None for no minimum; `hidden`: what to leave out."""

    min_points: int | None = None
    hidden: Hiding = NOTHING

    def showing(self, slugs: Collection[str]) -> "FeedFilter":
        """Return the filter for a feed of these groups: none of them is hidden."""
        return replace(self, hidden=self.hidden.showing(slugs))

    def admits(self, article: Article) -> bool:
        """Return whether an article, which must also be listed, passes the filter."""
        return (
            article.removed is None
            and (self.min_points is None or article.ranked_points >= self.min_points)
            and not self.hidden.hides(article)
        )


class Feeds(OfStore):
    """The articles of every feed, in the order of its list.

    A feed holds all articles posted since `get_since`: at least the first `LEAST_ARTICLES` and at most
    `MOST_ARTICLES` of its list; the feed by points holds only the first `LEAST_ARTICLES`.

    Round trips: one or more for the candidates, one for their standings, one for the first articles and one for
    each `ARTICLES_PER_BATCH` more; one more if the filter has `min_points`, and one if articles have texts.
    """

    def get_since(self, feed_filter: FeedFilter) -> float:
        """Return the posting time, in Unix seconds, from which on the feed is complete.

        Articles gain points until voting ends: those that reached `min_points` within `COVERED` were posted within
        `COVERED` plus the longest voting window. One round trip with `min_points`, else none.
        """
        window = 0.0 if feed_filter.min_points is None else _longest_window(self._store)
        return self._store.now() - window - COVERED

    def list_in(self, order: Order, feed_filter: FeedFilter) -> list[Article]:
        """Return the articles of the feed of the whole site in this order; by points, of all time."""
        match order:
            case Order.SCORE:
                return self._list_front(feed_filter)
            case Order.HOT:
                return self._list_hot(feed_filter)
            case Order.POINTS:
                return self.list_top(Period.ALL, feed_filter)
            case _:
                return self.list_found(self._ids(order, feed_filter), feed_filter)

    def _list_front(self, feed_filter: FeedFilter) -> list[Article]:
        """Return the articles of the front page's feed, highest score first."""
        ids = dict.fromkeys([*self._ids(Order.TIME, feed_filter), *self._ids(Order.SCORE, feed_filter)])
        standings = Standings(self._store).list_for(list(ids))
        standings.sort(key=lambda standing: sort_key(standing.score, str(standing.id)), reverse=True)
        return self._collect(standings, feed_filter)

    def list_top(self, period: Period, feed_filter: FeedFilter) -> list[Article]:
        """Return the first `LEAST_ARTICLES` articles by points of those posted within the period."""
        rankings = site_rankings(self._store, Order.POINTS, period)
        ids = gather_page(self._store, rankings, 0, self._candidates(feed_filter)).ids
        return self._collect(Standings(self._store).list_for(ids), feed_filter, since=inf)[:LEAST_ARTICLES]

    def _list_hot(self, feed_filter: FeedFilter) -> list[Article]:
        """Return the articles of the hot list's feed, hottest first. That list has no articles without views."""
        most = self._store.rules.hot_size
        cut = Hot(self._store).fresh(lambda: self._cut(Order.HOT, most), lambda cut: cut.refreshed_at)
        return self.list_found(cut.ids, feed_filter)

    def list_groups(
        self, slugs: Sequence[str], feed_filter: FeedFilter
    ) -> tuple[Mapping[str, str], list[Article]]:
        """Return titles by slug, and the articles in any group, newest first. Raises GroupNotFound."""
        feed_filter = feed_filter.showing(slugs)
        titles: dict[str, str] = {}
        posted: dict[ArticleId, float] = {}
        for slug in slugs:
            if slug in closed_groups():
                raise GroupNotFound(slug, None)
            cut = self._cut(Order.TIME, self._candidates(feed_filter), slug)
            if cut.group_title is None:
                raise GroupNotFound(slug, moved_to(self._store, slug))
            titles[slug] = cut.group_title
            posted |= dict(cut.entries)
        ids = sorted(posted, key=lambda article_id: sort_key(posted[article_id], str(article_id)), reverse=True)
        return titles, self.list_found(ids[: self._candidates(feed_filter)], feed_filter)

    def list_posted(self, poster: UserId, feed_filter: FeedFilter) -> list[Article]:
        """Return the articles of a member's feed, newest first."""
        most = self._candidates(feed_filter)
        replies = self._store.in_shards(
            lambda pipe, keys: pipe.zrevrange(keys.posted(poster), 0, most - 1, withscores=True)
        )
        entries = [sort_key(at, member) for shard in replies for member, at in shard]
        ids = [article_id_from(member) for _, member in sorted(entries, reverse=True)[:most]]
        return self.list_found(ids, feed_filter)

    def list_found(self, ids: Sequence[ArticleId], feed_filter: FeedFilter) -> list[Article]:
        """Return the feed of these articles, in this order, such as those that a search found."""
        return self._collect(Standings(self._store).list_for(ids), feed_filter)

    def _ids(self, order: Order, feed_filter: FeedFilter) -> list[ArticleId]:
        return self._cut(order, self._candidates(feed_filter)).ids

    @staticmethod
    def _candidates(feed_filter: FeedFilter) -> int:
        return MOST_ARTICLES if feed_filter == FeedFilter() and not closed_groups() else CANDIDATES

    def _cut(self, order: Order, size: int, slug: str | None = None) -> Cut:
        """Return the first `size` entries of a list."""
        store = self._store
        rankings = site_rankings(store, order) if slug is None else group_rankings(store, order, [slug])
        may_be_stale = slug is None and order is not Order.HOT
        return stale_if_whole(
            lambda is_stale: gather_page(store, rankings, 0, size, slug=slug, may_be_stale=is_stale),
            may_be_stale=may_be_stale,
        )

    def _collect(
        self, standings: Sequence[Standing], feed_filter: FeedFilter, since: float | None = None
    ) -> list[Article]:
        """Read the articles of a feed, the first ones with their texts."""
        articles = self._read(standings, feed_filter, since)
        wanted, left = list[ArticleId](), MOST_TEXT_BYTES
        for article in articles:
            if 0 < article.text_bytes <= left:
                wanted.append(article.id)
                left -= article.text_bytes
        if not wanted:
            return articles
        read = read_articles(self._store, wanted, None, with_html=True, may_be_stale=True)
        texts = {article.id: (article.text, article.html) for article in read if article.removed is None}
        found = ((article, *texts.get(article.id, ("", ""))) for article in articles)
        return [replace(article, text=text, html=html) for article, text, html in found]

    def _read(self, standings: Sequence[Standing], feed_filter: FeedFilter, since: float | None) -> list[Article]:
        """Read the first articles and all posted `since`, in Unix seconds, that the filter admits."""
        since, articles, done = self.get_since(feed_filter) if since is None else since, list[Article](), 0
        least = feed_filter.min_points
        waiting = [standing for standing in standings if least is None or standing.points >= least]
        while waiting and len(articles) < MOST_ARTICLES and done < MOST_READ:
            if len(articles) >= LEAST_ARTICLES:
                waiting = [standing for standing in waiting if standing.posted_at >= since]
            size = ARTICLES_PER_BATCH if len(articles) >= LEAST_ARTICLES else LEAST_ARTICLES
            batch, waiting = waiting[:size], waiting[size:]
            ids = [standing.id for standing in batch]
            articles += filter(feed_filter.admits, read_articles(self._store, ids, None, may_be_stale=True))
            done += len(batch)
        return articles[:MOST_ARTICLES]


def _longest_window(store: Store) -> float:
    """Return the longest voting window, in seconds, of any article, whatever is configured now. One round trip."""
    replies = store.in_shards(lambda pipe, keys: pipe.hget(keys.ranking, "longest_window"))
    windows = [float(window) for window in replies if window]
    return max(windows, default=store.rules.voting_window)
