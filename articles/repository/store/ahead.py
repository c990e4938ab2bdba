"""Reading ahead: the store works on the next batch while the caller works on the one before."""

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def read_ahead(read: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """Yield the result of `read` for each item. It runs in a thread, one item ahead of the caller.

    Only for reads: if one fails, the next one has been started.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        running: Future[Result] | None = None
        for item in items:
            started = thread.submit(read, item)
            if running:
                yield running.result()
            running = started
        if running:
            yield running.result()
