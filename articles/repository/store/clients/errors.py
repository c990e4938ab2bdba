"""Translates the errors of store clients. No other module does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from articles.domain.errors import StoreDamaged, StoreUnavailable, StoreUnconfirmed, StoreUnfit
from articles.repository.store.clients.guarded_connection import is_unconfirmed

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
