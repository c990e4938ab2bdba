"""Drops what cannot be read from lists that the repair rebuilds, and names the rest."""

from collections.abc import Callable

from articles.repository.store import key_table as table
from articles.repository.store.attempts import Finding
from articles.repository.store.connection import Store
from articles.repository.upkeep.readable import Damage, list_damages

_REBUILT = (
    *(table.SCORE, table.TIME, table.POINTS, table.HOT, table.REMOVED, table.GROUP, table.CHANGES),
    *(table.COMMENT_VOTERS, table.REPLIES_BEST, table.REPLIES_TIME, table.COMMENTED),
    *(table.FLAGGED, table.FLAGS_BY, table.INBOX, table.LEFT_OUT, table.LEFT_OUT_ACTS),
    *(table.ACTIVE, table.ACTIVE_OF_GROUP, table.VISITS),
    *(table.SCORE_OF_GROUP, table.TIME_OF_GROUP, table.POINTS_OF_GROUP, table.HOT_OF_GROUP, table.TOP),
)
"""Kinds of keys whose unreadable entries may be dropped. The repair, or the next read, makes most of them from the
articles and comments alone; visits begin again; an unreadable notice is useless in an inbox; and the members left
out of ranking and their acts are made from each other, and from those of other shards."""


def drop_unreadable(store: Store, tell: Callable[[Finding], object]) -> None:
    """Drop unreadable entries, and keys of another type, where they are rebuilt; report each elsewhere, once."""
    reported = set[str]()
    for damage in list(list_damages(store)):
        if damage.kind in _REBUILT:
            _drop(store, damage)
        elif damage.name not in reported:
            reported.add(damage.name)
            tell(Finding(damage.name, damage.problem))


def _drop(store: Store, damage: Damage) -> None:
    with store.commands() as client:
        if damage.entry is None:
            client.unlink(damage.name)
        elif damage.kind.type == "set":
            client.srem(damage.name, damage.entry)
        elif damage.kind.type == "hash":
            client.hdel(damage.name, damage.entry)
        else:
            client.zrem(damage.name, damage.entry)
