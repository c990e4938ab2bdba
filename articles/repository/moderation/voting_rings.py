"""Voting rings: articles that votes flag for moderators, see `votes/cast`."""

from heapq import merge
from operator import itemgetter
from typing import NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import PageNotFound
from articles.domain.moderation_log import Actor
from articles.repository.lists.reading import read_articles
from articles.repository.store.connection import OfStore, Value, exact_time
from articles.repository.store.values import article_id_from


class RingPage(NamedTuple):
    """One page of the flagged articles, newest vote of a ring first."""

    articles: tuple[Article, ...]
    number: int
    has_next: bool


class VotingRings(OfStore):
    def count(self) -> int:
        """Return the number of flagged articles. One round trip."""
        return sum(self._store.in_shards(lambda pipe, keys: pipe.zcard(keys.rings)))

    def get_page(self, number: int = 1) -> RingPage:
        """Return page `number` of the flagged articles, counted from 1. Two round trips. Raises PageNotFound."""
        size = self._store.rules.per_page
        start = (number - 1) * size
        shards = self._store.in_shards(
            lambda pipe, keys: pipe.zrevrange(keys.rings, 0, start + size, withscores=True)
        )
        members = [member for member, _ in merge(*shards, key=itemgetter(1), reverse=True)][start:]
        if number > 1 and not members:
            raise PageNotFound(number)
        articles = read_articles(self._store, [article_id_from(member) for member in members[:size]], None)
        flagged = tuple(article for article in articles if article.ring and article.removed is None)
        return RingPage(flagged, number, has_next=len(members) > size)

    def check(self, article_id: ArticleId, seen: float, moderator: Actor) -> None:
        """Take the flag off an article until its ring has grown by as many accounts as flagged it. Idempotent.

        `seen`: the time of the last vote of the ring that the moderator saw, in Unix seconds. A ring that began
        later keeps its flag. One round trip. Raises ArticleNotFound.
        """
        store, keys = self._store, self._store.shards.of(article_id)
        times: list[Value] = [exact_time(seen), exact_time(store.now())]
        arguments: list[Value] = [article_id, *times, keys.prefix, moderator.name]
        store.change("voting_rings/check", article_id, [keys.article(article_id), keys.rings], arguments)
