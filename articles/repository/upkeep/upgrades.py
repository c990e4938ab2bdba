"""Upgrades of a store from one version of the layout to the next, in order.

Each upgrade works in steps that take some milliseconds of the store's time, so that members can keep voting. It
can be interrupted anywhere: the next start begins it again, and repeating a step changes nothing. Several
processes can run it at once. A complete upgrade leaves its version in the store, which older versions of the site
refuse; or a field, if the version before can run beside this one.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from articles.domain.errors import StoreDamaged
from articles.repository.store import keys as names
from articles.repository.store.clients.errors import store_errors
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.key_table import ARTICLE, COMMENT, split_prefix
from articles.repository.store.scan import portions, walk_kinds
from articles.repository.store.values import count_from

Progress: TypeAlias = Callable[[int, int], object]
"""Receives the number of articles that are done, and of all."""

_log = logging.getLogger(__name__)

COMMENTS_PER_STEP = 1000
"""Comments that one script ranks: some milliseconds of the store's time."""

_OF_WORDS = ("word:", "words:", "comment:word:", "comment:words:", "comment:time:")
"""Beginnings of the keys that no version from layout 7 on has."""

_REPORTED_EVERY = 2.0
"""Seconds between two log lines on the progress of an upgrade."""


class Upgrade(NamedTuple):
    """A step from one version of the layout to the next.

    Without a version, both layouts work side by side; then the stamp's `field` records that it is complete.
    """

    version: int | None
    summary: str
    run: Callable[[Store, Progress], None]
    field: str = ""

    def is_pending(self, stamp: Mapping[str, str]) -> bool:
        """Return whether the store with the stamp needs it."""
        if self.version is None:
            return self.field not in stamp
        version = stamp.get("version", "")
        return not version.isdecimal() or int(version) < self.version


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
    if pending.version is None:
        with store.commands() as client:
            client.hset(names.SCHEMA, pending.field, "1")
    else:
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


def rank_comments(store: Store, _progress: Progress) -> None:
    """Put every comment in its exact place among the best ones."""
    for batch in walk_kinds(store):
        ids = [int(name[name.rfind(":") + 1 :]) for name, kind in batch if kind is COMMENT]
        for keys, comments in store.shards.split_comments(ids).items():
            for step in portions(comments, COMMENTS_PER_STEP):
                given: list[Value] = [keys.prefix, exact_time(store.now()), *step]
                store.run("schema/rank_comments", [keys.comment(one) for one in step], given)


def drop_words(store: Store, progress: Progress) -> None:
    """Drop the index of words, which earlier versions kept in the store."""
    with store.commands() as client:
        done, total = 0, count_from(client.get(names.COUNTER))
    for batch in walk_kinds(store):
        with store.pipeline() as pipe:
            for name, kind in batch:
                if kind in (ARTICLE, COMMENT):
                    pipe.hdel(name, "words")
                elif kind is None and split_prefix(name)[1].startswith(_OF_WORDS):
                    pipe.unlink(name)
            replies = pipe.execute(raise_on_error=False)
        for failure in (reply for reply in replies if isinstance(reply, Exception)):
            with suppress(StoreDamaged), store_errors():  # a key of another type has no words
                raise failure
        done = min(total, done + sum(kind is ARTICLE for _, kind in batch))
        progress(done, total)
    with store.commands() as client:
        client.hdel(names.SCHEMA, "indexed")


UPGRADES = (
    Upgrade(None, "the best comments are ordered exactly", rank_comments, "best"),
    Upgrade(7, "the words leave the store", drop_words),
)
