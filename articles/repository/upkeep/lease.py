"""What housekeeping keeps for itself: the lock that lets one process act at a time, and a note of each step."""

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import redis

from articles.domain.errors import StoreUnavailable
from articles.repository.readership.pageviews import DAYS_KEPT
from articles.repository.store import keys as names
from articles.repository.store.connection import Store

_LOCK_LIFE = 30
"""Seconds after which somebody else may go on, if whoever keeps house has died. A step takes some seconds."""

_DAY = 86400

_IS_FORBIDDEN = re.compile("NOPERM|no permissions|unknown command")
"""A server that may not be told to: its operator sees to it."""


class HeldLease:
    """The right to keep house, for a while."""

    def __init__(self, store: Store, token: str) -> None:
        self._store = store
        self._token = token

    def renew(self) -> bool:
        """Hold it for longer; False if it has passed to somebody else, or the store does not say."""
        with suppress(StoreUnavailable):
            return bool(self._store.run("lease/renew", [names.TICK_LOCK], [self._token, _LOCK_LIFE]))
        return False


class HousekeepingLease:
    """Housekeeping of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @contextmanager
    def acquire(self) -> Iterator[HeldLease | None]:
        """Keep everybody else out for the time of the block; None if somebody else is at it."""
        token = secrets.token_hex(8)
        with self._store.commands() as client:
            taken = client.set(names.TICK_LOCK, token, nx=True, ex=_LOCK_LIFE)
        if not taken:
            yield None
            return
        try:
            yield HeldLease(self._store, token)
        finally:
            with suppress(StoreUnavailable):  # it ends by itself
                self._store.run("lease/release", [names.TICK_LOCK], [token])

    def record_step(self, step: str, *, at: float, seconds: float, result: str, error: str) -> None:
        """Remember a step's last run: when (Unix seconds), how long, and what came of it."""
        told = {"at": at, "seconds": round(seconds, 6), "result": result, "error": error}
        with self._store.commands() as client:
            client.hset(names.TICK, step, json.dumps(told, ensure_ascii=False))

    def rewrite_file(self) -> bool:
        """Have the append-only file written anew, once a day; whether that was begun.

        It holds every command since the last time: the salts of visitors that have ended, and who saw what.
        """
        with self._store.commands() as client:
            try:
                if not client.info("persistence").get("aof_enabled"):
                    return False
                if not client.set(names.FORGET_LOCK, "1", nx=True, ex=_DAY):
                    return False
                client.bgrewriteaof()
            except redis.ResponseError as error:
                if not _IS_FORBIDDEN.match(str(error)):
                    client.delete(names.FORGET_LOCK)
                return False
        return True

    def trim(self, steps: set[str]) -> int:
        """Drop days of the site's views that nobody is shown any more, and notes of steps other than these.

        Returns how many entries that were. An article's days, visitors of a day, throttles and samples end by
        themselves.
        """
        shards, today = self._store.shards.all, int(self._store.now() // _DAY)
        with self._store.pipeline() as pipe:
            for keys in shards:
                pipe.hkeys(keys.days())
            pipe.hkeys(names.TICK)
            *days, noted = pipe.execute()
        gone = {keys.days(): _past(fields, today) for keys, fields in zip(shards, days, strict=True)}
        gone[names.TICK] = [step for step in noted if step not in steps]
        with self._store.pipeline() as pipe:
            for key, fields in gone.items():
                if fields:
                    pipe.hdel(key, *fields)
            return sum(pipe.execute())


def _past(fields: list[str], today: int) -> list[str]:
    """Of fields named "<day>:<kind>", those before the days that are kept."""
    return [field for field in fields if int(field.partition(":")[0]) <= today - DAYS_KEPT]
