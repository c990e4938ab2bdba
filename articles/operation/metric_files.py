"""The counts of several processes: each writes files of its own into one directory, and all are read together.

A process's files have to outlive it, or its counts would be gone. So that the directory does not grow with every
worker that is replaced, what ended processes counted is added up in one set of files, as if a process with the
impossible id 0 had counted it. Whoever reads holds a shared lock, so that nothing is seen twice or not at all.
"""

import fcntl
import logging
import os
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Names the directory. It has to be set before prometheus_client is imported, and for these processes alone."""

_log = logging.getLogger(__name__)

_ENDED = 0
_LOCK = "lock"
_COUNTS = re.compile(r"(?:counter|histogram|summary|gauge_[a-z]+)_[0-9]+\.db")
"""Names of prometheus_client's files."""


def directory() -> Path | None:
    """Where the processes of this web server count; None when this process counts for itself alone."""
    path = os.environ.get(VARIABLE)
    return Path(path) if path else None


def empty(folder: Path) -> None:
    """Remove what the processes of an earlier web server counted, and no other files."""
    for path in folder.iterdir():
        if _COUNTS.fullmatch(path.name) and path.is_file():
            path.unlink()


class AllProcesses:
    """The sum over all processes, as something a registry collects."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        with _locked(self._folder, fcntl.LOCK_SH):
            # A process that begins to count makes its file first and fills it then.
            files = [str(path) for path in self._folder.glob("*.db") if path.stat().st_size]
            metrics = list(MultiProcessCollector.merge(files))  # type: ignore[no-untyped-call]
        yield from metrics


def absorb(folder: Path, ended: Iterable[int]) -> bool:
    """Add up what ended processes counted, and remove their files. False if somebody reads just now: try again.

    Never waits, because the process that watches over the others may not.
    """
    with _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB) as alone:
        if alone:
            for pid in ended:
                for path in folder.glob(f"*_{pid}.db"):
                    _add(path, folder / f"{path.name.rpartition('_')[0]}_{_ENDED}.db")
                    path.unlink()
    return alone


def _add(path: Path, total: Path) -> None:
    """Add a file to the sums; nothing of one that is damaged, which would spoil every reading from now on."""
    try:
        values = list(MmapedDict.read_all_values_from_file(str(path)))  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError, struct.error):
        _log.warning("%s is damaged: what its process counted is lost", path)
        return
    sums: Any = MmapedDict(str(total))  # type: ignore[no-untyped-call]
    try:
        for key, value, _, _ in values:
            sums.write_value(key, sums.read_value(key)[0] + value, 0.0)
    finally:
        sums.close()


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[bool]:
    """Whether the lock is held; only where it does not wait can it fail."""
    with (folder / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, how)
        except BlockingIOError:
            yield False
        else:
            yield True
