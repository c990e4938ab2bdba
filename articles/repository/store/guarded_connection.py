"""Connections that bound how long a store can hold up a page.

A socket's timeout limits each read, so an answer that arrives byte by byte could take minutes. Here it limits the
whole answer, from the moment the command is sent, and `answer_within` limits all answers of one request together.
After two timeouts in a row, the next callers fail at once for a second instead of waiting as well: threads that
wait for a hanging store are missing for everything else.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any

import redis
from redis._parsers import _HiredisParser
from redis.connection import Connection, ConnectionPool
from redis.utils import SENTINEL

PAUSE = 1.0
"""Seconds for which a store that hangs is not asked again."""

_TIMEOUTS_IN_A_ROW = 2

_request = local()


@contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """Limit all answers of stores that this thread waits for inside the block, together."""
    outer = getattr(_request, "ends", None)
    _request.ends = time.monotonic() + seconds
    try:
        yield
    finally:
        _request.ends = outer


class Breaker:
    """Decides whether a server may be asked: after two timeouts in a row, not for a second, then by one caller."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._timeouts = 0
        self._asked_again_at = 0.0

    def check(self) -> None:
        """Raise ConnectionError if the server hung a moment ago. The first caller afterwards may ask."""
        if self._timeouts < _TIMEOUTS_IN_A_ROW:
            return
        with self._lock:
            now = time.monotonic()
            if now < self._asked_again_at:
                raise redis.ConnectionError("The store did not answer a moment ago; it is asked again shortly.")
            self._asked_again_at = now + PAUSE

    def answered(self) -> None:
        self._timeouts = 0

    def timed_out(self) -> None:
        with self._lock:
            self._timeouts += 1
            self._asked_again_at = time.monotonic() + PAUSE


@cache
def breaker_of(_server: tuple[Any, ...]) -> Breaker:
    """Return the breaker that all connections of this process to a server share."""
    return Breaker()


class DeadlineParser(_HiredisParser):
    """Reads answers until a deadline."""

    ends: float | None = None

    def read_from_socket(self, timeout: Any = SENTINEL, raise_on_timeout: bool = True) -> Any:
        if timeout is SENTINEL and self.ends is not None:
            timeout = self.ends - time.monotonic()
            if timeout <= 0:
                raise redis.TimeoutError("Timeout reading from socket")
        return super().read_from_socket(timeout, raise_on_timeout)  # type: ignore[no-untyped-call]


class _Guarded:
    """Mixed into redis-py's kinds of connections. A pool calls `connect` whenever it hands out a connection."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"parser_class": DeadlineParser})
        self.server = tuple(getattr(self, name, None) for name in ("path", "host", "port", "socket_timeout"))
        self._breaker = breaker_of(self.server)

    def connect(self) -> None:
        self._breaker.check()
        super().connect()  # type: ignore[misc]

    def _connect(self) -> Any:
        with self._noticed():
            return super()._connect()  # type: ignore[misc]

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        self._parser.ends = self._deadline()  # type: ignore[attr-defined]
        with self._noticed():
            super().send_packed_command(command, check_health)  # type: ignore[misc]

    def read_response(self, *args: Any, **options: Any) -> Any:
        with self._noticed():
            response = super().read_response(*args, **options)  # type: ignore[misc]
        self._breaker.answered()
        return response

    def _deadline(self) -> float | None:
        limit, request_ends = self.socket_timeout, getattr(_request, "ends", None)  # type: ignore[attr-defined]
        ends = None if limit is None else time.monotonic() + limit
        return min((at for at in (ends, request_ends) if at is not None), default=None)

    @contextmanager
    def _noticed(self) -> Iterator[None]:
        try:
            yield
        except (redis.TimeoutError, TimeoutError):
            self._breaker.timed_out()
            raise


@cache
def _guarded(kind: type) -> type:
    return type(f"Guarded{kind.__name__}", (_Guarded, kind), {})


class GuardedPool(ConnectionPool):
    """A pool of guarded connections, of whichever kind the URL asks for."""

    def __init__(self, connection_class: type = Connection, **options: Any) -> None:
        super().__init__(connection_class=_guarded(connection_class), **options)
