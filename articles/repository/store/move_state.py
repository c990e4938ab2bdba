"""Whether the store is being moved: what every change outside the shards asks, and what processes ask."""

from enum import StrEnum

from articles.domain.errors import StoreUnavailable
from articles.repository.store.connection import Store


class MoveState(StrEnum):
    """What a store says about a move from it."""

    NONE = "none"
    COPYING = "copying"
    CLOSED = "closed"
    """Changes are refused for some seconds."""

    NOTING = "noting"
    """The site was moved here; changes are recorded in case it returns."""

    MOVED = "moved"


def state_of(store: Store) -> MoveState:
    """Return the state of a move from this store. One round trip."""
    directory = store.shards.directory
    with store.commands() as client:
        mark, closed = client.mget(directory.moving, directory.closed)
    if closed and mark != MoveState.MOVED:
        return MoveState.CLOSED
    return MoveState(mark or MoveState.NONE)


def check_kept(store: Store) -> None:
    """Check that a change outside the shards, just made, is not too late to be carried. One round trip.

    No script of a shard refuses such a change. Raises StoreUnavailable; the change can be repeated.
    """
    if state_of(store) in (MoveState.CLOSED, MoveState.MOVED):
        raise StoreUnavailable("the store is being moved")
