"""Connections that bound how long a store can hold up a page.

A socket's timeout limits each read, so an answer that arrives byte by byte could take minutes. Here it limits the
whole answer, from the moment the command is sent, and `answer_within` limits the waiting of one request in all.
After two timeouts in a row, the next callers fail at once for a second instead of waiting as well: threads that
wait for a hanging store can do nothing else.

`store_errors` translates what they raise. No other module does.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from inspect import unwrap
from threading import Lock, local
from typing import Any

import redis
from redis._parsers import _HiredisParser
from redis.backoff import NoBackoff
from redis.connection import Connection, ConnectionPool
from redis.retry import Retry
from redis.utils import SENTINEL

from articles.domain.errors import StoreDamaged, StoreUnavailable, StoreUnconfirmed, StoreUnfit

PAUSE = 1.0  # seconds for which a store that hangs is not asked again

_TIMEOUTS_IN_A_ROW = 2
_UNCONFIRMED = "unconfirmed"  # mark of an error that left open whether the command was executed
_ENDED = "ended"  # mark of the error of a connection that had been open

_FAILURES = (redis.TimeoutError, redis.ConnectionError, OSError)
"""What may be raised while a server is asked; Python's TimeoutError is an OSError."""

_request = local()


@contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """Limit the time that this thread waits for stores inside the block, for all answers together."""
    outer = getattr(_request, "left", None)
    _request.left = seconds
    try:
        yield
    finally:
        _request.left = outer


@contextmanager
def answer_sooner(seconds: float) -> Iterator[None]:
    """Limit the waiting like `answer_within`, and by what an outer limit leaves; count it against that limit."""
    outer = getattr(_request, "left", None)
    limit = seconds if outer is None else min(seconds, outer)
    _request.left = limit
    try:
        yield
    finally:
        _request.left = None if outer is None else outer - (limit - _request.left)


def is_unconfirmed(error: redis.RedisError) -> bool:
    """Return whether the command may have been executed although the error says that there was no answer."""
    return _UNCONFIRMED in error.__dict__


def was_not_sent_or_only_reads(error: Exception) -> bool:
    """Return whether a command may be sent once more after an error: no server has it, or a page only reads."""
    if not isinstance(error, redis.ConnectionError) or isinstance(error, redis.BusyLoadingError):
        return False
    return _ENDED not in error.__dict__ or getattr(_request, "left", None) is not None


class ReadersRetry(Retry):
    """Repeats a page's read once if the store closed the connection, as it does when it restarts.

    A change may have been executed, so it is repeated only by its sender. A store that hangs is not asked again.
    """

    def __init__(self) -> None:
        super().__init__(NoBackoff(), 0)

    def call_with_retry(
        self, do: Any, fail: Any, is_retryable: Any = None, with_failure_count: bool = False
    ) -> Any:
        is_first = True
        while True:
            try:
                return do()
            except (redis.ConnectionError, redis.TimeoutError, TimeoutError) as error:
                if is_retryable and not is_retryable(error):
                    raise
                if with_failure_count:
                    fail(error, 1)
                else:
                    fail(error)
                if not is_first or _ENDED not in error.__dict__ or not was_not_sent_or_only_reads(error):
                    raise
            is_first = False


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
        if timeout is not SENTINEL or self.ends is None:
            return super().read_from_socket(timeout, raise_on_timeout)  # type: ignore[no-untyped-call]
        began, left = time.monotonic(), getattr(_request, "left", None)
        wait = self.ends - began if left is None else min(self.ends - began, left)
        if wait <= 0:
            raise redis.TimeoutError("Timeout reading from socket")
        try:
            return super().read_from_socket(wait, raise_on_timeout)  # type: ignore[no-untyped-call]
        finally:
            if left is not None:
                _request.left = left - (time.monotonic() - began)


class _Guarded:
    """Mixed into redis-py's kinds of connections. A pool calls `connect` whenever it hands out a connection.

    It does not name its library to the server: redis-py reads its version from disk for each connection.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"parser_class": DeadlineParser, "driver_info": None})
        self._know_server()

    def _know_server(self) -> None:
        self.server = tuple(getattr(self, name, None) for name in ("path", "host", "port", "socket_timeout"))
        self._breaker = breaker_of(self.server)

    def connect_to(self, address: tuple[str, int]) -> None:
        """Connect to the server that sentinels name. Only redis-py's connections for Sentinel have this."""
        self.host, self.port = address
        self._know_server()
        self._breaker.check()
        super().connect_to(address)  # type: ignore[misc]

    def connect(self) -> None:
        if self.is_connected:  # type: ignore[attr-defined]
            self._breaker.check()
            return
        if not hasattr(super(), "connect_to"):
            self._breaker.check()
        try:
            super().connect()  # type: ignore[misc]
        except redis.RedisError as error:
            for mark in (_UNCONFIRMED, _ENDED):  # only greetings were lost
                error.__dict__.pop(mark, None)
            raise

    def _connect(self) -> Any:
        try:
            return super()._connect()  # type: ignore[misc]
        except _FAILURES as error:
            self._notice(error)
            raise

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        limit = self.socket_timeout  # type: ignore[attr-defined]
        self._parser.ends = None if limit is None else time.monotonic() + limit  # type: ignore[attr-defined]
        was_open = self.is_connected  # type: ignore[attr-defined]
        try:
            super().send_packed_command(command, check_health)  # type: ignore[misc]
        except _FAILURES as error:
            if was_open and isinstance(error, redis.ConnectionError):
                error.__dict__[_ENDED] = True
            self._notice(error)
            raise

    def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            response = super().read_response(*args, **options)  # type: ignore[misc]
        except _FAILURES as error:
            if isinstance(error, redis.RedisError) and not _is_answer(error):
                error.__dict__ |= {_UNCONFIRMED: True, _ENDED: True}
            self._notice(error)
            raise
        self._breaker.answered()
        return response

    def exchange(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Send commands together; return their replies, errors of the server as values."""
        self.send_packed_command(self.pack_commands(commands))  # type: ignore[attr-defined]
        return [self._reply() for _ in commands]

    def _reply(self) -> Any:
        try:
            return self.read_response()
        except redis.ResponseError as error:
            return error

    def _notice(self, error: Exception) -> None:
        """Tell the breaker of a failure: a server that closes or refuses connections does not hang."""
        if isinstance(error, redis.TimeoutError | TimeoutError):
            self._breaker.timed_out()
        else:
            self._breaker.answered()


def _is_answer(error: Exception) -> bool:
    """Return whether the error is a server's answer that it did not execute the command.

    The server is loading its data, or it was a primary and has become a replica.
    """
    if not isinstance(error, redis.ConnectionError):
        return False
    return isinstance(error, redis.BusyLoadingError) or isinstance(error.__context__, redis.ReadOnlyError)


@cache
def guarded(kind: type) -> type:
    """Return a kind of redis-py's connections with the guards of this module."""
    return type(f"Guarded{kind.__name__}", (_Guarded, kind), {})


class GuardedPool(ConnectionPool):
    """A pool of guarded connections, of whichever kind the URL asks for."""

    get_connection = unwrap(ConnectionPool.get_connection)
    """The method without redis-py's search for obsolete arguments, which takes as long as the rest."""

    def __init__(self, connection_class: type = Connection, **options: Any) -> None:
        super().__init__(connection_class=guarded(connection_class), **options)


class GuardedNodePool(GuardedPool):
    """The pool of one node of a cluster, which repeats nothing, whatever policy redis-py has for nodes."""

    def __init__(self, **options: Any) -> None:
        options.pop("cache", None)
        super().__init__(**options | {"retry": Retry(NoBackoff(), 0)})


class GuardedClient(redis.Redis):
    """A client whose pool hands out guarded connections."""

    def send_together(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Send commands whose replies need no conversion; return them, errors as values. One round trip."""
        pool = self.connection_pool
        connection: Any = pool.get_connection()
        try:
            replies: list[Any] = connection.retry.call_with_retry(
                partial(connection.exchange, commands), lambda _error: connection.disconnect()
            )
        finally:
            pool.release(connection)
        return replies


_PASSING = re.compile(
    r"(?:^|[\s-])(?:MISCONF|NOREPLICAS|CLUSTERDOWN|LOADING|MASTERDOWN|MOVING|BUSY|TRYAGAIN|READONLY|OOM)\b"
    r"|access a non local key in a cluster node|while the cluster is down"
)
"""Transient errors, at the start of a message or inside it: Redis 6.2 wraps the errors of commands in scripts."""

_DAMAGED = re.compile(
    r"WRONGTYPE|INVALIDOBJ|is not an integer|is not a (?:valid )?float|score is not a number|user_script:\d"
)
"""Errors of commands on a key of another type or a value that is no number, and of scripts that fail on one."""

_OF_CLUSTERS = (
    redis.exceptions.AskError,
    redis.exceptions.TryAgainError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.RedisClusterException,
)
"""Errors of redis-py that do not say the server's first word, by which others are recognised."""

UNPREPARED = (
    "The store was emptied, or has lost the ranking's parameters: `manage.py doctor` says which. If it was "
    "emptied, stop the site, empty the store again, and restore a backup, or run `manage.py accept_store` to "
    "start over; if not, restart the site, then run `manage.py repair`."
)


@contextmanager
def store_errors() -> Iterator[None]:
    """Raise StoreUnavailable for transient failures, StoreDamaged for wrong data.

    StoreUnfit for lost parameters and lacking permissions.

    Of the first, StoreUnconfirmed if the command had been sent.
    """
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError, redis.OutOfMemoryError, redis.ReadOnlyError) as error:
        if is_unconfirmed(error):
            raise StoreUnconfirmed(str(error)) from error
        raise StoreUnavailable(str(error)) from error
    except _OF_CLUSTERS as error:
        raise StoreUnavailable(f"a part of the store is away or being moved: {error}") from error
    except redis.exceptions.NoPermissionError as error:
        raise StoreUnfit(f"The store does not permit this to the site's user: {error}") from error
    except redis.ResponseError as error:
        if _PASSING.search(str(error)):
            raise StoreUnavailable(str(error)) from error
        if "UNPREPARED" in str(error):
            raise StoreUnfit(UNPREPARED) from error
        if _DAMAGED.search(str(error)):
            raise StoreDamaged(str(error)) from error
        raise
