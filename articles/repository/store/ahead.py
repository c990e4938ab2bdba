"""Reading ahead: the store works on the next batches while the caller works on the one before."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2
"""Batches read ahead. With one, the store would wait: a thread gets its turn only after milliseconds."""


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
