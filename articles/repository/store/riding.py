"""Rides: scripts that go out with the first exchange of several scripts that a request makes anyway."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from articles.repository.store.key_table import split_prefix

if TYPE_CHECKING:
    from articles.repository.store.connection import Call, Store


Count = TypeVar("Count")


@dataclass(slots=True, eq=False)
class Ride(Generic[Count]):
    """Idempotent scripts that wait for an exchange, and what their replies count."""

    store: "Store"
    calls: Sequence["Call"]
    read: Callable[[Sequence[Any]], Count | None]
    replies: list[Any] = field(default_factory=list)
    """Empty until an exchange took them along; then errors are among them, too."""

    @property
    def count(self) -> Count | None:
        """What was counted; None until an exchange has taken the scripts along, or if a script failed."""
        return self.read(self.replies) if self.replies else None


_waiting: ContextVar[tuple[Ride[Any], ...]] = ContextVar("waiting", default=())


@contextmanager
def riding(
    store: "Store", calls: Sequence["Call"], read: Callable[[Sequence[Any]], Count | None]
) -> Iterator[Ride[Count]]:
    """Let these scripts ride with the first exchange within the block that can take them. No round trip.

    `read` returns what the replies count; None if a script failed.
    """
    ride = Ride(store, calls, read)
    token = _waiting.set((*_waiting.get(), ride))
    try:
        yield ride
    finally:
        _waiting.reset(token)


def rides_with(store: "Store", calls: Sequence["Call"]) -> list[Ride[Any]]:
    """Return the rides that go out with these scripts.

    On a cluster, only an exchange with all of a ride's shards takes it along: no page of one shard waits for the
    others.
    """
    waiting = [ride for ride in _waiting.get() if not ride.replies and ride.store is store]
    if waiting and store.is_cluster:
        shards = _shards_of(calls)
        return [ride for ride in waiting if _shards_of(ride.calls) <= shards]
    return waiting


def _shards_of(calls: Sequence["Call"]) -> set[str]:
    return {split_prefix(call.keys[0])[0] for call in calls}
