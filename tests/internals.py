"""Internal parts of the repository, for tests elsewhere that replace a method or shrink a step."""

import pytest

from articles import wiring
from articles.repository import Repository
from articles.repository.groups import Groups
from articles.repository.imports import Imports
from articles.repository.lists.hot import Hot
from articles.repository.lists.pages import Lists
from articles.repository.members import Members
from articles.repository.moving import marks
from articles.repository.ranking import parameters
from articles.repository.ranking.explanations import Explanations
from articles.repository.ranking.parameters import RankingParameters
from articles.repository.ranking.weights import MOST_ARTICLES
from articles.repository.readership.pageviews import Pageviews
from articles.repository.store import keys, schema, scripts
from articles.repository.store.connection import Store
from articles.repository.upkeep.lease import _LOCK_LIFE as LEASE_SECONDS
from articles.repository.upkeep.lease import HeldLease
from articles.repository.votes import Votes

__all__ = [
    "LEASE_SECONDS",
    "MOST_ARTICLES",
    "Explanations",
    "Groups",
    "HeldLease",
    "Hot",
    "Imports",
    "Lists",
    "Members",
    "Pageviews",
    "RankingParameters",
    "Store",
    "Votes",
    "keys",
    "parameters",
    "schema",
    "scripts",
]


def forget_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process know of no move until the end of the test, and let no later test be led elsewhere."""
    monkeypatch.setattr(wiring, "_followed", wiring._Followed())
    monkeypatch.setattr(wiring, "_watch", wiring._Watch())


def let_move(repository: Repository) -> None:
    """Mark the store as one that is being copied to another one."""
    marks.note_changes(repository.store)


def refuse_changes(repository: Repository) -> None:
    """Let the store refuse changes, as in the last seconds of a move."""
    marks.refuse_changes(repository.store, 60)


def end_move(repository: Repository) -> None:
    """Let the store forget its move."""
    marks.clear(repository.store)
