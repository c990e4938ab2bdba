"""Requests per second and latency of the front page and of a vote, compared with a view that does nothing.

All three alternate on the same server in the same run, so that other work on the machine affects them equally: the
ratios are what matters. `python -m bench.requests`; 10,000 articles, 8 connections.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

ARTICLES, MEMBERS, CONNECTIONS, ROUNDS, SECONDS = 10_000, 200, 8, 3, 4.0

Request = Callable[[int], bytes]


def get(path: str) -> Request:
    return lambda _n: f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def vote(cookies: list[str], newest: int) -> Request:
    """Return requests in which members take turns to vote for or oppose articles, so that each is a change."""

    def request(n: int) -> bytes:
        session, choice = cookies[n % len(cookies)], ("vote", "oppose")[n // (len(cookies) * 40) % 2]
        token = "a" * 32
        body = f"choice={choice}&next=/&csrfmiddlewaretoken={token}".encode()
        head = (
            f"POST /articles/{newest - n % 397}/vote/ HTTP/1.1\r\nHost: localhost\r\n"
            f"Cookie: sessionid={session}; csrftoken={token}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    return request


def read_response(stream: socket.SocketIO | object) -> int:
    """Read one response, and return its status."""
    status = int(stream.readline().split()[1])  # type: ignore[attr-defined]
    length = 0
    while (line := stream.readline()) != b"\r\n":  # type: ignore[attr-defined]
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    stream.read(length)  # type: ignore[attr-defined]
    return status


def load(port: int, request: Request, expected: int, numbers: Iterator[int]) -> list[float]:
    """Send requests for SECONDS on all connections. Return their latencies in seconds."""

    def one_connection(_: int) -> list[float]:
        taken: list[float] = []
        with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rb") as stream:
            end = time.perf_counter() + SECONDS
            while (began := time.perf_counter()) < end:
                link.sendall(request(next(numbers)))
                status = read_response(stream)
                taken.append(time.perf_counter() - began)
                assert status == expected, status
        return taken

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return [latency for taken in pool.map(one_connection, range(CONNECTIONS)) for latency in taken]


@contextmanager
def server(port: int) -> Iterator[None]:
    from voting_site.serving import listener
    from voting_site.serving.web_server import PATIENCE

    with listener.bind("127.0.0.1", port, PATIENCE) as site:
        site.listen(listener.BACKLOG)
        command = ["voting_site.serving.workers", f"127.0.0.1:{port}", str(site.fileno()), str(PATIENCE)]
        process = subprocess.Popen([sys.executable, "-m", *command], pass_fds=[site.fileno()])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def fill() -> tuple[list[str], int]:
    """Import articles and create logged-in members. Return their session keys and the highest article id."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.cached_db import SessionStore
    from django.core.management import call_command

    from accounts.models import User
    from articles.domain.articles import ImportedArticle
    from articles.wiring import patient_repository

    call_command("migrate", verbosity=0)
    repository, now = patient_repository(), time.time()
    for first in range(0, ARTICLES, 500):
        rows = [
            ImportedArticle(
                title=f"An article about the number {n}, of an ordinary length",
                link=f"https://example.org/{n}",
                poster=1,
                poster_name="bench",
                posted_at=now - (ARTICLES - n) * 30,
                votes=n % 17 + 1,
                opposes=n % 3,
                groups=(f"group-{n % 20}",),
            )
            for n in range(first, first + 500)
        ]
        repository.imports.add(rows)
    members = User.objects.bulk_create([User(username=f"m{n}", canonical_name=f"m{n}") for n in range(MEMBERS)])
    sessions = []
    for user in members:
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        sessions.append(str(session.session_key))
    return sessions, ARTICLES


def report(name: str, latencies: list[float], base: float) -> float:
    rate = len(latencies) / (ROUNDS * SECONDS)
    p50, p99 = (1000 * q for q in (statistics.median(latencies), statistics.quantiles(latencies, n=100)[98]))
    share = f"{rate / base:6.1%} of hello" if base else ""
    print(f"{name:28} {rate:8.0f} requests/s   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms   {share}")
    return rate


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "bench.lib.settings", "LOG_LEVEL": "ERROR"}
        import django

        django.setup()
        from voting_site.embedded import open_store
        from voting_site.serving.static_files import gather

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        with open_store(Path(folder)):
            gather()
            sessions, newest = fill()
            with server(port):
                cases = {
                    "hello": (get("/bench/hello"), 200),
                    "front page": (get("/"), 200),
                    "vote": (vote(sessions, newest), 302),
                }
                numbers, taken = count(), {name: list[float]() for name in cases}
                for _ in range(ROUNDS):
                    for name, (request, expected) in cases.items():
                        taken[name] += load(port, request, expected, numbers)
    base = 0.0
    for name, latencies in taken.items():
        base = report(name, latencies, base) if not base else (report(name, latencies, base), base)[1]


if __name__ == "__main__":
    main()
