"""The append-only files: mended after a power failure, and compared with their content of some hours ago.

Some file systems fill the end of a file, or all of it, with NUL bytes, or leave it empty. A command ends with a
line feed, so NULs at the end are no part of what was acknowledged. All else is left to the server: it drops half a
command at the end, and refuses damage elsewhere.

Between two rewrites the files only grow: their earlier content never changes. The state file holds a digest of
each block. A file with another name, after a rewrite, starts a new record; so does a state file that cannot be
read.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from .paths import RESTORE_HINT, StoreCorruptError, StoreDirectoryError, StorePaths, write_whole

_LINE = re.compile(r"file (?P<name>\S+) seq \d+ type (?P<type>[bih])\b.*")
_NAME = re.compile(r"appendonly\.aof\.(?P<number>\d+)\.(?P<kind>base|incr)\.(?:rdb|aof)")
_BYTES_AT_ONCE = 1024 * 1024


def mend(paths: StorePaths) -> Iterator[str]:
    """Mend the files of a store that no server has open; yield what was done, one sentence each.

    Raises StoreCorruptError if the server would start without some of the files, and StoreDirectoryError.
    """
    with StoreDirectoryError.of(paths.manifest.parent):
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


PASS_EVERY = 6 * 3600.0
"""Seconds between two passes: several between two rewrites, which housekeeping asks for once a day."""

BYTES_AT_ONCE = 64 * 1024 * 1024  # bytes that one call reads: some tenths of a second

_BLOCK = 4 * 1024 * 1024


@dataclass(slots=True)
class _State:
    """`blocks`: size and digest of each block of each file; `at`: block to check next, None between passes."""

    blocks: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    damaged: dict[str, int] = field(default_factory=dict)
    at: tuple[str, int] | None = None
    passed_at: float = 0.0


def verify(paths: StorePaths, now: float, bytes_at_once: int = BYTES_AT_ONCE) -> tuple[str, str]:
    """Continue or begin a pass, if one is due; return what was done, and the damage known so far as a sentence.

    `now` in Unix seconds. Both are '' if there is nothing to say. Raises StoreDirectoryError.
    """
    with StoreDirectoryError.of(paths.manifest.parent):
        files, state = _files(paths), _known_state(paths)
        result = ""
        if state.at is not None or not 0 <= now - state.passed_at < PASS_EVERY:
            result = _advance(state, files, now, bytes_at_once)
            write_whole(paths.verification, json.dumps(asdict(state)))
        return result, _sentence(state)


def known_damage(paths: StorePaths) -> str:
    """Return the damage that earlier calls of `verify` have recorded, as a sentence; "" if none."""
    return _sentence(_known_state(paths))


def _known_state(paths: StorePaths) -> _State:
    """Return what is recorded of the files in use."""
    files, state = _files(paths), _read_state(paths.verification)
    state.blocks = {name: blocks for name, blocks in state.blocks.items() if name in files}
    state.damaged = {name: at for name, at in state.damaged.items() if name in files}
    return state


def _advance(state: _State, files: dict[str, Path], now: float, left: int) -> str:
    """Check blocks until `left` bytes are read or all files are done."""
    first, at = state.at if state.at and state.at[0] in files else ("", 0)
    for name in sorted(files):
        if name < first:
            continue
        begin = min(at, len(state.blocks.get(name, ()))) if name == first else 0
        with suppress(FileNotFoundError), files[name].open("rb") as file:  # a rewrite may just have deleted it
            for number in count(begin):
                if left <= 0:
                    state.at = (name, number)
                    return f"checked up to block {number} of {name}"
                file.seek(number * _BLOCK)
                block = file.read(_BLOCK)
                left -= len(block)
                _compare(state, name, number, block)
                if len(block) < _BLOCK:
                    break
    state.at, state.passed_at = None, now
    return f"{len(files)} files checked"


def _compare(state: _State, name: str, number: int, block: bytes) -> None:
    """Compare a block with its record, and record what it is now."""
    blocks, current = state.blocks.setdefault(name, []), _digest(block)
    if number < len(blocks):
        size, digest = blocks[number]
        # A shorter block was truncated at a start, which the log reports.
        before = current if len(block) == size else _digest(block[:size])
        if len(block) >= size and before != digest:
            state.damaged.setdefault(name, number * _BLOCK)
            return
    blocks[number : number + 1] = [(len(block), current)]
    if len(block) < _BLOCK:
        del blocks[number + 1 :]


def _digest(block: bytes) -> str:
    return hashlib.sha256(block).hexdigest()


def _files(paths: StorePaths) -> dict[str, Path]:
    """Return the files in use by name: rewrites in progress have names of other forms."""
    folder = paths.manifest.parent
    return {
        file.name: file for form in ("*.base.*", "*.incr.aof") for file in folder.glob(f"appendonly.aof.{form}")
    }


def _sentence(state: _State) -> str:
    if not state.damaged:
        return ""
    places = ", ".join(f"{name} from byte {at:,} on" for name, at in sorted(state.damaged.items()))
    return (
        f"The disk has changed what was written: {places}. The running store is whole "
        f"and rewrites its files within a day. Check the disk; if a restart before then fails, {RESTORE_HINT}."
    )


def _read_state(path: Path) -> _State:
    try:
        raw: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return _State(
            {str(name): [(int(n), str(d)) for n, d in blocks] for name, blocks in raw["blocks"].items()},
            {str(name): int(at) for name, at in raw["damaged"].items()},
            (str(raw["at"][0]), int(raw["at"][1])) if raw["at"] else None,
            float(raw["passed_at"]),
        )
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return _State()
