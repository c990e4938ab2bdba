"""Messages that background tasks post to addresses that members name.

A receiver that is slow delays its member alone: after a slow exchange it rests, so that others have their turn.
"""

import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime

from django.conf import settings
from django.utils import timezone

from outgoing.fetching import SECONDS, Answer, Fetch, World, resolve

SLOW_SECONDS = 1.0  # an exchange that takes longer is slow
_RESTS = 20  # times what a slow exchange took: for so long its receiver gets nothing more

_ASKS_FOR_A_PAUSE = (429, 503)

_resolver = ThreadPoolExecutor(4, "names")
_resting = dict[str, float]()  # the receivers to whom this process sends nothing for now, and until when


class Resting(Exception):
    """The receiver was slow, and rests for some more `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"rests for {seconds:.0f} s")
        self.seconds = seconds


def _resolve_in_time(host: bytes, port: int) -> list[str]:
    return _resolver.submit(resolve, host, port).result(SECONDS)


WORLD = World(resolve=_resolve_in_time)


def post(
    receiver: str, address: str, headers: Mapping[str, str], body: bytes, private_hosts: Collection[str] = ()
) -> Answer:
    """Post a body; return the answer. `receiver`: whom slowness delays. Raises Resting, NotFetched."""
    if (rest := _resting.pop(receiver, 0.0) - time.monotonic()) > 0:
        _resting[receiver] = time.monotonic() + rest
        raise Resting(rest)
    began = time.monotonic()
    try:
        fetch = Fetch(WORLD, settings.USER_AGENT, seconds=SECONDS, private_hosts=private_hosts)
        return fetch.post(address, headers, body)
    finally:
        if (took := time.monotonic() - began) > SLOW_SECONDS:
            _resting[receiver] = time.monotonic() + _RESTS * took


def pause_in(answer: Answer) -> float:
    """Return for how many seconds the receiver wants to be left alone; 0 for no wish."""
    asked = answer.headers["Retry-After"] if answer.status in _ASKS_FOR_A_PAUSE else None
    try:
        if not asked or asked.isdecimal():
            return float(asked or 0)
        return max(0.0, (parsedate_to_datetime(asked) - timezone.now()).total_seconds())
    except (ValueError, TypeError):
        return 0.0
