"""Who reads: the groups for members only, which the reader of the current request does not get to see.

Within `without`, the repository returns none of their articles, and answers as if these groups did not exist.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_closed: ContextVar[frozenset[str]] = ContextVar("closed_groups", default=frozenset())


def closed_groups() -> frozenset[str]:
    """Return the slugs of the groups that the reader does not get to see: none for members, or without one."""
    return _closed.get()


@contextmanager
def without(groups: Collection[str]) -> Iterator[None]:
    """Let no article of these groups be read."""
    token = _closed.set(frozenset(groups))
    try:
        yield
    finally:
        _closed.reset(token)


def admit() -> None:
    """Let the rest of the request read everything: its token or its key is a member's."""
    _closed.set(frozenset())
