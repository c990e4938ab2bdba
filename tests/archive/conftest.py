"""A store whose articles have not been viewed for a long time, and the process that archives them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings

from articles.domain.readership import Suspicion, Visit
from articles.repository import Repository
from tests.cast import ALICE, BOB, CAROL
from tests.clock import DAY, Clock
from tests.factories import post, view, visit

ALICE_READS, BOB_READS, CAROL_READS = (visit(number).visitor for number in (ALICE, BOB, CAROL))
"""Digests that name them as visitors."""
LONG = 91 * DAY

Child = subprocess.Popen[str]


@pytest.fixture
def idle(repository: Repository, clock: Clock) -> Repository:
    """Article 1 in the group python, viewed 91 days ago: twice by alice, once by bob, twice by bots."""
    repository.groups.create("python", "Python")
    assert post(repository, 1, ("python",)) == 1
    for visitor in (ALICE, BOB, ALICE):
        view(repository, 1, visitor)
        clock.advance(600)
    for _ in range(2):
        repository.pageviews.record(1, Visit(CAROL_READS, suspicion=Suspicion.BOT))
    clock.advance(LONG)
    return repository


def shown(repository: Repository, article_id: int = 1) -> tuple[int, int]:
    """Return the page views and visitors that readers see."""
    article = repository.articles.get(article_id)
    return article.pv, article.uv


@dataclass
class Archivist:
    """The process of `child.py`, working on a store."""

    process: Child
    url: str
    shards: int = 1
    clock: Clock | None = None

    def ask(self, do: str, *visitors: str, article_id: int = 1, die_at: int = 0) -> tuple[list[int], list[Any]]:
        """Return the exit statuses of the processes, -9 for a killed one, and their answers."""
        assert self.process.stdin
        assert self.process.stdout
        order = {"do": do, "url": self.url, "shards": self.shards, "now": self.clock() if self.clock else 0}
        order |= {"id": article_id, "visitors": visitors, "die_at": die_at}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        return found["statuses"], found["answers"]

    def tell(self, do: str, *visitors: str, article_id: int = 1) -> Any:
        """Return the answer of one process that was not killed."""
        (status,), (told,) = self.ask(do, *visitors, article_id=article_id)
        assert status == 0
        return told

    def survives(self, do: str, *visitors: str, die_at: int) -> bool:
        """Return whether the process finishes before the step at which it would be killed."""
        (status,), _ = self.ask(do, *visitors, die_at=die_at)
        assert status in (0, -9)
        return status == 0


@pytest.fixture(scope="session")
def child_process() -> Iterator[Child]:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.archive.child"],
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    yield process
    with suppress(OSError):
        assert process.stdin
        process.stdin.close()
    process.wait(60)
    process.stdout.close()


@pytest.fixture
def archivist(child_process: Child, idle: Repository, server_url: str, clock: Clock) -> Archivist:
    """The process of `child.py`, working on the store of `idle` with an empty archive."""
    found = Archivist(child_process, server_url, idle.store.shards.count, clock)
    found.tell("clear")
    return found
