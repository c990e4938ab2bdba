"""The public moderation log: every edit, removal, restoration and change of groups, with its reason."""

import json
import logging
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from math import inf, isqrt
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.errors import PageNotFound, PageTooDeep
from articles.domain.moderation import Action, LogEntry, LogPage
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import Call, Store

MOST_PAGED_ENTRIES = 100_000
"""Entries that can be paged through by number: nothing else leads to the older ones of groups and parameters."""

_LEAST_STEP = 25
"""Entries between two samples of the log, at least."""

_log = logging.getLogger(__name__)


class _Samples(NamedTuple):
    """What is known of one shard's log: its length, and the time of every `step`-th entry, newest first."""

    step: int
    length: int
    times: tuple[float, ...]

    def at_least(self, at: float) -> int:
        """How many entries there surely are as new as that."""
        return self.step * self._sampled(at)

    def at_most(self, at: float) -> int:
        """How many there can be."""
        known = self._sampled(at)
        return self.step * (known + 1) - 1 if known < len(self.times) else self.length

    def _sampled(self, at: float) -> int:
        return bisect_right(self.times, -at, key=lambda time: -time)


class ModerationLog:
    """Reads what the scripts wrote, in the same atomic step as the change itself."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(self, number: int = 1) -> LogPage:
        """Page `number`, counted from 1, newest first. One round trip; two for later ones of several shards.

        Reads from where the page begins. Raises PageNotFound, and PageTooDeep beyond `MOST_PAGED_ENTRIES`.
        """
        size = self._store.rules.per_page
        start = (number - 1) * size
        if start < 0:
            raise PageNotFound(number)
        if start >= MOST_PAGED_ENTRIES:
            raise PageTooDeep(number)
        windows = self._windows(start, start + size + 1)
        with self._store.pipeline() as pipe:
            for keys, (first, last) in zip(self._store.shards.all, windows, strict=True):
                pipe.lrange(keys.log, first, last)
            shards = [list(_dated(texts)) for texts in pipe.execute()]
        newest_first = merge(*shards, key=lambda dated: dated[0], reverse=True)
        begin = start - sum(first for first, _ in windows)
        found = list(islice(newest_first, begin, begin + size + 1))
        if number > 1 and not found:
            raise PageNotFound(number)
        more = len(found) > size and start + size < MOST_PAGED_ENTRIES
        return LogPage(tuple(entry for _, entry in found[:size] if entry), number, has_next=more)

    def _windows(self, start: int, end: int) -> list[tuple[int, int]]:
        """Each shard's first and last place between which lie all entries from `start` to `end` of the whole log.

        What is newer than a window is above `start`. How many there are of a shard is known from samples.
        """
        shards = self._store.shards.all
        if len(shards) == 1 or start == 0:
            return [(start, end - 1)] * len(shards)
        step = max(_LEAST_STEP, isqrt(end))
        replies = self._store.run_many(
            [Call("moderation_log/sample", (keys.log,), (step, end)) for keys in shards]
        )
        logs = [_Samples(step, length, tuple(map(float, times))) for length, *times in replies]
        times = sorted({at for log in logs for at in log.times}, reverse=True)
        # Counts grow from time to time: the last one that is surely above the page, the first surely below it.
        above = bisect_right(times, start, key=lambda at: sum(log.at_most(at) for log in logs))
        below = bisect_left(times, end, key=lambda at: sum(log.at_least(at) for log in logs))
        firsts = [log.at_least(times[above - 1]) if above else 0 for log in logs]
        counts = [min(log.at_most(times[below]), end) if below < len(times) else end for log in logs]
        return [(first, max(0, count - 1)) for first, count in zip(firsts, counts, strict=True)]

    def get_for_article(self, article_id: ArticleId) -> LogPage:
        """The first page of what was done to an article, newest first. One round trip."""
        keys, size = self._store.shards.of(article_id), self._store.rules.per_page
        found = self._store.run("moderation_log/find", [keys.article(article_id), keys.log], [size + 1])
        entries = tuple(entry for _, entry in _dated(found[:size]) if entry)
        return LogPage(entries, 1, has_next=len(found) > size)

    def iterate_by_actor(self, name: str) -> Iterator[LogEntry]:
        """Everything a member did, newest first in each shard."""
        for keys in self._store.shards.all:
            start, found = 0, [""]
            while found:
                with self._store.commands() as client:
                    found = client.lrange(keys.log, start, start + ENTRIES_PER_READ - 1)
                yield from (entry for _, entry in _dated(found) if entry and entry.actor_name == name)
                start += len(found)


def _dated(texts: Iterable[str]) -> Iterator[tuple[float, LogEntry | None]]:
    """The entries with their times; None for a damaged one, so that its page still shows the others."""
    at = inf
    for text in texts:
        try:
            entry = _entry(text)
        except (ValueError, KeyError, TypeError):
            _log.error("an entry of the moderation log cannot be read: %.100s", text)
            yield at, None
        else:
            at = entry.at
            yield at, entry


def _entry(text: str) -> LogEntry:
    raw = json.loads(text)
    return LogEntry(
        action=Action(raw["action"]),
        at=float(raw["at"]),
        actor_name=raw["actor"],
        article_id=int(raw["id"]),
        title=raw["title"],
        reason=raw["reason"],
        details=dict(raw["details"]),
    )
