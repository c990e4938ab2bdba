"""The public moderation log: every edit, removal, restoration and change of groups, with its reason."""

import json
import logging
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from math import inf, isqrt
from operator import attrgetter, itemgetter
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.errors import PageNotFound
from articles.domain.flags import SubjectId
from articles.domain.lists import closed_groups
from articles.domain.moderation_log import Action, Actor, LogEntry, LogFilter, LogPage, action_from
from articles.domain.reasons import recorded
from articles.repository.lists.pages import page_window
from articles.repository.lists.reading import readable, split_groups
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import Call, OfStore, Value, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.values import naming

MOST_PAGED_ENTRIES = 100_000
"""Entries that can be paged through by number, the only way to reach older entries on groups and parameters."""

_MOST_VISIBLE = 5_000  # the same where some groups are closed: then the entries before a page are read
RETRY_SECONDS = 600
"""Time in which the same action on a member or a host, logged again, is a retry whose first reply was lost."""

ENTRIES_SEARCHED = 1_000  # entries that a filter looks at for one page: reading them takes about ten milliseconds
_LEAST_STEP = 25  # minimum number of entries between two samples of the log

_COMMENT = re.compile("[0-9]{1,20}")

_log = logging.getLogger(__name__)


class _Samples(NamedTuple):
    """Samples of one shard's log: its length, and the time of every `step`-th entry, newest first."""

    step: int
    length: int
    times: tuple[float, ...]

    def at_least(self, at: float) -> int:
        """Return a lower limit for the number of entries at least as new as `at`."""
        return self.step * self._sampled(at)

    def at_most(self, at: float) -> int:
        """Return an upper limit for the number of entries at least as new as `at`."""
        count = self._sampled(at)
        return self.step * (count + 1) - 1 if count < len(self.times) else self.length

    def _sampled(self, at: float) -> int:
        return bisect_right(self.times, -at, key=lambda time: -time)


class ModerationLog(OfStore):
    """The moderation log of a store. The scripts write it, in the same atomic step as the change itself."""

    def note(
        self, action: Action, actor: Actor, subject: str, reason: str, details: Mapping[str, str] | None = None
    ) -> None:
        """Log an action on a member or a host, by name, in the first shard. One round trip.

        Idempotent for RETRY_SECONDS, unless another action on the same was logged meanwhile.
        """
        store, keys = self._store, self._store.shards.directory
        capacity = {"capacity": ",".join(actor.groups)} if actor.groups else {}
        named = [part for pair in ({**(details or {})} | capacity).items() for part in pair]
        now = exact_time(store.now())
        arguments = [action.value, now, actor.name, subject, reason, keys.prefix, RETRY_SECONDS, *named]
        store.change("moderation_log/note", subject, [keys.log], arguments)

    def get_page(self, number: int = 1) -> LogPage:
        """Return page `number`, counted from 1, newest first, without reading the entries before it.

        One round trip; two for later pages of several shards. With closed groups, all entries before it are read.
        Raises PageNotFound, and PageTooDeep beyond `MOST_PAGED_ENTRIES`, or `_MOST_VISIBLE` then.
        """
        most = _MOST_VISIBLE if closed_groups() else MOST_PAGED_ENTRIES
        page = page_window(number, self._store.rules.per_page, most)
        if closed_groups():
            visible = [entry for _, entry in islice(self._visible(), page.start, page.end + 1)]
            page.check_entries(visible)
            return LogPage(tuple(visible[: page.size]), number, has_next=page.has_next(len(visible)))
        windows = self._windows(page.start, page.end + 1)
        with self._store.pipeline() as pipe:
            for keys, (first, last) in zip(self._store.shards.all, windows, strict=True):
                pipe.lrange(keys.log, first, last)
            shards = [list(entries_from(texts)) for texts in pipe.execute()]
        newest_first = merge(*shards, key=attrgetter("at"), reverse=True)
        begin = page.start - sum(first for first, _ in windows)
        entries = list(islice(newest_first, begin, begin + page.size + 1))
        page.check_entries(entries)
        return LogPage(tuple(entries[: page.size]), number, has_next=page.has_next(len(entries)))

    def find(self, wanted: LogFilter, rest: Sequence[int] | None = None) -> LogPage:
        """Return a page of the entries that a filter admits, newest first, from the `rest` of the log.

        It looks at `ENTRIES_SEARCHED` entries at most, so a page can have few entries, or none, and more follow.
        Without a filter, at those of the page. `rest`: as `LogPage.rest` counts it; the whole log by default.
        Three round trips at most. Raises PageNotFound if the number of shards is another one by now.
        """
        shards = self._store.shards.all
        if closed_groups():
            return self._find_visible(wanted, rest)
        lengths = self._store.in_shards(lambda pipe, keys: pipe.llen(keys.log))
        if len(rest or lengths) != len(shards):
            raise PageNotFound(1)
        counts = [min(pair) for pair in zip(rest or lengths, lengths, strict=True)]
        most = max(1, ENTRIES_SEARCHED // len(shards)) if wanted else self._store.rules.per_page
        with self._store.pipeline() as pipe:
            for keys, count in zip(shards, counts, strict=True):
                # Entries are added before the first, so those counted from the last one keep their numbers.
                pipe.lrange(keys.log, -count if count else 1, min(most - count, 0) - 1 if count else 0)
            logs = [list(_descending(n, entries_from(texts))) for n, texts in enumerate(pipe.execute())]
        # Where a shard has older entries, those of others that are older than its last one read come later.
        cut = max((log[-1][0] for log, n in zip(logs, counts, strict=True) if log and n > len(log)), default=-inf)
        searched = [one for one in merge(*logs, key=itemgetter(0), reverse=True) if one[0] >= cut]
        number, found = self._admitted(wanted, searched)
        read, reached = Counter(n for _, n, _ in searched[:number]), searched[number - 1][0] if number else 0.0
        left = tuple(count - read[n] for n, count in enumerate(counts))
        return LogPage(found, number=1, has_next=any(left), rest=left, searched_to=reached if wanted else 0)

    def _admitted(
        self, wanted: LogFilter, searched: Sequence[tuple[float, int, LogEntry]]
    ) -> tuple[int, tuple[LogEntry, ...]]:
        """Return how many of these entries one page takes, and those of them that the filter admits."""
        contents, found = self._contents(wanted, searched), list[LogEntry]()
        for number, (_, n, entry) in enumerate(searched, start=1):
            key = _content_key(self._store.shards.all[n], entry)
            if wanted.admits(entry, *contents.get(key, ("", ()))):
                found.append(entry)
                if len(found) == self._store.rules.per_page:
                    return number, tuple(found)
        return len(searched), tuple(found)

    def _find_visible(self, wanted: LogFilter, rest: Sequence[int] | None) -> LogPage:
        """Return what `find` does, of the entries that the reader gets to see.

        Its `rest` tells of no others: the time of the last entry, in microseconds, and how many of this time came
        before.
        """
        most = ENTRIES_SEARCHED if wanted else self._store.rules.per_page
        searched = list(islice(self._visible(rest), most + 1))
        read, found = self._admitted(wanted, [(entry.at, n, entry) for n, entry in searched[:most]])
        (at, passed), times = rest or (0, 0), [_microseconds(entry.at) for _, entry in searched[:read]]
        if times:
            passed = times.count(times[-1]) + (passed if at == times[-1] else 0)
            at = times[-1]
        searched_to = searched[read - 1][1].at if wanted and read else 0
        return LogPage(found, 1, has_next=len(searched) > read, rest=(at, passed), searched_to=searched_to)

    def _visible(self, rest: Sequence[int] | None = None) -> Iterator[tuple[int, LogEntry]]:
        """Yield the entries that the reader gets to see, newest first, each with the number of its shard.

        `rest`: see `_find_visible`. Round trips for each batch. Raises PageNotFound.
        """
        if rest is not None and len(rest) != 2:  # counted while no group was closed
            raise PageNotFound(1)
        at, passed = rest or (None, 0)
        shards = self._store.shards.all
        logs = [_descending(n, self._read_log(keys, self._first(keys, at))) for n, keys in enumerate(shards)]
        entries = ((n, entry) for _, n, entry in merge(*logs, key=itemgetter(0), reverse=True) if entry)
        while batch := list(islice(entries, ENTRIES_PER_READ)):
            known = set(map(id, self._readable([entry for _, entry in batch])))
            for n, entry in batch:
                if id(entry) not in known or (at is not None and _microseconds(entry.at) > at):
                    continue
                if at == _microseconds(entry.at) and passed:
                    passed -= 1
                    continue
                yield n, entry

    def _first(self, keys: Keys, at: int | None) -> int:
        """Return the number of a shard's first entry that is not newer than a time. O(log N) round trips."""
        if at is None:
            return 0
        with self._store.commands() as client:
            low, high = 0, client.llen(keys.log)
            while low < high:
                middle = (low + high) // 2
                entry = next(entries_from(filter(None, [client.lindex(keys.log, middle)])), None)
                low, high = (middle + 1, high) if entry and _microseconds(entry.at) > at else (low, middle)
        return low

    def _read_log(self, keys: Keys, start: int = 0) -> Iterator[LogEntry]:
        """Yield the entries of a shard, newest first. One round trip for each batch."""
        batch = [""]
        while batch:
            with self._store.commands() as client:
                batch = client.lrange(keys.log, start, start + ENTRIES_PER_READ - 1)
            yield from entries_from(batch)
            start += len(batch)

    def _readable(self, entries: Iterable[LogEntry]) -> tuple[LogEntry, ...]:
        """Return the entries that everyone may see. No round trip without closed groups; two at most."""
        entries, closed = tuple(entries), closed_groups()
        if not closed:
            return entries
        known = {0, *readable(self._store, [one.article_id for one in entries if one.article_id])}
        with self._store.commands() as client:
            titles = client.hmget(self._store.shards.directory.groups, sorted(closed))
        secret = closed.union(filter(None, titles))
        return tuple(one for one in entries if one.article_id in known and secret.isdisjoint(_words_of(one)))

    def _contents(
        self, wanted: LogFilter, entries: Iterable[tuple[float, int, LogEntry]]
    ) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Return author and groups of the articles and comments, by key. One round trip, none if not needed."""
        if not (wanted.member or wanted.group):
            return {}
        shards = self._store.shards.all
        may_fit = ((shards[n], entry) for _, n, entry in entries if entry and wanted.may_admit(entry))
        articles = {_content_key(*one): one[0].article(one[1].article_id) for one in may_fit if one[1].article_id}
        with self._store.pipeline() as pipe:
            for key, article in articles.items():
                pipe.hget(key, "poster_name" if key == article else "author_name")
                pipe.hget(article, "groups")
            replies = pipe.execute() if articles else []
        facts = zip(replies[::2], replies[1::2], strict=True)
        return {
            key: (author or "", split_groups(groups or ""))
            for key, (author, groups) in zip(articles, facts, strict=True)
        }

    def _windows(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return for each shard a first and last index that enclose the entries `start` to `end` of the whole log.

        All entries newer than a window come before `start`. Samples give their number in each shard.
        """
        shards = self._store.shards.all
        if len(shards) == 1 or start == 0:
            return [(start, end - 1)] * len(shards)
        step = max(_LEAST_STEP, isqrt(end))
        replies = self._store.run_many(Call("moderation_log/sample", (keys.log,), (step, end)) for keys in shards)
        logs = [_Samples(step, length, tuple(map(float, times))) for length, *times in replies]
        times = sorted({at for log in logs for at in log.times}, reverse=True)
        # Counts increase along the times: take the last time certainly above the page, the first certainly below.
        above = bisect_right(times, start, key=lambda at: sum(log.at_most(at) for log in logs))
        below = bisect_left(times, end, key=lambda at: sum(log.at_least(at) for log in logs))
        firsts = [log.at_least(times[above - 1]) if above else 0 for log in logs]
        counts = [min(log.at_most(times[below]), end) if below < len(times) else end for log in logs]
        return [(first, max(0, count - 1)) for first, count in zip(firsts, counts, strict=True)]

    def get_for_article(self, article_id: ArticleId, rest: int | None = None) -> LogPage:
        """Return a page of an article's entries, newest first: the first, or that which begins the `rest`.

        One round trip; with closed groups, one for each page of the whole list.
        """
        keys, size = self._store.shards.of(article_id), self._store.rules.per_page
        if closed_groups():
            return self._visible_for_article(article_id, rest)
        arguments: list[Value] = [size, "" if rest is None else rest]
        left, *texts = self._store.run("moderation_log/find", [keys.article(article_id), keys.log], arguments)
        return LogPage(tuple(entries_from(texts)), 1, has_next=left > 0, rest=(left,))

    def _visible_for_article(self, article_id: ArticleId, rest: int | None) -> LogPage:
        """Return what `get_for_article` does, of the entries that the reader gets to see."""
        keys, size = self._store.shards.of(article_id), self._store.rules.per_page
        texts, left = list[str](), -1
        while left:
            given: list[Value] = [size, "" if left < 0 else left]
            left, *part = self._store.run("moderation_log/find", [keys.article(article_id), keys.log], given)
            texts += part
        visible = self._readable(entries_from(texts))
        first = 0 if rest is None else max(0, len(visible) - rest)
        after = len(visible) - first - size
        return LogPage(visible[first : first + size], 1, has_next=after > 0, rest=(max(0, after),))

    def find_latest(self, acts: Sequence[tuple[Action, SubjectId]]) -> list[LogEntry | None]:
        """Return the newest entry of each act, if it is among its article's latest. One round trip, if any."""
        parts = defaultdict[Keys, list[tuple[Action, SubjectId]]](list)
        for act in acts:
            parts[self._store.shards.of_comment(act[1])].append(act)
        calls = [
            Call("moderation_log/find_latest", (keys.log,), (keys.prefix, *(f"{a.value}:{s}" for a, s in part)))
            for keys, part in parts.items()
        ]
        replies = self._store.run_many(calls) if calls else []
        texts = {
            act: text
            for part, reply in zip(parts.values(), replies, strict=True)
            for act, text in zip(part, reply, strict=True)
            if text
        }
        return [next(entries_from([texts[act]]), None) if act in texts else None for act in acts]

    def iterate(self, actor: str | None = None) -> Iterator[LogEntry]:
        """Yield all entries, or those of a moderator, newest first per shard. One round trip for each batch."""
        for keys in self._store.shards.all:
            yield from (entry for entry in self._read_log(keys) if actor in (None, entry.actor_name))


def _words_of(entry: LogEntry) -> Iterator[str]:
    """Yield what an entry may name a group by."""
    yield entry.title
    for text in entry.details.values():
        yield text
        yield from text.split(",")


def _microseconds(at: float) -> int:
    return round(at * 1e6)


def _content_key(keys: Keys, entry: LogEntry) -> str:
    """Return the key of the comment or the article that an entry is about."""
    comment = str(entry.details.get("comment", ""))
    return keys.comment(int(comment)) if _COMMENT.fullmatch(comment) else keys.article(entry.article_id)


def _descending(shard: int, entries: Iterable[LogEntry]) -> Iterator[tuple[float, int, LogEntry]]:
    """Yield the entries of a shard with times that never rise, even where its clock was set back meanwhile."""
    lowest = inf
    for entry in entries:
        lowest = min(lowest, entry.at)
        yield lowest, shard, entry


def entries_from(texts: Iterable[str]) -> Iterator[LogEntry]:
    """Yield the entries with these texts. Raises StoreDamaged."""
    with naming("an entry of the moderation log"):
        yield from map(_entry, texts)


def _entry(text: str) -> LogEntry:
    raw = json.loads(text)
    return LogEntry(
        action=action_from(raw["action"]),
        at=float(raw["at"]),
        actor_name=raw["actor"],
        article_id=int(raw["id"]),
        title=recorded(raw["title"]),
        reason=recorded(raw["reason"]),
        details={name: recorded(text) for name, text in dict(raw["details"]).items()},
    )
