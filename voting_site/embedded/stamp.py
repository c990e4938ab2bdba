"""The version stamp: which server last wrote a store, checked before another one may open it.

An older server, or one whose files have gone, starts *empty* and without a word; so both are refused here.
"""

import json
import os
from pathlib import Path

from .binary import ServerVersion
from .errors import StoreDirectoryError, StoreMissingError, StoreVersionError
from .paths import StorePaths


def check(paths: StorePaths, server: ServerVersion) -> None:
    """Raise unless `server` may open the store: StoreVersionError, StoreMissingError."""
    stamp = read(paths.stamp)
    if stamp is not None and not server.can_read(stamp):
        raise StoreVersionError(paths.directory, str(server), str(stamp))
    if not paths.manifest.exists() and (stamp is not None or _has_files(paths.manifest.parent)):
        raise StoreMissingError(paths.directory, paths.manifest)


def read(path: Path) -> ServerVersion | None:
    """None when no server has started here yet."""
    try:
        fields = json.loads(path.read_text("utf-8"))
        return ServerVersion(str(fields["name"]), tuple(int(part) for part in fields["version"].split(".")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreDirectoryError.from_os(error, path) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreDirectoryError(path, "it does not say which server wrote the store") from error


def write(path: Path, server: ServerVersion) -> None:
    """Atomic and on disk; does nothing when it already says so."""
    if read(path) == server:
        return
    fields = {"name": server.name, "version": ".".join(map(str, server.number))}
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("w", encoding="utf-8") as file:
            json.dump(fields, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreDirectoryError.from_os(error, path) from error


def _has_files(directory: Path) -> bool:
    return directory.is_dir() and any(directory.iterdir())
