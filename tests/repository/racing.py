"""Run jobs in many threads at once, or a step just before a script runs."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier, Event
from typing import Any

import redis

from articles.domain.errors import ArticlesError, StoreError
from articles.repository import Repository
from articles.repository.store import scripts
from tests.every_server import with_methods_of
from tests.rules import connect

Job = Callable[[], Any]


def race(repository: Repository, jobs: Sequence[Job]) -> list[Any]:
    """Run all jobs at once, each in its own thread; return what each returned, or the refusal it raised."""
    barrier = Barrier(len(jobs))

    def run(job: Job) -> Any:
        repository.store.client.ping()  # open a connection for each thread before it starts
        barrier.wait(60)
        try:
            return job()
        except StoreError:
            raise
        except ArticlesError as refusal:
            return refusal

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def several(job: Job, times: int) -> Job:
    """Run the job repeatedly; return what it returned or raised each time."""

    def run() -> list[Any]:
        outcomes = []
        for _ in range(times):
            try:
                outcomes.append(job())
            except StoreError:
                raise
            except ArticlesError as refusal:
                outcomes.append(refusal)
        return outcomes

    return run


def during(work: Job, reading: Job, repository: Repository, readers: int = 2) -> int:
    """Do the work while readers read repeatedly; return how often they read."""
    done, reads = Event(), count()

    def read() -> None:
        while True:
            reading()
            next(reads)
            if done.is_set():
                return

    def run() -> None:
        try:
            work()
        finally:
            done.set()

    for outcome in race(repository, [run, *[read] * readers]):
        assert outcome is None
    return next(reads)


class Interleaved(redis.Redis):
    """A client that runs a step just before a given script runs, for the first time or a later one."""

    script, turn = "", 1
    meanwhile: Job | None = None

    def execute_command(self, *words, **options):
        if words[0] == "EVALSHA":
            self.overtake(words[1])
        return super().execute_command(*words, **options)

    def overtake(self, sha):
        if self.meanwhile and sha == scripts.digest(self.script):
            self.turn -= 1
            if self.turn == 0:
                happen, self.meanwhile = self.meanwhile, None
                happen()


def interleaved(repository: Repository, script: str, meanwhile: Job, turn: int = 1) -> Repository:
    """Return the same store as another process sees it that is overtaken just before it runs this script.

    `turn`: which of the times that it runs the script, in each shard.
    """
    client = with_methods_of(Interleaved, repository.store.client)
    client.script, client.meanwhile, client.turn = script, meanwhile, turn
    store = repository.store
    overtaken = connect(client, shards=store.shards.count, clock=store.now, rules=repository.rules)
    run_many = overtaken.store.run_many

    def watched(calls, **how):
        calls = tuple(calls)
        for call in calls:
            client.overtake(scripts.digest(call.script))
        return run_many(calls, **how)

    overtaken.store.run_many = watched
    return overtaken
