"""Refreshing an open page: the counts and the order of its articles, and the number of newer articles."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Order, PageRefresh, value_of
from articles.domain.members import UserId
from articles.repository.lists.reading import read_articles, sort_key
from articles.repository.store.connection import OfStore, exact_time
from articles.repository.store.values import article_id_from
from articles.text.searching import NOTHING, Hiding

MOST_NEW = 50  # maximum number of new articles that are counted


class Refreshes(OfStore):
    """The refreshes of open pages."""

    def get(
        self,
        ids: Sequence[ArticleId],
        *,
        order: Order | None = None,
        since: float | None = None,
        slugs: Collection[str] = (),
        hidden: Hiding = NOTHING,
        reader: UserId | None = None,
    ) -> PageRefresh:
        """Return a page's articles with their current counts, in their current order.

        Without `order`, or by time, which never changes, they keep the given order; unknown ids are left out.
        Other listed articles posted at `since` (Unix seconds) or later count as new, if they are in one of
        `slugs`, if any, not hidden except by `slugs`, and not the reader's own. Two round trips; one without
        `since` and hotness.
        """
        hotness, later = self._read_rankings(ids, order, since)
        current = read_articles(self._store, [*ids, *later[: MOST_NEW + 1]], reader)
        on_page, candidates = set(ids), {article.id: article for article in current if article.id in later}
        hidden = hidden.showing(slugs)
        new = [
            article
            for article in candidates.values()
            if article.poster != reader and _belongs(article, slugs) and not hidden.hides(article)
        ]
        articles = [article for article in current if article.id in on_page]
        if order is not None and order is not Order.TIME:
            articles = [replace(article, hotness=hotness.get(article.id)) for article in articles]
            articles.sort(key=lambda article: sort_key(value_of(article, order), str(article.id)), reverse=True)
        return PageRefresh(tuple(articles), min(len(new), MOST_NEW), len(later) > MOST_NEW)

    def _read_rankings(
        self, ids: Sequence[ArticleId], order: Order | None, since: float | None
    ) -> tuple[Mapping[ArticleId, float], Sequence[ArticleId]]:
        """Return the articles' hotness, for hot lists only, and the newest articles posted after the page."""
        if since is None and order is not Order.HOT:
            return {}, ()
        shards, hot_ids = self._store.shards, ids if order is Order.HOT else ()
        with self._store.pipeline() as pipe:
            for article_id in hot_ids:
                pipe.zscore(shards.of(article_id).order(Order.HOT), str(article_id))
            for keys in shards.all if since is not None else ():
                least, most = exact_time(since or 0), len(ids) + MOST_NEW + 1
                pipe.zrevrangebyscore(keys.order(Order.TIME), "+inf", least, start=0, num=most)
            replies = pipe.execute()
        hotness = {number: value or 0.0 for number, value in zip(hot_ids, replies, strict=False)}
        known = set(ids)
        later = [article_id_from(member) for members in replies[len(hot_ids) :] for member in members]
        return hotness, [number for number in later if number not in known]


def _belongs(article: Article, slugs: Collection[str]) -> bool:
    """Return whether a new article belongs to the list."""
    return article.removed is None and (not slugs or not set(slugs).isdisjoint(article.groups))
