"""Views of articles: counted views and their visitors, and suspect views, counted separately."""

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from articles.domain.articles import ArticleId
from articles.domain.members import UserId
from articles.domain.readership import DayViews, Suspicion, ViewCount, Visit
from articles.domain.rules import Rules
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, OfStore, Ride, Store, exact_time, riding
from articles.repository.store.keys import Keys
from articles.repository.store.values import count_from, moment_from

DAYS_KEPT = 14  # days (UTC) for which views are kept by day

VISIT_PAUSE_SECONDS = 30 * 60
"""A member who opens the page of an article again within this time is on the same visit."""

_VIEWS_PER_ROUND_TRIP = 500  # scripts in one pipeline, each of which records a view

_DAY = 86400


def views_per_article(rules: Rules) -> int:
    """Return how many views of one article count from a network, of all that do."""
    return rules.views_per_network // 10


class Pageviews(OfStore):
    """The views of a store."""

    def record(
        self, article_id: ArticleId, visit: Visit, member: UserId | None = None, *, by_link: bool = False
    ) -> ViewCount:
        """Record a view, and return the reason if it does not count. One round trip.

        `member`: who opened the article's page, and learns when their visit before ended; with `by_link` the
        article's link.

        Raises ArticleNotFound, ArticleRemoved, and ViewsArchived instead of counting a view of archived counters.
        """
        call = self._call(article_id, visit, self._store.now(), member, by_link=by_link)
        return _count(*self._store.ask(call.script, article_id, call.keys, call.args))

    def recording(
        self, article_id: ArticleId, visit: Visit, member: UserId | None = None
    ) -> AbstractContextManager[Ride[ViewCount]]:
        """Record a view with the exchange that reads the article; it may stay unrecorded: see `Ride.count`."""
        call = self._call(article_id, visit, self._store.now(), member)
        return riding(self._store, [call], lambda replies: _recorded(*replies))

    def record_many(self, views: Sequence[tuple[ArticleId, Visit, float]]) -> list[ViewCount | None]:
        """Record views of given Unix seconds; None for unknown articles. A round trip for each 500."""
        counts: list[ViewCount | None] = []
        for at in range(0, len(views), _VIEWS_PER_ROUND_TRIP):
            calls = [self._call(*view) for view in views[at : at + _VIEWS_PER_ROUND_TRIP]]
            replies = self._store.run_many(calls)
            counts += map(_recorded, replies)
        return counts

    def _call(
        self,
        article_id: ArticleId,
        visit: Visit,
        at: float,
        member: UserId | None = None,
        *,
        by_link: bool = False,
    ) -> Call:
        rules, shards = self._store.rules, self._store.shards
        each = views_per_article(rules)
        keys, is_prefetch = shards.of(article_id), visit.suspicion is Suspicion.PREFETCH
        every = max(
            -(-rules.views_per_network // shards.count), each
        )  # shards have equally many articles, not readers
        return Call(
            "readership/record_view",
            (keys.article(article_id),),
            (
                article_id, visit.visitor, visit.network, visit.suspicion or "", exact_time(at),
                rules.view_repeat, each, every, rules.network_window, rules.hot_size, DAYS_KEPT, keys.prefix,
                VISIT_PAUSE_SECONDS, Keys.visits.life or 0, "1" if by_link else "",
                "" if member is None or is_prefetch else member,
            ),
        )  # fmt: skip

    def get_suspects(self, article_id: ArticleId) -> dict[str, int]:
        """Return suspect views of all time by reason, without archived ones. One round trip."""
        with self._store.commands() as client:
            counts = client.hgetall(self._store.shards.of(article_id).suspects(article_id))
        return {reason: count_from(count) for reason, count in counts.items()}

    def list_days(self, article_id: ArticleId | None = None) -> list[DayViews]:
        """Return the views of each of the last DAYS_KEPT days, of an article or of the site, oldest first.

        An article's visitors are those new on the day, so that they add up. The site's visitors are all of the
        day, whichever articles they viewed, estimated. One round trip for an article, two for the site.
        """
        today = int(self._store.now() // _DAY)
        days = range(today - DAYS_KEPT + 1, today + 1)
        if article_id is not None:
            return _days(self._store, [self._store.shards.of(article_id).days(article_id)], days)
        views = _days(self._store, [keys.days() for keys in self._store.shards.all], days)
        return [replace(day, visitors=uv) for day, uv in zip(views, self._visitors(days), strict=True)]

    def _visitors(self, days: range) -> list[int]:
        shards = self._store.shards.all
        if self._store.is_cluster:
            return self._visitors_on_cluster(days)
        with self._store.pipeline() as pipe:
            for day in days:
                pipe.pfcount(*(keys.visitors_of_day(day) for keys in shards))
            counts = pipe.execute()
        return list(map(int, counts))

    def _visitors_on_cluster(self, days: range) -> list[int]:
        """Return each day's visitors: a server counts the sketches of all shards once they are in one of them.

        They are kept there for a minute, as days of 1970. Two round trips, with up to 12 KB for each day and
        shard.
        """
        shards, directory = self._store.shards.all, self._store.shards.directory
        with self._store.pipeline() as pipe:
            for day in days:
                for keys in shards:
                    pipe.execute_command("GET", keys.visitors_of_day(day), NEVER_DECODE=[])  # type: ignore[no-untyped-call]
            replies = pipe.execute()
        copies = [directory.visitors_of_day(number) for number in range(len(shards))]
        with self._store.commands() as client, client.pipeline(transaction=True) as pipe:
            for n in range(len(days)):
                sketches = replies[n * len(shards) : (n + 1) * len(shards)]
                for copy, sketch in zip(copies, sketches, strict=True):
                    if isinstance(sketch, bytes):
                        pipe.set(copy, sketch, ex=60)
                    else:
                        pipe.unlink(copy)
                pipe.pfcount(*copies)
            counts = pipe.execute()[len(shards) :: len(shards) + 1]
        return list(map(int, counts))

    def get_salt(self, day: int) -> str:
        """Return the random salt for the digests of a day's visitors; `day` counts from 1970, UTC.

        The salt is the same for all processes and expires after two days. One round trip.
        """
        salt = None
        while salt is None:  # an existing one may expire before it is read
            with self._store.pipeline() as pipe:
                pipe.set(names.salt(day), secrets.token_hex(16), nx=True, ex=2 * _DAY)
                pipe.get(names.salt(day))
                _, salt = pipe.execute()
        return str(salt)


def _recorded(reply: Any) -> ViewCount | None:
    """Return the count in a reply; None for a view that was not recorded."""
    return _count(*reply) if isinstance(reply, list) and len(reply) > 1 else None


def _count(status: str, pv: int, uv: int, hotness: str, visited: str) -> ViewCount:
    return ViewCount(None if status == "ok" else status, pv, uv, float(hotness), moment_from(visited))


def _days(store: Store, day_keys: Sequence[str], days: range) -> list[DayViews]:
    with store.pipeline() as pipe:
        for key in day_keys:
            pipe.hgetall(key)
        hashes = pipe.execute()

    def total(day: int, kind: str) -> int:
        return sum(count_from(counts.get(f"{day}:{kind}", 0)) for counts in hashes)

    return [
        DayViews(
            _date(day),
            total(day, "counted"),
            total(day, "visitors"),
            {reason.value: count for reason in Suspicion if (count := total(day, reason.value))},
        )
        for day in days
    ]


def _date(day: int) -> date:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).date()
