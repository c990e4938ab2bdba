"""The hot list: scored anew at one moment for all of it, trimmed afterwards."""

import logging
import secrets
from itertools import islice

from articles.domain.errors import StoreUnavailable
from articles.domain.lists import Order
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, Store, exact_time

_log = logging.getLogger(__name__)

_LOCK_LIFE = 10
"""Seconds after which somebody else may score, if whoever began has died."""


class Hot:
    """The hot list of a store. Between two scorings a view moves its article by the moment of the last one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def refreshed_at(self) -> float:
        """The moment the list is scored for, in Unix seconds."""
        with self._store.commands() as client:
            return float(client.hget(self._store.shards.directory.ranking, "refreshed_at") or 0)

    def is_stale(self, refreshed_at: float) -> bool:
        """Whether the list is due, by this process's clock.

        Where that clock is behind the list, only once in `Rules.hot_refresh` seconds by the store's own: two
        processes whose clocks differ by more would else score the list in turns, at every read.
        """
        ahead = refreshed_at - self._store.now()
        if ahead < self._store.rules.hot_refresh:
            return -ahead >= self._store.rules.hot_refresh
        with self._store.commands() as client:
            return not client.exists(names.GOING_BACK)

    def refresh(self) -> bool:
        """Score the list unless somebody else is at it; whether it was done. Nobody waits for anybody.

        Nor is it done where the store takes no writes just now: readers read on in the list as it is.
        """
        try:
            return self._refresh()
        except StoreUnavailable as error:
            _log.warning("the hot list was not scored: %s", error)
            return False

    def _refresh(self) -> bool:
        token = secrets.token_hex(8)
        with self._store.commands() as client:
            if not client.set(names.REFRESHING, token, nx=True, ex=_LOCK_LIFE):
                return False
        try:
            refreshed_at = self.refreshed_at()
            if self.is_stale(refreshed_at):
                self.rescore_after(refreshed_at)
            return True
        finally:
            self._store.run("lease/release", [names.REFRESHING], [token])

    def rescore_after(self, refreshed_at: float) -> None:
        """The same as `rescore`, for a list that was scored for that moment."""
        if refreshed_at > self._store.now():
            with self._store.commands() as client:
                client.set(names.GOING_BACK, 1, ex=self._store.rules.hot_refresh)
        self.rescore()

    def rescore(self) -> None:
        """Score the whole list for this moment, then trim it to `Rules.hot_size`."""
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
        """Each shard has kept its own hottest: take out what is not among the hottest of all."""
        store = self._store
        with store.pipeline() as pipe:
            pipe.hmget(store.shards.directory.ranking, ["version", "refreshed_at"])
            for keys in store.shards.all:
                pipe.zrevrange(keys.order(Order.HOT), 0, keep - 1, withscores=True)
            state, *entries = pipe.execute()
        values = sorted((value for shard in entries for _, value in shard), reverse=True)
        for last in islice(values, keep - 1, keep):
            store.run_many(
                [
                    Call(
                        "lists/trim_hot",
                        [keys.order(Order.HOT), keys.ranking],
                        [keys.prefix, f"{last:.17g}", *state],
                    )
                    for keys in store.shards.all
                ]
            )
