"""Hostile paths, queries, methods and headers on every route of the site."""

import random
import re
from urllib.parse import quote_from_bytes

import pytest

from tests.fuzz import hostile
from tests.fuzz.conftest import ROLES, Roles
from tests.fuzz.run import Run
from tests.routes import SAMPLES, routes

CASES = 5_000  # of each role
METHODS = ("GET",) * 8 + ("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "POST")

HEADERS = (
    "Accept-Language", "Accept", "User-Agent", "Referer", "Origin", "If-None-Match", "If-Modified-Since",
    "Range", "Cookie", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Authorization",
    "Accept-Encoding", "Sec-Purpose", "Purpose", "Content-Encoding", "X-HTTP-Method-Override", "Host",
)  # fmt: skip

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(900)]


@pytest.mark.parametrize("role", ROLES)
def test_no_address_breaks_the_site(roles: Roles, role: str) -> None:
    run, browser = Run(f"addresses as {role}", CASES), roles.browser(role)
    addresses = [route.pattern for route in routes() if not route.pattern.endswith("logout/")]
    assert len(addresses) > 70

    with run.watching():
        while not run.is_over:
            chance = run.random
            path, query = _path(chance.choice(addresses), chance), _query(chance)
            method = chance.choice(METHODS)
            headers = {chance.choice(HEADERS): _header(chance) for _ in range(chance.randint(0, 2))}
            where = {"PATH_INFO": path.decode("latin-1"), "QUERY_STRING": query}
            answer = browser.generic(method, "/", headers=headers, **where)
            run.record(f"{method} {path!r}?{query[:500]} {headers}", answer.status_code)
            answer.close()


def _path(route: str, chance: random.Random) -> bytes:
    """Return the path with its parameters filled in, mostly with hostile values."""

    def fill(name: re.Match[bytes]) -> bytes:
        if chance.random() < 0.4:
            return SAMPLES.get(name[1].decode(), "1").encode()
        return hostile.raw(chance)[:600]

    path = re.sub(rb"<(?:\w+:)?(\w+)>", fill, route.encode())
    return path + hostile.raw(chance)[:100] if chance.random() < 0.05 else path


def _query(chance: random.Random) -> str:
    pairs = (
        f"{chance.choice(hostile.NAMES)}={quote_from_bytes(hostile.raw(chance))[:1500]}"
        for _ in range(chance.choice((0, 1, 1, 2, 3, 40)))
    )
    return "&".join(pairs)[:4000]


def _header(chance: random.Random) -> str:
    """Return a header's value as the web server passes it: without line breaks."""
    return re.sub("[\r\n\0]", " ", hostile.raw(chance).decode("latin-1"))[:3000]
