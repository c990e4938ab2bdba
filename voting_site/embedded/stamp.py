"""The version stamp: the server that last wrote a store, checked before a server opens it.

An older server, or a server without its files, silently starts *empty*, so both are refused here.
"""

import json
import re
from pathlib import Path

from .binary import ServerVersion
from .paths import RESTORE_HINT, EmbeddedStoreError, StoreDirectoryError, StorePaths, write_whole

_MANIFEST_DRAFT = "temp-appendonly.aof.manifest"
_MAX_EMPTY_BASE_BYTES = 1024
_HEAD = re.compile(rb"(?:REDIS\d{4}|VALKEY\d{3})")


def check(paths: StorePaths, server: ServerVersion) -> None:
    """Raise EmbeddedStoreError unless `server` may open the store."""
    stamp = read(paths.stamp)
    if stamp is not None and not server.can_read(stamp):
        raise EmbeddedStoreError(
            f"The store in {paths.directory} was written by {stamp}, but the installed server is {server}, "
            f"which cannot read its files: install {stamp} or newer, or choose it with STORE_SERVER. "
            "To change to another server, restore a backup (see docs/backup.md)."
        )
    if not paths.manifest.exists() and (stamp is not None or not _holds_nothing(paths.manifest.parent)):
        raise EmbeddedStoreError(
            f"The store in {paths.directory} has been used before but {paths.manifest} is missing: "
            f"{RESTORE_HINT}, or empty {paths.directory} to start with an empty store."
        )


def read(path: Path) -> ServerVersion | None:
    """Return the server that last wrote the store; None if no server has been started yet."""
    try:
        with StoreDirectoryError.of(path):
            if not path.exists():
                return None
            fields = json.loads(path.read_text("utf-8"))
        return ServerVersion(str(fields["name"]), tuple(int(part) for part in fields["version"].split(".")))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreDirectoryError(path, "it does not say which server wrote the store") from error


def write(path: Path, server: ServerVersion) -> None:
    """Write the stamp atomically and synced to disk. Does nothing if it is already right."""
    if read(path) == server:
        return
    fields = {"name": server.name, "version": ".".join(map(str, server.number))}
    with StoreDirectoryError.of(path):
        write_whole(path, json.dumps(fields))


def _holds_nothing(directory: Path) -> bool:
    """Return whether no file has data: there are none, or only those of an interrupted first start.

    A server that starts empty writes a base file without data, then an empty journal, and finally the manifest.
    """
    if not directory.is_dir():
        return True
    return all(_is_without_data(file) for file in directory.iterdir())


def _is_without_data(file: Path) -> bool:
    with StoreDirectoryError.of(file):
        if file.name.endswith(".base.rdb"):
            with file.open("rb") as base:
                return _is_empty_base(base.read(_MAX_EMPTY_BASE_BYTES + 1))
        return file.name == _MANIFEST_DRAFT or (file.name.endswith(".incr.aof") and file.stat().st_size == 0)


def _is_empty_base(data: bytes) -> bool:
    """Return whether an RDB file has only a header, facts about the server, and an end mark."""
    if len(data) > _MAX_EMPTY_BASE_BYTES or not _HEAD.match(data):
        return False
    at = 9
    while data[at : at + 1] == b"\xfa":  # a fact: name and value
        at = _after_text(data, _after_text(data, at + 1))
    return data[at : at + 1] == b"\xff" and len(data) == at + 9  # the end mark, and a checksum of 8 bytes


def _after_text(data: bytes, at: int) -> int:
    """Return where the string at `at` ends: a length and up to 63 bytes, or an integer of 1, 2 or 4 bytes."""
    first = data[at] if at < len(data) else 0xFF
    if first < 0x40:
        return at + 1 + first
    return at + 1 + {0xC0: 1, 0xC1: 2, 0xC2: 4}.get(first, len(data))
