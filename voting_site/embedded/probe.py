"""Ask a server over its socket whether it serves: three lines of protocol, so no client library."""

import re
import socket
from enum import Enum
from pathlib import Path

_TIMEOUT = 0.5  # seconds; a loading server answers between two blocks of its file
_PERCENT = re.compile(rb"^loading_loaded_perc:(?P<percent>[0-9.]+)", re.MULTILINE)


class Answer(Enum):
    """What a server said to PING."""

    READY = "ready"
    LOADING = "loading"
    NONE = "none"


def ping(path: Path) -> Answer:
    """Never raises: nobody there, no answer in time, or a refusal is NONE."""
    reply = _ask(path, b"PING")
    if reply.startswith(b"+PONG"):
        return Answer.READY
    return Answer.LOADING if reply.startswith(b"-LOADING") else Answer.NONE


def loaded_percent(path: Path) -> float:
    """How much of its file a loading server has read, 0–100; 100 when it does not say (any more)."""
    found = _PERCENT.search(_ask(path, b"INFO persistence"))
    return float(found["percent"]) if found else 100.0


def _ask(path: Path, command: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_TIMEOUT)
            connection.connect(str(path))
            connection.sendall(command + b"\r\n")
            return connection.recv(16 * 1024)
    except OSError:
        return b""
