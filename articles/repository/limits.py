"""Rate limits: counted in the store, for all processes together."""

from collections.abc import Sequence

from articles.domain.limits import Use
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, OfStore, Store, Value


class Limits(OfStore):
    """The limits of a store."""

    def take(self, uses: Sequence[Use]) -> None:
        """Take one use of each limit. Raises LimitReached if any is used up; then none is taken.

        One round trip, none if there is no limit; two if one limit refuses and another does not.
        """
        calls = take_calls(self._store, uses)
        if calls:
            check(self._store, uses, self._store.run_many(calls))

    def give_back(self, uses: Sequence[Use]) -> None:
        """Give back uses that were taken for nothing. One round trip, none if there is no limit."""
        _give_back(self._store, uses)


def take_calls(store: Store, uses: Sequence[Use]) -> list[Call]:
    """Return a call for each use that is limited; `check` reads the replies."""
    now = _milliseconds(store)
    return [
        Call(
            "limits/take",
            [names.limit(use.limit, use.subject)],
            [now, use.taken_of(rate) * rate.refill_ms, rate.capacity_ms],
        )
        for use in uses
        if (rate := use.rate(store.rules.limits))
    ]


def check(store: Store, uses: Sequence[Use], replies: Sequence[Sequence[Value]]) -> None:
    """Raise LimitReached for the limit with the longest wait, if any refused; first give the others back."""
    limited = [use for use in uses if use.rate(store.rules.limits)]
    answered = list(zip(limited, replies, strict=True))
    waits = [(int(reply[1]), use.limit) for use, reply in answered if reply[0] == "limited"]
    if waits:
        _give_back(store, [use for use, reply in answered if reply[0] == "ok"])
        wait, limit = max(waits)
        store.rules.refuse(limit, wait)


def _give_back(store: Store, uses: Sequence[Use]) -> None:
    calls = [Call("limits/give_back", call.keys, call.args[:2]) for call in take_calls(store, uses)]
    if calls:
        store.run_many(calls)


def _milliseconds(store: Store) -> int:
    return round(store.now() * 1000)
