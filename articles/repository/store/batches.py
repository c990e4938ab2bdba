"""Batches: their sizes in round trips and scripts, and reading the next ones ahead.

While a script runs, the store serves no other client.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

ARTICLES_PER_STEP = 1000  # articles that one script ranks, lists or stamps: some milliseconds of the store's time
ARTICLES_PER_READ = 500  # whole articles in one reply: some hundred kilobytes

TEXTS_PER_READ = 50
"""Whole articles with their texts in one reply: a few megabytes, if all are as long as they can be."""

ARTICLES_PER_CHECK = 250
"""Articles, or entries of the moderation log, that one script audits or repairs: it reads all data of each."""

ENTRIES_PER_READ = 500  # entries of a long list or sorted set in one reply

ENTRIES_PER_STEP = 20_000
"""Entries that one script reads, unless a single article has more: some milliseconds of the store's time."""

ENTRIES_PER_CHECK = 500  # entries of a member's lists that one script audits or repairs
KEYS_PER_SCAN = 1000  # keys, or members of a collection, that one SCAN visits
KEYS_PER_READ = 250  # whole keys of a backup in one reply


Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # batches read ahead; with one, the store would wait: a thread gets its turn only after milliseconds


def read_ahead(read: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """Yield the result of `read` for each item, in order. It runs in threads, two items ahead of the caller.

    Only for reads: if one fails, the next ones have been started.
    """
    with ThreadPoolExecutor(max_workers=_AHEAD) as threads:
        running = deque[Future[Result]]()
        for item in items:
            running.append(threads.submit(read, item))
            if len(running) > _AHEAD:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
