"""A disk that can be filled: a small file system of its own."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MEGABYTE = 1024 * 1024


@contextmanager
def mounted(folder: Path, megabytes: int = 40) -> Iterator[Path]:
    """Mount a file system of this size at the folder; skip the test where mounting is not allowed."""
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take all the space that is left; return the file that has it."""
    hog = folder / "hog"
    with hog.open("wb", buffering=0) as file:
        for size in (MEGABYTE, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return hog
