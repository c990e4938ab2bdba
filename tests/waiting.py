"""Waiting for what another process does."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SECONDS = 60.0  # after which a wait fails: many times what a busy machine takes
SHORTEST, LONGEST = 0.01, 0.1
"""Seconds between two looks. They grow, so that a long wait takes no processor time from what it waits for."""


def until(condition: Callable[[], object], seconds: float = SECONDS, told: Callable[[], str] = str) -> float:
    """Poll the condition until it holds; return the seconds it took. Fail after `seconds`."""
    begun, pause = time.monotonic(), SHORTEST
    while not condition():
        assert time.monotonic() - begun < seconds, f"not within {seconds} s\n{told()}"
        time.sleep(pause)
        pause = min(1.2 * pause, LONGEST)
    return time.monotonic() - begun


def fill_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]) -> Path:
    """Return a folder of the whole test run: the first of its processes fills it while the others wait."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    part = folder.with_suffix(".part")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(part, ignore_errors=True)  # of a process that failed
            part.mkdir()
            fill(part)
            part.rename(folder)
    return folder
