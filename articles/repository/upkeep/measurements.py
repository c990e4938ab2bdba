"""The measurements of the last 24 hours: one every five minutes, for the operator's charts."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from redis.client import Pipeline

from articles.domain.lists import Order
from articles.domain.measurements import AHEAD, EVERY, KEPT, LONGEST, MEDIAN, SLOWEST, Measurement, WebCounts
from articles.repository.store import keys as names
from articles.repository.store.connection import OfStore
from articles.repository.store.values import count_from

_DAY = 86400

_COUNTERS = "counters"
"""Field with the counters at the newest measurement; the others are moments."""

_FIGURES = tuple(field.name for field in fields(Measurement) if field.name != "at")

_SLOTS = range(-LONGEST, 0, EVERY)
"""Beginnings of the slots, relative to the moment, that may hold articles posted since the last measurement."""


@dataclass(frozen=True, slots=True)
class _Counters:
    """The counters when they were read: counted views by day, counted from 1970, and the web server's."""

    at: float
    views: Mapping[str, int]
    web: WebCounts | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the store knows at a moment. `posts`: articles by the beginning of the slot they were posted in."""

    moments: tuple[int, ...]
    last: _Counters | None
    views: Mapping[str, int]
    posts: Mapping[int, int]
    memory_bytes: int | None
    file_bytes: int | None


class Measurements(OfStore):
    """The measurements of a site."""

    def record(self, read_web: Callable[[], WebCounts | None]) -> bool:
        """Record the figures at the last full five minutes, unless they are recorded; return whether it did.

        `read_web` returns what the web server has counted, None if this machine has none; called only if due.
        Idempotent, for the holder of the lease. One round trip if nothing is due, else two.
        """
        now = self._store.now()
        moment = int(now // EVERY) * EVERY
        reading = self._read(moment, now)
        if any(moment <= known <= moment + AHEAD for known in reading.moments):
            return False
        counters = _Counters(now, reading.views, read_web())
        self._write(_measurement(moment, reading, counters), counters, reading.moments)
        return True

    def list_recent(self) -> list[Measurement]:
        """Return the measurements of the last 24 hours, oldest first. One round trip."""
        now = self._store.now()
        with self._store.commands() as client:
            texts = client.hgetall(names.MEASUREMENTS)
        kept = ((int(at), text) for at, text in texts.items() if at.isdecimal() and _is_kept(int(at), now))
        measured = (_parsed(at, text) for at, text in kept)
        return sorted((one for one in measured if one), key=lambda one: one.at)

    def _read(self, moment: int, now: float) -> _Reading:
        shards, days = self._store.shards.all, [str(int(now // _DAY) - ago) for ago in (1, 0)]

        def queue_counts(pipe: Pipeline) -> None:
            pipe.hkeys(names.MEASUREMENTS)
            pipe.hget(names.MEASUREMENTS, _COUNTERS)
            for keys in shards:
                pipe.hmget(keys.days(), [f"{day}:counted" for day in days])
                _queue_posts(pipe, [keys.order(Order.TIME), keys.removed], moment)

        servers, replies = self._store.inspect(
            ("INFO", "memory"), ("INFO", "persistence"), queue_more=queue_counts
        )
        moments, last, *rest = (None if isinstance(r, Exception) else r for r in replies)
        return _Reading(
            tuple(int(field) for field in moments or () if field.isdecimal()),
            _counters_from(last),
            *_sums(rest, days, moment),
            _sum_in((memory for memory, _ in servers), "used_memory"),
            _sum_in((persistence for _, persistence in servers), "aof_current_size"),
        )

    def _write(self, measured: Measurement, counters: _Counters, moments: Sequence[int]) -> None:
        figures = {name: value for name in _FIGURES if (value := getattr(measured, name)) is not None}
        texts: dict[Any, Any] = {
            str(int(measured.at)): json.dumps(figures),
            _COUNTERS: json.dumps(asdict(counters)),
        }
        expired = [str(moment) for moment in moments if not _is_kept(moment, measured.at)]
        with self._store.pipeline() as pipe:
            pipe.hset(names.MEASUREMENTS, mapping=texts)
            if expired:
                pipe.hdel(names.MEASUREMENTS, *expired)
            pipe.expire(names.MEASUREMENTS, KEPT)
            pipe.execute()


def _sum_in(infos: Iterable[Any], name: str) -> int | None:
    """Return the sum of a figure in the INFO of all servers; None if one does not say it."""
    values = [None if isinstance(info, Exception) else info.get(name) for info in infos]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _queue_posts(pipe: Pipeline, rankings: Sequence[str], moment: int) -> None:
    for ranking in rankings:
        for slot in _SLOTS:
            pipe.zcount(ranking, moment + slot, f"({moment + slot + EVERY}")


def _sums(replies: Sequence[Any], days: Sequence[str], moment: int) -> tuple[dict[str, int], dict[int, int]]:
    """Return views by day and posts by slot from the replies of all shards; a damaged key counts nothing."""
    views, posts, size = Counter[str](), Counter[int](), 1 + 2 * len(_SLOTS)
    for first in range(0, len(replies), size):
        for day, count in zip(days, replies[first] or (), strict=False):
            views[day] += count_from(count)
        for slot, count in zip((*_SLOTS, *_SLOTS), replies[first + 1 : first + size], strict=True):
            posts[moment + slot] += count or 0
    return dict(views), dict(posts)


def _measurement(moment: int, reading: _Reading, current: _Counters) -> Measurement:
    last = reading.last if reading.last and 0 < current.at - reading.last.at <= LONGEST else None
    previous = max((known for known in reading.moments if known < moment), default=moment - EVERY)
    measured = Measurement(
        moment,
        posts=_posts_since(previous, reading),
        views=_views_since(last, current) if last else None,
        memory_bytes=reading.memory_bytes,
        file_bytes=reading.file_bytes,
    )
    web, read_at = (last.web, last.at) if last else (None, current.at - LONGEST)
    counted = current.web.since(web, read_at, current.at) if current.web else None
    return _with_web(measured, counted) if counted else measured


def _with_web(measured: Measurement, web: WebCounts) -> Measurement:
    """Return the measurement with what the web server has counted since the one before."""
    return replace(
        measured,
        votes=web.votes,
        requests=web.requests,
        errors=web.errors,
        median_seconds=_rounded(web.percentile(MEDIAN)),
        p99_seconds=_rounded(web.percentile(SLOWEST)),
    )


def _posts_since(previous: int, reading: _Reading) -> int | None:
    """Return the articles posted since the previous measurement; None if that is too long ago."""
    if previous < min(reading.posts):
        return None
    return sum(count for slot, count in reading.posts.items() if slot >= previous)


def _views_since(last: _Counters, current: _Counters) -> int | None:
    """Return the views between two readings; None if the counters were deleted in between."""
    views = sum(count - last.views.get(day, 0) for day, count in current.views.items())
    return views if views >= 0 else None


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def _is_kept(moment: float, now: float) -> bool:
    return now - KEPT < moment <= now + AHEAD


def _parsed(at: int, text: str) -> Measurement | None:
    """Return a measurement from its record; None if the record is damaged."""
    try:
        record: dict[str, Any] = json.loads(text)
        return Measurement(at, **dict(_numbers_in(record)))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _numbers_in(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in _FIGURES:
        value = record.get(name)
        if isinstance(value, int | float) and math.isfinite(value) and value >= 0:
            yield name, value


def _counters_from(text: str | None) -> _Counters | None:
    """Return the counters from their record; None if there is none, or it is damaged."""
    try:
        record: dict[str, Any] = json.loads(text or "")
        web = record["web"] and WebCounts(**record["web"])
        return _Counters(float(record["at"]), dict(record["views"]), web)
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
