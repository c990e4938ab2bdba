"""A client that sends requests at their times, and counts what comes back."""

import socket
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import BinaryIO

from bench.load_model.traffic import Sent
from bench.site.load import read_response

CONNECTIONS = 16
_PATIENCE = 30.0


@dataclass
class Answers:
    """Answers to the requests of one kind.

    Latencies in milliseconds, from the time at which the request was due.
    """

    latencies: list[float] = field(default_factory=list)
    bytes: int = 0
    failures: int = 0

    def quantile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


class _Counted:
    """A stream that counts what is read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.bytes = stream, 0

    def readline(self) -> bytes:
        line = self._stream.readline()
        self.bytes += len(line)
        return line

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self.bytes += len(content)
        return content


class _Replay:
    def __init__(self, port: int, requests: Iterable[Sent]) -> None:
        self._port, self._requests = port, iter(requests)
        self._began, self._lock = time.perf_counter(), Lock()
        self.answers: defaultdict[str, Answers] = defaultdict(Answers)

    def connection(self, _number: int) -> None:
        """Send one request after another on one connection, which is opened again if the server closes it."""
        while True:
            with socket.create_connection(("127.0.0.1", self._port), timeout=_PATIENCE) as link:
                stream = _Counted(link.makefile("rb"))
                while sent := self._next():
                    if not self._send(link, stream, sent):
                        break
                else:
                    return

    def _next(self) -> Sent | None:
        with self._lock:
            return next(self._requests, None)

    def _send(self, link: socket.socket, stream: _Counted, sent: Sent) -> bool:
        """Return whether the connection can be used again."""
        now, before = time.perf_counter() - self._began, stream.bytes
        if now < sent.due:
            time.sleep(sent.due - now)
        try:
            link.sendall(sent.content)
            status, is_last = read_response(stream)  # type: ignore[arg-type]
        except OSError:
            status, is_last = 599, True
        took = 1000 * (time.perf_counter() - self._began - sent.due)
        with self._lock:
            answers = self.answers[sent.kind]
            answers.latencies.append(took)
            answers.bytes += stream.bytes - before
            answers.failures += status >= 400
        return not is_last


def send(port: int, requests: Iterable[Sent]) -> Mapping[str, Answers]:
    """Send the requests, each when it is due and a connection is free."""
    replay = _Replay(port, requests)
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(replay.connection, range(CONNECTIONS)))
    return dict(replay.answers)
