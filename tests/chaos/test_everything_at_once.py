"""Votes, posts, edits, removals, merges, imports, deletions, repair and readers, all at once for minutes."""

import json
import os
import subprocess
import sys

import pytest

from tests.chaos.actors import MEMBERS, RULES, delete_member
from tests.rules import connect
from tests.store_state import REPOSITORY_DATABASE, problems

pytestmark = [pytest.mark.chaos, pytest.mark.crowd, pytest.mark.timeout(0)]

SECONDS = float(os.environ.get("CHAOS_SECONDS", "300"))

CAST = ("voter", "voter", "poster", "moderator", "importer", "deleter", "viewer", "keeper", "reader", "reader")


def crowd(url: str, shards: int) -> list[dict]:
    """Run all parts at once, each in a separate process; return what each saw."""
    command = [sys.executable, "-m", "tests.chaos.actors"]
    processes = [
        subprocess.Popen(
            [*command, part, url, str(shards), str(seed), str(SECONDS)], stdout=subprocess.PIPE, text=True
        )
        for seed, part in enumerate(CAST)
    ]
    return [json.loads(process.communicate()[0]) for process in processes]


@pytest.mark.parametrize("shards", [1, 4])
def test_the_audit_finds_no_problem_after_minutes_of_concurrent_use(store_paths, shards):
    url = store_paths.url(REPOSITORY_DATABASE)
    repository = connect(url, shards=shards, rules=RULES)
    repository.store.client.flushdb()
    repository.prepare()

    told = crowd(url, shards)

    for one in told:
        print(one["part"], one["deeds"], f"{one['pages']} pages")  # noqa: T201 - the figures of the run
    assert [finding for one in told for finding in one["findings"]] == []
    assert sum(one["pages"] for one in told) > SECONDS
    gone = repository.store.client.smembers(repository.store.shards.all[0].deleted_members)
    assert gone
    for member in range(1, MEMBERS + 1):  # members whose deletion was interrupted when time ran out
        if str(member) in gone:
            delete_member(repository, member)
    repository.hot.rescore()
    assert problems(repository) == []
