"""Voting rings: the articles flagged for moderators, and their checks. Votes flag them: see `votes/cast`."""

from heapq import merge
from operator import itemgetter
from typing import NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import PageNotFound
from articles.domain.moderation.log import Actor
from articles.repository.lists.reading import read_articles
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.values import article_id_from


class RingPage(NamedTuple):
    """One page of the flagged articles, newest vote of a ring first."""

    articles: tuple[Article, ...]
    number: int
    has_next: bool


class VotingRings:
    """The voting rings of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def count(self) -> int:
        """Return the number of flagged articles. One round trip."""
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.zcard(keys.rings)
            return sum(pipe.execute())

    def get_page(self, number: int = 1) -> RingPage:
        """Return page `number` of the flagged articles, counted from 1. Two round trips. Raises PageNotFound."""
        size = self._store.rules.per_page
        start = (number - 1) * size
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                pipe.zrevrange(keys.rings, 0, start + size, withscores=True)
            shards = pipe.execute()
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
