"""A connection of `http.client`, read up to a number of bytes and to a deadline."""

import io
import socket
import time
from typing import Any


class _Metered(io.RawIOBase):
    """What a connection sends, up to `most_bytes` and to a deadline."""

    def __init__(self, connection: socket.socket, deadline: float, most_bytes: int) -> None:
        self._connection, self._deadline, self._left = connection, deadline, most_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        if self._left <= 0:
            return 0
        self._connection.settimeout(seconds)
        view = memoryview(buffer)
        got = self._connection.recv_into(view[: min(len(view), self._left)])
        self._left -= got
        return got


class Wire:
    """The part of a socket that `http.client` uses. The deadline is by the monotonic clock."""

    def __init__(self, connection: socket.socket, deadline: float, most_bytes: int) -> None:
        self._connection, self._deadline, self._most_bytes = connection, deadline, most_bytes

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Metered(self._connection, self._deadline, self._most_bytes))

    def sendall(self, data: bytes) -> None:
        self._connection.settimeout(max(0.01, self._deadline - time.monotonic()))
        self._connection.sendall(data)

    def close(self) -> None:
        """Do nothing: `http.client` closes it while the body is still to be read."""
