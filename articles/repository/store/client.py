"""Builds store clients and translates their errors. No other module does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from articles.domain.errors import StoreDamaged, StoreUnavailable, StoreUnconfirmed, StoreUnfit
from articles.repository.store.guarded_connection import GuardedPool, ReadersRetry, is_unconfirmed

CONNECT_TIMEOUT = 0.2
"""Seconds for a new connection."""

PATIENT_TIMEOUT_SECONDS = 60.0
"""Limit for one reply to an operator's command, whose batches are long. Pages wait STORE_TIMEOUT_MS."""

_PASSING = re.compile(
    r"(?:^|[\s-])(?:MISCONF|NOREPLICAS|CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|TRYAGAIN|READONLY|OOM)\b"
)
"""Transient errors, at the start of a message or inside it: Redis 6.2 wraps the errors of commands in scripts."""


_DAMAGED = re.compile(
    r"WRONGTYPE|INVALIDOBJ|is not an integer|is not a (?:valid )?float|score is not a number|user_script:\d"
)
"""Errors of commands on a key of another type or a value that is no number, and of scripts that fail on one."""


UNPREPARED = "The store has lost the ranking's parameters; restart the site, then run repair."


def make_client(url: str, *, timeout_seconds: float = PATIENT_TIMEOUT_SECONDS) -> redis.Redis:
    """Return a client that never sends a change twice without the caller's knowledge.

    Bytes that are no text, as in a damaged store, are read as escapes such as \\xff, which every page can show.
    `timeout_seconds`: limit for one reply, or for all replies of a pipeline.
    """
    pool = GuardedPool.from_url(
        url,
        decode_responses=True,
        encoding_errors="backslashreplace",
        protocol=2,
        retry=ReadersRetry(),
        socket_connect_timeout=CONNECT_TIMEOUT,
        socket_timeout=timeout_seconds,
    )
    return redis.Redis.from_pool(pool)


@contextmanager
def store_errors() -> Iterator[None]:
    """Raise StoreUnavailable for transient failures, StoreUnfit for lost parameters, StoreDamaged for wrong data.

    Of the first, StoreUnconfirmed if the command had been sent.
    """
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError, redis.OutOfMemoryError, redis.ReadOnlyError) as error:
        if is_unconfirmed(error):
            raise StoreUnconfirmed(str(error)) from error
        raise StoreUnavailable(str(error)) from error
    except redis.ResponseError as error:
        if _PASSING.search(str(error)):
            raise StoreUnavailable(str(error)) from error
        if "UNPREPARED" in str(error):
            raise StoreUnfit(UNPREPARED) from error
        if _DAMAGED.search(str(error)):
            raise StoreDamaged(str(error)) from error
        raise
