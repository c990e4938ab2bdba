"""Sending requests: with wrk or, without it, with threads of this process, which takes more of the machine."""

import math
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bench.site.cases import Case

CONNECTIONS, THREADS = 16, 2
SEPARATOR = b"\n\1\n"
"""Separator after each request in the file that wrk.lua reads."""

_SCRIPT = Path(__file__).with_name("wrk.lua")
_PRINTED = re.compile(
    r"^load requests=(\d+) microseconds=(\d+) p50=(\d+) p99=(\d+) refused=(\d+) failures=(\d+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Load:
    """What a client observed. Latencies in milliseconds. `requests`: those that were answered, or refused."""

    requests: int
    seconds: float
    p50: float
    p99: float
    refused: int = 0
    """Answers with a status of 400 or more."""

    failures: int = 0
    """Refusals, and requests whose connection ended or took too long before they were answered."""

    unanswered: int = 0
    """Requests that were sent when the time was up. The server answers them, too."""

    @property
    def rate(self) -> float:
        """Requests answered as they should be in a second."""
        return (self.requests - self.refused) / self.seconds


def has_wrk() -> bool:
    return shutil.which("wrk") is not None


def send(port: int, case: Case, seconds: int, first: int) -> Load:
    """Send the case's requests from number `first` on, as fast as they are answered, on all connections."""
    if has_wrk():
        return _with_wrk(port, case.requests, seconds, first)
    return _with_threads(port, case.requests, seconds, first)


def _with_wrk(port: int, requests: Sequence[bytes], seconds: int, first: int) -> Load:
    with tempfile.NamedTemporaryFile(prefix="bench-") as file:
        file.write(b"".join(one + SEPARATOR for one in requests))
        file.flush()
        sizes = [f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "10s"]
        command = [
            "wrk",
            *sizes,
            "-s",
            str(_SCRIPT),
            f"http://127.0.0.1:{port}/",
            "--",
            file.name,
            str(first),
            str(THREADS),
        ]
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True)
    return printed(run.stdout)


def printed(text: str) -> Load:
    """Return what wrk.lua has printed. Raises ValueError without its line."""
    line = _PRINTED.search(text)
    if line is None:
        raise ValueError(f"wrk printed no result: {text!r}")
    requests, microseconds, p50, p99, refused, failures = map(int, line.groups())
    return Load(requests, microseconds / 1e6, p50 / 1000, p99 / 1000, refused, failures, CONNECTIONS)


def _with_threads(port: int, requests: Sequence[bytes], seconds: int, first: int) -> Load:
    began = time.perf_counter()

    def one_connection(number: int) -> tuple[list[float], int, int]:
        taken, refused, cut, at = list[float](), 0, 0, first + number
        while time.perf_counter() < began + seconds:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as link, link.makefile("rb") as stream:
                try:
                    while (sent := time.perf_counter()) < began + seconds:
                        link.sendall(requests[at % len(requests)])
                        at += CONNECTIONS
                        status, is_last = read_response(stream)
                        refused += status >= 400
                        taken.append(1000 * (time.perf_counter() - sent))
                        if is_last:
                            break
                except OSError:
                    cut += 1
        return taken, refused, cut

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        results = list(pool.map(one_connection, range(CONNECTIONS)))
    taken = sorted(latency for latencies, *_ in results for latency in latencies)
    p99 = taken[math.ceil(0.99 * len(taken)) - 1]
    refused, cut = sum(one for _, one, _ in results), sum(one for *_, one in results)
    return Load(len(taken), time.perf_counter() - began, statistics.median(taken), p99, refused, refused + cut)


def read_response(stream: BinaryIO) -> tuple[int, bool]:
    """Read one response; return its status, and whether the server closes the connection after it.

    Raises ConnectionError if the connection is cut.
    """
    status_line = stream.readline()
    if not status_line:
        raise ConnectionError("the server closed the connection")
    length, is_chunked, is_last = 0, False, False
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        is_last = is_last or (name.lower() == b"connection" and value.strip().lower() == b"close")
        is_chunked = is_chunked or (name.lower() == b"transfer-encoding" and b"chunked" in value)
    while is_chunked and (length := int(stream.readline() or b"0", 16)):
        stream.read(length + 2)
    stream.read(2 if is_chunked else length)
    return int(status_line.split()[1]), is_last
