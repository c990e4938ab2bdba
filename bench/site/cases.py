"""The requests of each case, as the bytes that a client sends."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeVar
from urllib.parse import quote_plus

from bench.site.content import WORDS, Content

_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
HEADERS = {
    "Host": "localhost",
    "User-Agent": _AGENT,
    "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip",
}
TOKEN = "a" * 32
_SEARCHES = 2000  # of pairs of frequent words

_Pair = TypeVar("_Pair")


@dataclass(frozen=True, slots=True)
class Case:
    """Requests of one kind. `shows`: what a response must contain, so that no other page is measured."""

    name: str
    requests: Sequence[bytes] = field(compare=False, repr=False)
    shows: str = ""
    status: int = 200

    def segment(self, turn: int, turns: int) -> int:
        """Return the index of the first request of a turn: turns do not repeat each other's requests."""
        return turn * len(self.requests) // turns


def request(
    path: str, cookie: str = "", body: str = "", own: Mapping[str, str] | None = None, method: str = ""
) -> bytes:
    """Return a GET request of a browser or, with a body, a form that it sends. `own`: further headers."""
    headers = HEADERS | ({"Cookie": cookie} if cookie else {})
    if body:
        headers |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))}
    lines = [
        f"{method or ('POST' if body else 'GET')} {path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in (headers | dict(own or {})).items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def of_member(session: str) -> str:
    return f"sessionid={session}; csrftoken={TOKEN}"


def _votes(content: Content) -> Iterator[bytes]:
    """Yield the first vote of each member on each open article: each is a change."""
    for article, session in shuffled(product(content.open_articles, content.sessions)):
        body = f"choice=vote&next=/&csrfmiddlewaretoken={TOKEN}"
        yield request(f"/articles/{article}/vote/", of_member(session), body)


def shuffled(pairs: Iterator[_Pair]) -> list[_Pair]:
    ordered = list(pairs)
    random.Random(1).shuffle(ordered)
    return ordered


def _searches() -> Iterator[bytes]:
    chance = random.Random(2)
    for _ in range(_SEARCHES):
        yield request(f"/search/?q={quote_plus(' '.join(chance.sample(WORDS[:20], 2)))}")


def cases(content: Content) -> list[Case]:
    """Return all cases for a site with this content. Those of members take turns among all members."""

    def by_members(path: str) -> list[bytes]:
        return [request(path, of_member(session)) for session in content.sessions]

    reads = shuffled(product(content.open_articles, content.sessions))
    visits = shuffled(product(content.open_articles, content.visitors))
    return [
        Case("front page", [request("/")], "Log in"),
        Case("front page, member", by_members("/"), "Log out"),
        Case("group page", [request("/groups/group-7/")], "group-7"),
        Case("group page, member", by_members("/groups/group-7/"), "Log out"),
        Case("hot list, member", by_members("/hot/"), "Log out"),
        Case("three groups, member", by_members("/groups/group-7+group-8+group-9/"), "Log out"),
        Case("article page", [request(f"/articles/{n}/", cookie) for n, cookie in visits], "Voting closes"),
        Case(
            "article page, first visit",
            [request(f"/articles/{n}/") for n in content.open_articles],
            "Voting closes",
        ),
        Case("article page, member", [request(f"/articles/{n}/", of_member(s)) for n, s in reads], "Log out"),
        Case("feed", [request("/feeds/front.atom")], "<entry>"),
        Case("GET /api/articles", [request("/api/articles")], '"articles"'),
        Case("GET /api/hot", [request("/api/hot")], '"articles"'),
        Case("search", list(_searches()), "Search"),
        Case("vote", list(_votes(content)), status=302),
        *(case for kind, sessions in content.special.items() for case in _of_kind(content, kind, sessions)),
    ]


def _of_kind(content: Content, kind: str, sessions: Sequence[str]) -> Iterator[Case]:
    """Yield the cases of members who have done or hidden much, or nothing."""
    reads = shuffled(product(content.open_articles, sessions))
    yield Case(f"front page, member, {kind}", [request("/", of_member(one)) for one in sessions], "Log out")
    pages = [request(f"/articles/{n}/", of_member(session)) for n, session in reads]
    yield Case(f"article page, member, {kind}", pages, "Log out")


HELLO = Case("hello", [request("/")], "hello")
OF_MEMBERS = "hello, member"


def hello_of_members(content: Content) -> Case:
    """Return the case of a bare view that reads the member's session and account."""
    return Case(OF_MEMBERS, [request("/", of_member(session)) for session in content.sessions], "hello member")
