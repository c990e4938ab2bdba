"""Upgrades of a store from one version of the layout to the next, in order.

Each upgrade works in steps that take some milliseconds of the store's time, so that members can keep voting. It
can be interrupted anywhere: the next start begins it again, and repeating a step changes nothing. Several
processes can run it at once. A complete upgrade leaves its version in the store, which older versions of the site
refuse.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from articles.repository.store import keys as names
from articles.repository.store.connection import Store

Progress: TypeAlias = Callable[[int, int], object]  # receives the number of articles that are done, and of all

_log = logging.getLogger(__name__)

_REPORTED_EVERY = 2.0  # seconds between two log lines on the progress of an upgrade


class Upgrade(NamedTuple):
    """A step to a version of the layout from the one before."""

    version: int
    summary: str
    run: Callable[[Store, Progress], None]

    def is_pending(self, stamp: Mapping[str, str]) -> bool:
        version = stamp.get("version", "")
        return not version.isdecimal() or int(version) < self.version


UPGRADES: tuple[Upgrade, ...] = ()  # each upgrade from `schema.OLDEST_LAYOUT` on to `schema.LAYOUT_VERSION`


def list_pending(store: Store) -> list[Upgrade]:
    """Return the upgrades that the store needs, in order. One round trip."""
    with store.commands() as client:
        stamp = client.hgetall(names.SCHEMA)
    return [upgrade for upgrade in UPGRADES if upgrade.is_pending(stamp)]


def upgrade(store: Store) -> None:
    """Upgrade a stamped store to the newest layout. One round trip if it has it. Raises StoreError."""
    for pending in list_pending(store):
        _run(store, pending)


def _run(store: Store, pending: Upgrade) -> None:
    began = time.monotonic()
    _log.info("the store is upgraded: %s", pending.summary)
    pending.run(store, _reporter(pending))
    _log.info("the upgrade is complete, after %.1f s", time.monotonic() - began)
    store.run("schema/raise_version", [names.SCHEMA], [pending.version])


def _reporter(pending: Upgrade) -> Progress:
    """Return a progress that writes to the log now and then."""
    reported_at = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= _REPORTED_EVERY:
            reported_at = time.monotonic()
            _log.info("%s: %s of %s articles", pending.summary, f"{done:,}", f"{total:,}")

    return report
