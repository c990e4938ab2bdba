"""Compares the append-only files with their content of some hours ago, to find damage on the disk.

Between two rewrites the files only grow: their earlier content never changes. The state file holds a digest of
each block. A file with another name, after a rewrite, starts a new record; so does a state file that cannot be
read.
"""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from .errors import RESTORE_HINT, StoreDirectoryError
from .paths import StorePaths, write_whole

PASS_EVERY = 6 * 3600.0
"""Seconds between two passes: several between two rewrites, which housekeeping asks for once a day."""

BYTES_AT_ONCE = 64 * 1024 * 1024
"""Bytes that one call reads: some tenths of a second."""

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
    try:
        return _verify(paths, now, bytes_at_once)
    except OSError as error:
        raise StoreDirectoryError.from_os(error, paths.manifest.parent) from error


def known_damage(paths: StorePaths) -> str:
    """Return the damage that earlier calls of `verify` have recorded, as a sentence; "" if none."""
    files, state = _files(paths), _read(paths.verification)
    state.damaged = {name: at for name, at in state.damaged.items() if name in files}
    return _sentence(state)


def _verify(paths: StorePaths, now: float, bytes_at_once: int) -> tuple[str, str]:
    files = _files(paths)
    state = _read(paths.verification)
    state.blocks = {name: blocks for name, blocks in state.blocks.items() if name in files}
    state.damaged = {name: at for name, at in state.damaged.items() if name in files}
    result = ""
    if state.at is not None or not 0 <= now - state.passed_at < PASS_EVERY:
        result = _advance(state, files, now, bytes_at_once)
        _write(paths.verification, state)
    return result, _sentence(state)


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


def _read(path: Path) -> _State:
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


def _write(path: Path, state: _State) -> None:
    fields = {name: getattr(state, name) for name in ("blocks", "damaged", "at", "passed_at")}
    write_whole(path, json.dumps(fields))
