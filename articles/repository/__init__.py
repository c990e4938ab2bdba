"""The articles, votes, groups and rankings in the store. The only package that knows Redis."""

import time
from collections.abc import Callable

import redis

from articles.domain import Rules
from articles.repository import schema
from articles.repository.articles import Articles
from articles.repository.audit import Audit
from articles.repository.client import make_client
from articles.repository.groups import Groups
from articles.repository.imports import ImportRunning, Imports
from articles.repository.listings import Listings
from articles.repository.moderation_log import ModerationLog
from articles.repository.repair import Repair
from articles.repository.store import Store
from articles.repository.votes import Votes

__all__ = ["ImportRunning", "Repository", "connect"]


class Repository:
    """Everything the site knows of articles. Raises the errors of `articles.errors` and no others."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rules = store.rules
        self.articles = Articles(store)
        self.votes = Votes(store)
        self.groups = Groups(store)
        self.listings = Listings(store)
        self.moderation_log = ModerationLog(store)
        self.imports = Imports(store)
        self.audit = Audit(store)
        self.repair = Repair(store)

    def prepare(self) -> None:
        """Check the store and stamp it at its first use. Raises StoreUnfit, StoreUnavailable."""
        schema.check_server(self.store)
        schema.stamp(self.store)

    def adopt_rules(self) -> bool:
        """Put the rules' weight of a vote in force; True until `repair` has scored everything by it."""
        return schema.adopt_rules(self.store)


def connect(
    target: "str | redis.Redis",
    *,
    shards: int = 1,
    rules: Rules | None = None,
    clock: Callable[[], float] = time.time,
    patient: bool = False,
) -> Repository:
    """The repository of a store, given by URL (or by a client, in tests), not yet prepared."""
    client = make_client(target, patient=patient) if isinstance(target, str) else target
    return Repository(Store(client, shards=shards, rules=rules, clock=clock))
