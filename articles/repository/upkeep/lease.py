"""The housekeeping lease, which lets one process run the steps at a time, and what the steps need of the store."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import redis

from articles.domain.errors import StoreUnavailable, StoreUnfit
from articles.repository.readership.pageviews import DAYS_KEPT
from articles.repository.store import keys as names, permissions
from articles.repository.store.connection import OfStore, Store

_LOCK_LIFE = 30  # seconds after which the lease of a process that died expires. A step takes some seconds
_DAY = 86400


class HeldLease:
    def __init__(self, store: Store, token: str) -> None:
        self._store = store
        self._token = token

    def renew(self) -> bool:
        """Extend the lease; return False if another process holds it, or the store fails. One round trip."""
        with suppress(StoreUnavailable):
            return bool(self._store.run("lease/renew", [names.TICK_LOCK], [self._token, _LOCK_LIFE]))
        return False


class HousekeepingLease(OfStore):
    held: HeldLease | None = None  # the lease, while a block of this process holds it

    @contextmanager
    def acquire(self) -> Iterator[HeldLease | None]:
        """Hold the lease; yield None if another process does. Two round trips. Raises StoreUnavailable."""
        token = secrets.token_hex(8)
        with self._store.commands() as client:
            acquired = client.set(names.TICK_LOCK, token, nx=True, ex=_LOCK_LIFE)
        if not acquired:
            yield None
            return
        self.held = HeldLease(self._store, token)
        try:
            yield self.held
        finally:
            self.held = None
            with suppress(StoreUnavailable):  # the lease expires by itself
                self._store.run("lease/release", [names.TICK_LOCK], [token])

    def record_step(self, step: str, *, at: float, seconds: float, result: str, error: str) -> None:
        """Record a step's last run: its start (Unix seconds), duration, and result or error. One round trip."""
        record = {"at": at, "seconds": round(seconds, 6), "result": result, "error": error}
        with self._store.commands() as client:
            client.hset(names.TICK, step, json.dumps(record, ensure_ascii=False))

    def rewrite_file(self) -> bool:
        """Start to rewrite the append-only file, once a day; return whether it was started. Three round trips.

        On a cluster each primary's file, with two round trips for each.

        The file holds every command since the last rewrite, with expired salts and which visitor viewed what.
        Raises StoreUnfit, once a day, if the server does not permit it.
        """
        with self._store.commands() as client:
            try:
                servers = [one for one in self._store.servers() if one.info("persistence").get("aof_enabled")]
                if not servers or not client.set(names.FORGET_LOCK, "1", nx=True, ex=_DAY):
                    return False
                for server in servers:
                    server.bgrewriteaof()
            except redis.ResponseError as error:
                if permissions.is_lacking(error):
                    raise StoreUnfit(
                        f"The store does not permit {permissions.FORGETTING}, so its append-only file keeps who "
                        "viewed what on past days: permit it to the site's user, or rewrite the file once a day."
                    ) from error
                client.delete(names.FORGET_LOCK)
                return False
        return True

    def trim(self, steps: set[str]) -> int:
        """Drop days of the site's views that are no longer shown, and records of steps other than these.

        Returns the number of entries dropped. An article's days, visitors of a day, throttles and samples expire
        by themselves. Two round trips.
        """
        shards, today = self._store.shards.all, int(self._store.now() // _DAY)
        with self._store.pipeline() as pipe:
            for keys in shards:
                pipe.hkeys(keys.days())
            pipe.hkeys(names.TICK)
            *days, recorded = pipe.execute()
        expired = {  # fields "<day>:<kind>"
            keys.days(): [field for field in fields if int(field.partition(":")[0]) <= today - DAYS_KEPT]
            for keys, fields in zip(shards, days, strict=True)
        }
        expired[names.TICK] = [step for step in recorded if step not in steps]
        with self._store.pipeline() as pipe:
            for key, fields in expired.items():
                if fields:
                    pipe.hdel(key, *fields)
            return sum(pipe.execute())
