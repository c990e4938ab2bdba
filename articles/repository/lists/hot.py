"""The hot list: all of it is scored for one moment, then trimmed."""

import logging
import secrets
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.domain.lists import Order
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, OfStore, exact_time

Result = TypeVar("Result")

_log = logging.getLogger(__name__)

_LOCK_LIFE = 10  # seconds after which another process may rescore, if the one that holds the lock has died


class Hot(OfStore):
    """The hot list of a store. A view moves its article at once, scored for the moment of the last rescore."""

    def fresh(self, read: Callable[[], Result], scored_at: Callable[[Result], float]) -> Result:
        """Return the result of `read`; if it is stale, rescore the list and read once more.

        `scored_at` returns the moment of the result's last rescore, in Unix seconds. A stale result is returned as
        it is while another process rescores the list, or while the store takes no writes. Round trips: those of
        `read`, and for a stale list those of `refresh` and of `read` again.
        """
        result = read()
        return read() if self.is_stale(scored_at(result)) and self.refresh() else result

    def get_refreshed_at(self) -> float:
        """Return the moment of the last rescore, in Unix seconds; 0 before the first. One round trip."""
        with self._store.commands() as client:
            return float(client.hget(self._store.shards.directory.ranking, "refreshed_at") or 0)

    def is_stale(self, refreshed_at: float) -> bool:
        """Return whether a list that was scored for that moment is stale, by this process's clock.

        If this clock is behind the list, the list is stale only once in `Rules.hot_refresh` seconds of the store's
        clock. Otherwise two processes whose clocks differ by more would rescore the list in turns, at every read.
        No round trip; one if the clock is behind.
        """
        ahead = refreshed_at - self._store.now()
        if ahead < self._store.rules.hot_refresh:
            return -ahead >= self._store.rules.hot_refresh
        with self._store.commands() as client:
            return not client.exists(names.BACK_LOCK)

    def refresh(self) -> bool:
        """Rescore the list if it is stale; return False while another process does so. Never blocks.

        Also returns False while the store takes no writes or is damaged: readers get the list as it is. Three
        round trips and those of `rescore`; one if another process holds the lock.
        """
        try:
            return self._refresh()
        except (StoreUnavailable, StoreDamaged) as error:
            _log.warning("the hot list was not rescored: %s", error)
            return False

    def _refresh(self) -> bool:
        token = secrets.token_hex(8)
        with self._store.commands() as client:
            if not client.set(names.HOT_LOCK, token, nx=True, ex=_LOCK_LIFE):
                return False
        try:
            self.rescore_if_stale()
            return True
        finally:
            self._store.run("lease/release", [names.HOT_LOCK], [token])

    def rescore_if_stale(self, *, early_seconds: float = 0) -> bool:
        """Rescore a list that is stale, or will be in `early_seconds`; return whether. One round trip, if not."""
        refreshed_at = self.get_refreshed_at()
        if not self.is_stale(refreshed_at - early_seconds):
            return False
        if refreshed_at > self._store.now():
            with self._store.commands() as client:
                client.set(names.BACK_LOCK, 1, ex=self._store.rules.hot_refresh)
        self.rescore()
        return True

    def rescore(self) -> None:
        """Rescore the whole list for this moment, then trim it to `Rules.hot_size`. At most three round trips."""
        store, now = self._store, exact_time(self._store.now())
        keep = store.rules.hot_size
        left = store.run_together(
            [
                Call("lists/rescore_hot", [keys.order(Order.HOT)], [keys.prefix, now, keep])
                for keys in store.shards.all
            ]
        )
        if sum(left) > keep:
            self._trim(keep)

    def _trim(self, keep: int) -> None:
        """Remove what is not among the hottest of all shards, since each shard has kept its own hottest."""
        store = self._store
        with store.pipeline() as pipe:
            pipe.hmget(store.shards.directory.ranking, ["version", "refreshed_at"])
            for keys in store.shards.all:
                pipe.zrevrange(keys.order(Order.HOT), 0, keep - 1, withscores=True)
            state, *entries = pipe.execute()
        values = sorted((value for shard in entries for _, value in shard), reverse=True)
        for last in islice(values, keep - 1, keep):
            store.run_many(
                Call(
                    "lists/trim_hot", [keys.order(Order.HOT), keys.ranking], [keys.prefix, f"{last:.17g}", *state]
                )
                for keys in store.shards.all
            )
