"""Progress bar of the commands, on stderr so that stdout can be piped."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm


class Progress:
    """A progress bar that takes absolute positions, not increments."""

    def __init__(self, bar: "tqdm[Any]") -> None:
        self._bar = bar
        self._step = ""

    def reach(self, done: int, total: int | None = None) -> None:
        """Show that `done` items are done; `total` replaces the total."""
        if total is not None:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def describe(self, step: str) -> None:
        """Name the step before the bar; another step begins at 0."""
        if step != self._step:
            self._step = step
            self._bar.reset()
            self._bar.set_description(step)

    def clear(self) -> None:
        """Remove the bar from the screen before other output."""
        self._bar.clear()


def add_progress_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--progress", action="store_true", help="show the progress bar even if stderr is not a terminal"
    )


@contextmanager
def progress(*, unit: str, shown: bool, total: int | None = None) -> Iterator[Progress]:
    """Show a bar during the block if stderr is a terminal, or if `shown`."""
    disable = False if shown else None
    bar: tqdm[Any] = tqdm(total=total, unit=unit, unit_scale=True, leave=False, file=sys.stderr, disable=disable)
    with bar:
        yield Progress(bar)
