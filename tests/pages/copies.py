"""The copies of pages that a test has kept."""

import os
import time
from pathlib import Path


def make_old(directory: Path, seconds: float = 1e9) -> None:
    """Let the copies be older than the time after which a page is kept again."""
    for path in directory.iterdir():
        os.utime(path, (time.time() - seconds,) * 2)
