"""Hostile bytes to the real web server: every request gets an answer below 500, or its connection is closed."""

import random
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fuzz import hostile
from tests.fuzz.run import Run
from tests.site_process import Site

CASES = 600

PATHS = (
    b"/", b"/login/", b"/api/search?q=a", b"/api/views", b"/post/", b"/preferences/",
    b"/healthz", b"/feeds/hot.atom",
)  # fmt: skip

FRAMINGS = (
    b"Content-Length: 5\r\nContent-Length: 6\r\n",
    b"Content-Length: 5\r\nContent-Length: 5\r\n",
    b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    b"Transfer-Encoding: xchunked\r\n", b"Transfer-Encoding:\x0bchunked\r\n",
    b"Transfer-Encoding : chunked\r\n", b"Content-Length: +5\r\n", b"Content-Length: 0x5\r\n",
    b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n",
    b"Content-Length: 5\r\n folded: x\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"",
)  # fmt: skip

BODIES = (
    b"",
    b"a=b&c",
    b"0\r\n\r\nGET /operation/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"5\r\naaaaa\r\n0\r\n\r\n",
)
BODIES += (b"fffffffffffffffff\r\n", b"-1\r\n\r\n", b"5;x=y\r\naaaaa\r\n0\r\nTrailer: x\r\n\r\n", b"[" * 100_000)
BODIES += (b'{"articleId": ' * 20_000, b"a" * 1_500_000)

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(900)]


@pytest.fixture
def site(tmp_path: Path, static_files: Path) -> Iterator[Site]:
    shutil.copytree(static_files, tmp_path / "data" / "static")
    site = Site(tmp_path / "data", LIMITS="off", WEB_PATIENCE_SECONDS="3")
    try:
        site.wait_until_up()
        yield site
    finally:
        site.stop()


def test_no_bytes_break_the_web_server(site: Site) -> None:
    run = Run("sockets", CASES)

    with run.watching():
        while not run.is_over:
            request = _request(run.random)
            answer = _exchange(site.port, request)
            run.record(repr(request[:2000]), max(_statuses(answer), default=0))
            if run.done % 50 == 0 and site.get("/healthz")[0] != 200:
                run.fail("the site does not answer", repr(request[:2000]))
    assert site.get("/healthz")[0] == 200
    assert "Traceback" not in site.told()
    audit = site.manage("audit")
    assert audit.returncode == 0, audit.stdout


def _request(chance: random.Random) -> bytes:
    target = chance.choice(PATHS)
    if chance.random() < 0.2:
        target += hostile.raw(chance)[:6000]
    method = chance.choice((b"GET", b"POST", b"POST", b"PUT", b"HEAD", b"get", b"CONNECT", b"\0", b"G" * 300))
    version = chance.choice((b"HTTP/1.1",) * 8 + (b"HTTP/1.0", b"HTTP/9.9", b"http/1.1", b""))
    host = chance.choice(
        (b"Host: localhost\r\n",) * 8 + (b"", b"Host: a\r\nHost: b\r\n", b"Host: evil.example\r\n")
    )
    kind = chance.choice(
        (b"application/json", b"application/x-www-form-urlencoded", b"multipart/form-data", b"\xff")
    )
    head = b"%b %b %b\r\n%bContent-Type: %b\r\n" % (method, target, version, host, kind)
    for _ in range(chance.choice((0, 0, 1, 3))):
        head += _header(chance)
    return head + chance.choice(FRAMINGS) + b"Connection: close\r\n\r\n" + chance.choice(BODIES)


def _header(chance: random.Random) -> bytes:
    match chance.randrange(5):
        case 0:
            return b"X-Long: " + b"x" * chance.choice((1_000, 32_000, 64_000, 200_000)) + b"\r\n"
        case 1:
            return b"Cookie: " + b"; ".join(b"c%d=1" % n for n in range(chance.choice((10, 5_000)))) + b"\r\n"
        case 2:
            return b"".join(b"X-%d: 1\r\n" % n for n in range(chance.choice((50, 101, 2_000))))
        case 3:
            return b"Expect: 100-continue\r\n"
        case _:
            return b"X-Odd: " + hostile.raw(chance)[:2_000] + b"\r\n"


def _exchange(port: int, request: bytes) -> bytes:
    """Send the bytes, say that no more come, and return what is answered until the connection is closed."""
    parts = []
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=60) as link:
        with suppress(OSError):
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


def _statuses(answer: bytes) -> list[int]:
    """Return the status of every response; a smuggled request would have one of its own."""
    heads = answer.split(b"HTTP/1.1 ")[1:]
    return [int(head[:3]) for head in heads if head[:3].isdigit()]
