"""Report when the disk of the data directory is full: the store's own errors do not name the reason."""

import logging
import os
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from heapq import nlargest
from pathlib import Path

FULL_BYTES = 1024 * 1024
"""Less free space than this counts as full: not even the store's files can be written at a start."""

_LOOK_SECONDS, _REPEAT_SECONDS = 2.0, 60.0

_log = logging.getLogger(__name__)


def is_full(folder: Path) -> bool:
    """Return whether this process can write next to nothing to the folder's disk."""
    facts = os.statvfs(folder)
    free = facts.f_bfree if os.geteuid() == 0 else facts.f_bavail
    return free * facts.f_frsize < FULL_BYTES


def sentence(folder: Path) -> str:
    return f"The disk of DATA_DIR ({folder}) is full: nothing can be saved until space is freed."


_NAMED = 3  # the largest files that a refusal names


def refusal(data_dir: Path, folders: Collection[Path]) -> str:
    """Return the sentence, with the largest files of the site's folders that are on the same disk."""
    disk = data_dir.stat().st_dev
    largest = nlargest(_NAMED, {facts for folder in folders for facts in _files(folder, disk)})
    named = ", ".join(f"{path} ({size / 1e6:,.1f} MB)" for size, path in largest if size)
    return f"{sentence(data_dir)} The largest files: {named}." if named else sentence(data_dir)


def _files(folder: Path, disk: int) -> Iterator[tuple[int, str]]:
    """Yield the size on the disk and the path of each file that can be seen."""
    for at, _folders, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                facts = os.lstat(path := os.path.join(at, name))
                if facts.st_dev == disk:
                    yield facts.st_blocks * 512, path


class DiskWatch:
    """Looks at the disk every few seconds; logs when it fills up, each minute while full, and when not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next_look = 0.0
        self._next_line: float | None = None

    def look(self) -> None:
        """Look, if it is time to. Never raises."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        try:
            full = is_full(self._folder)
        except OSError as error:
            _log.warning("the disk of DATA_DIR (%s) cannot be examined: %s", self._folder, error.strerror)
            return
        if full and (self._next_line is None or now >= self._next_line):
            _log.error("%s", sentence(self._folder))
            self._next_line = now + _REPEAT_SECONDS
        elif not full and self._next_line is not None:
            _log.info("The disk of DATA_DIR (%s) has space again.", self._folder)
            self._next_line = None
