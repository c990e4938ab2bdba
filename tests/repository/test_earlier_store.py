"""Stores written by version 0.2.0, kept as commands, open in this version.

The first line of a file describes what that version showed. Every other line is one command, with the
remaining times to live.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from articles.domain.lists import Order
from articles.repository import Repository
from tests.cast import BOB
from tests.clock import Clock
from tests.repository.usage import listed
from tests.rules import connect
from tests.searches import ids_found
from tests.store_state import problems

LOGS = Path(__file__).with_name("earlier_stores")


ONE_SHARD = pytest.param(("one-shard", 1), id="one-shard", marks=pytest.mark.needs("few shards"))


@pytest.fixture(params=[ONE_SHARD, pytest.param(("four-shards", 4), id="four-shards")])
def earlier(request: pytest.FixtureRequest, server_url: str) -> tuple[Repository, dict[str, Any]]:
    """Return a repository on an earlier version's store, and what that version showed of it."""
    name, shards = request.param
    shown, *commands = map(json.loads, (LOGS / f"{name}.jsonl").read_text("utf-8").splitlines())
    repository = connect(server_url, shards=shards, clock=Clock(shown["now"]))
    with repository.store.client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)
        pipe.execute()
    repository.prepare()
    repository.adopt_rules()
    return repository, shown


def lists_of(repository: Repository) -> dict[str, list[int]]:
    """Return the lists that the earlier version had: it had no discussions."""
    assert listed(repository, Order.ACTIVE) == []
    return {order.value: listed(repository, order) for order in Order if order is not Order.ACTIVE}


def test_an_earlier_store_opens_and_shows_the_same_content(earlier):
    repository, shown = earlier

    assert problems(repository) == []
    assert lists_of(repository) == shown["lists"]
    assert {group.slug: [group.title, group.articles] for group in repository.groups.list_all()} == shown["groups"]
    articles = repository.articles.get_many(range(1, 13))
    assert {str(a.id): [a.votes, a.opposes, a.pv, a.uv] for a in articles} == shown["tallies"]
    assert [article.id for article in repository.members.get_saved(BOB).articles] == shown["saved"]
    assert [article.id for article in repository.members.get_posted(BOB).articles] == shown["posted"]
    assert [article.id for article in repository.members.get_voted(11).articles] == shown["voted"]
    log = repository.moderation_log.get_page().entries
    assert [[entry.action.value, entry.title, entry.reason] for entry in log] == shown["log"]
    assert ids_found(repository, "article") == shown["found"]


def test_a_repair_does_not_change_an_earlier_store(earlier):
    repository, shown = earlier

    repository.repair.run()

    assert problems(repository) == []
    assert lists_of(repository) == shown["lists"]
