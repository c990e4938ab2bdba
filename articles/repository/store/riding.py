"""Rides: small reads that go out with the first exchange of several scripts that a request makes anyway."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from articles.repository.store.key_table import split_prefix

if TYPE_CHECKING:
    from articles.repository.store.connection import Call, Store


@dataclass(slots=True, eq=False)
class Ride:
    """Scripts that wait for an exchange. They only read."""

    store: "Store"
    calls: Sequence["Call"]
    replies: list[Any] = field(default_factory=list)
    """Empty until an exchange took them along."""

    @property
    def is_waiting(self) -> bool:
        return not self.replies


_waiting: ContextVar[Ride | None] = ContextVar("waiting", default=None)


@contextmanager
def riding(store: "Store", calls: Sequence["Call"]) -> Iterator[Ride]:
    """Let these scripts ride with the first exchange within the block that can take them. No round trip."""
    ride = Ride(store, calls)
    token = _waiting.set(ride)
    try:
        yield ride
    finally:
        _waiting.reset(token)


def ride_with(store: "Store", calls: Sequence["Call"]) -> Ride | None:
    """Return the ride that goes out with these scripts; None without one.

    On a cluster only an exchange with every shard takes it along: no page of one shard waits for the others.
    """
    ride = _waiting.get()
    if ride is None or not ride.is_waiting or ride.store is not store:
        return None
    return ride if not store.is_cluster or _shards_of(ride.calls) <= _shards_of(calls) else None


def _shards_of(calls: Sequence["Call"]) -> set[str]:
    return {split_prefix(call.keys[0])[0] for call in calls}
