"""Mends what a power failure leaves of the append-only files, before a server opens them.

Some file systems fill the end of a file, or all of it, with NUL bytes, or leave it empty. A command ends with a
line feed, so NULs at the end are no part of what was acknowledged. All else is left to the server: it drops half a
command at the end, and refuses damage elsewhere.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from .errors import StoreCorruptError, StoreDirectoryError
from .paths import StorePaths, write_whole

_LINE = re.compile(r"file (?P<name>\S+) seq \d+ type (?P<type>[bih])\b.*")
_NAME = re.compile(r"appendonly\.aof\.(?P<number>\d+)\.(?P<kind>base|incr)\.(?:rdb|aof)")
_BYTES_AT_ONCE = 1024 * 1024


def mend(paths: StorePaths) -> Iterator[str]:
    """Mend the files of a store that no server has open; yield what was done, one sentence each.

    Raises StoreCorruptError if the server would start without some of the files, and StoreDirectoryError.
    """
    try:
        yield from _mend(paths)
    except OSError as error:
        raise StoreDirectoryError.from_os(error, paths.manifest.parent) from error


def _mend(paths: StorePaths) -> Iterator[str]:
    for draft in (*paths.directory.glob("temp-*"), *paths.manifest.parent.glob("temp-*")):
        draft.unlink()  # of a rewrite that was interrupted
    if not paths.manifest.exists():
        return
    yield from _mend_manifest(paths)
    journals = [name for name, type_ in _listed(_read(paths.manifest)) if type_ == "i"]
    last = paths.manifest.with_name(journals[-1]) if journals else None
    if last and last.exists() and (dropped := _drop_nuls(last)):
        yield (
            f"the last write to the store was incomplete and is dropped: {last.name} ended in NUL bytes "
            f"({dropped:,}), as a power failure leaves them"
        )


def _mend_manifest(paths: StorePaths) -> Iterator[str]:
    """Write the manifest again if it is a beginning of the only one that can be right."""
    found, folder = _read(paths.manifest), paths.manifest.parent
    text = found.rstrip("\0")
    listed = dict(_listed(text))
    files = [match for file in sorted(folder.iterdir()) if (match := _NAME.fullmatch(file.name))]
    missing = [
        file[0]
        for file in files
        if file["kind"] == "incr" and file[0] not in listed and (folder / file[0]).stat().st_size
    ]
    is_whole = text.endswith("\n") and "i" in listed.values() and not missing
    right = text if is_whole else _manifest_of(files)
    if right.startswith(text) and right not in ("", found):
        write_whole(paths.manifest, right)
        yield (
            f"{paths.manifest.name} was empty or cut, as a power failure leaves it, and is written again: "
            f"{', '.join(name for name, _ in _listed(right))}"
        )
    elif missing:
        raise StoreCorruptError(paths.directory, f"its AOF manifest does not list {', '.join(missing)}")


def _manifest_of(files: list[re.Match[str]]) -> str:
    """Return the manifest of one base file and one journal; "" for more, of which some may be out of use."""
    if sorted(file["kind"] for file in files) != ["base", "incr"]:
        return ""
    return "".join(f"file {file[0]} seq {file['number']} type {file['kind'][0]}\n" for file in files)


def _read(manifest: Path) -> str:
    return manifest.read_text("latin-1")


def _listed(manifest: str) -> list[tuple[str, str]]:
    """Return the name and the type of each file in a manifest, except from lines of another form."""
    return [(line["name"], line["type"]) for line in map(_LINE.fullmatch, manifest.splitlines()) if line]


def _drop_nuls(file: Path) -> int:
    """Drop NUL bytes from the end of a file; return how many."""
    with file.open("r+b") as journal:
        size = end = journal.seek(0, os.SEEK_END)
        while end:
            begin = max(0, end - _BYTES_AT_ONCE)
            journal.seek(begin)
            kept = journal.read(end - begin).rstrip(b"\0")
            end = begin + len(kept)
            if kept:
                break
        if end < size:
            journal.truncate(end)
            os.fsync(journal.fileno())
    return size - end
