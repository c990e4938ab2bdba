"""Internal parts of the repository for tests elsewhere, and ways to let any part fail."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from articles.repository.groups import Groups
from articles.repository.imports import Imports
from articles.repository.limits import Limits
from articles.repository.lists.hot import Hot
from articles.repository.lists.pages import Lists
from articles.repository.members import Members
from articles.repository.moderation import log
from articles.repository.ranking import parameters
from articles.repository.ranking.explanations import Explanations
from articles.repository.ranking.parameters import RankingParameters
from articles.repository.ranking.weights import MOST_ARTICLES
from articles.repository.readership.pageviews import Pageviews, views_per_article
from articles.repository.store import keys, schema, scripts
from articles.repository.store.connection import Store
from articles.repository.upkeep.lease import _LOCK_LIFE as LEASE_SECONDS, HeldLease
from articles.repository.votes import Votes

__all__ = [
    "LEASE_SECONDS",
    "MOST_ARTICLES",
    "Explanations",
    "Groups",
    "HeldLease",
    "Hot",
    "Imports",
    "Limits",
    "Lists",
    "Members",
    "Pageviews",
    "RankingParameters",
    "Store",
    "Votes",
    "keys",
    "log",
    "parameters",
    "schema",
    "scripts",
    "views_per_article",
]


@contextmanager
def failing(
    owner: object, name: str, error: BaseException | type[BaseException] = KeyboardInterrupt, at: int = 0
) -> Iterator[None]:
    """Let a function raise an error inside the block: at every call, or at one of them."""
    function, calls = getattr(owner, name), itertools.count(1)

    def fail(*args: Any, **options: Any) -> Any:
        if at in (0, next(calls)):
            raise error
        return function(*args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, fail)
        yield


@contextmanager
def meanwhile(owner: object, name: str, act: Callable[[], object]) -> Iterator[None]:
    """Let something happen just before a function runs inside the block, as another process might do it."""
    function = getattr(owner, name)

    def late(*args: Any, **options: Any) -> Any:
        act()
        return function(*args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, late)
        yield
