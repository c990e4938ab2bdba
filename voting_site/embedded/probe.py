"""Check by its socket whether a server is ready. The protocol is simple enough to need no client library."""

import re
import socket
from enum import Enum
from pathlib import Path

_TIMEOUT = 0.5  # seconds; a loading server answers between two blocks of its file
_PERCENT = re.compile(rb"^loading_loaded_perc:(?P<percent>[0-9.]+)", re.MULTILINE)


class Answer(Enum):
    """State of a server, from its reply to PING."""

    READY = "ready"
    LOADING = "loading"
    NONE = "none"


def ping(path: Path) -> Answer:
    """Return the state of the server. Never raises: no server, no reply in time, or an error is NONE."""
    reply = _ask(path, b"PING")
    if reply.startswith(b"+PONG"):
        return Answer.READY
    return Answer.LOADING if reply.startswith(b"-LOADING") else Answer.NONE


def loaded_percent(path: Path) -> float:
    """Return the percentage (0–100) of its file that a loading server has read; 100 if it does not say."""
    match = _PERCENT.search(_ask(path, b"INFO persistence"))
    return float(match["percent"]) if match else 100.0


def _ask(path: Path, command: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_TIMEOUT)
            connection.connect(str(path))
            connection.sendall(command + b"\r\n")
            return connection.recv(16 * 1024)
    except OSError:
        return b""
