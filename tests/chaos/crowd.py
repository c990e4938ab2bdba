"""A crowd that votes and reads without pause: a process of its own, so that it measures nothing but the site.

    python -m tests.chaos.crowd '{"port": …}'     # the fields of `Plan`; ends when its input does

Every voter is some members, each of whom votes once on one article after another. A vote that is not confirmed is
sent again, the same, until it is. Every answer is one line of the events file, with the fields of `Event`.
"""

import http.client
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from threading import Event as Flag
from threading import Thread
from typing import NamedTuple

from articles.domain.articles import Choice
from articles.domain.errors import StoreError
from tests.rules import connect, default_rules
from tests.web_processes import NOTICE

PAGES = ("/", "/newest/", "/hot/", "/top/", "/groups/")
"""The main lists, whose copies are kept in any case."""

CUT, KEPT, UNTRUE = "cut", "kept", "untrue"
"""Of an event: no answer came; the page was a kept copy; a confirmed vote whose answer names another choice."""

_PAUSE_SECONDS = 0.01
_PAUSE_AFTER_FAILURE_SECONDS = 0.05
_TIMEOUT_SECONDS = 60.0


class Event(NamedTuple):
    """One answer, at monotonic seconds. `status`: of HTTP, "ok" or the error of a direct vote, or CUT."""

    at: float
    kind: str
    status: str
    seconds: float
    member: int = 0
    article: int = 0
    choice: str = ""
    note: str = ""


@dataclass
class Plan:
    """What the crowd does. `members`: dicts of id, token and session, as in prepared.json."""

    events: str
    articles: int
    members: list[dict[str, str]]
    port: int = 0
    voters: int = 0
    readers: int = 0
    direct_voters: int = 0
    store_url: str = ""
    store_timeout: float = 0.5
    seed: int = 1

    def as_argument(self) -> str:
        return json.dumps(asdict(self))


class Log:
    """The events file, one line each; a line is written at once."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def add(self, event: Event) -> None:
        os.write(self._file, ("\t".join(map(str, event)) + "\n").encode())


class Link:
    """A kept-alive connection to the site."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_SECONDS)

    def ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[str, float, str]:
        """Return status, seconds and body; CUT if no whole answer came."""
        began = time.monotonic()
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            return CUT, time.monotonic() - began, type(error).__name__
        return str(answer.status), time.monotonic() - began, text


def ballots(
    plan: Plan, chance: random.Random, members: Sequence[dict[str, str]]
) -> Iterator[tuple[dict[str, str], int, Choice]]:
    """Yield member, article and choice; no pair of member and article twice."""
    step = 7919  # prime to every number of articles in use
    starts = [chance.randrange(plan.articles) for _ in members]
    for number in range(plan.articles):
        for member, start in zip(members, starts, strict=True):
            choice = Choice.OPPOSE if chance.random() < 0.3 else Choice.VOTE
            yield member, 1 + (start + number * step) % plan.articles, choice


def vote(plan: Plan, log: Log, stopping: Flag, members: Sequence[dict[str, str]]) -> None:
    link, chance = Link(plan.port), random.Random(f"{plan.seed}{members[0]['id']}")
    for member, article, choice in ballots(plan, chance, members):
        headers = {"Authorization": f"Bearer {member['token']}", "Content-Type": "application/json"}
        body, path = json.dumps({"choice": choice.value}), f"/api/articles/{article}/vote"
        status = ""
        while status != "200":
            if stopping.is_set():
                return
            status, seconds, text = link.ask("PUT", path, body, headers)
            note = UNTRUE if status == "200" and json.loads(text)["choice"] != choice.value else text[:300]
            note = note if status != "200" or note == UNTRUE else ""
            log.add(_event("vote", status, seconds, member, article, choice, note))
            stopping.wait(_PAUSE_SECONDS if status == "200" else _PAUSE_AFTER_FAILURE_SECONDS)


def _event(
    kind: str, status: str, seconds: float, member: dict[str, str], article: int, choice: Choice, note: str
) -> Event:
    safe = note.replace("\t", " ").replace("\n", " ").replace("\r", " ")
    return Event(time.monotonic(), kind, status, round(seconds, 4), int(member["id"]), article, choice.value, safe)


def vote_directly(plan: Plan, log: Log, stopping: Flag, members: Sequence[dict[str, str]]) -> None:
    """Vote without the web server, which is slower than the store."""
    repository = connect(plan.store_url, rules=default_rules(), timeout_seconds=plan.store_timeout)
    chance = random.Random(f"{plan.seed}{members[0]['id']}")
    for member, article, choice in ballots(plan, chance, members):
        status = ""
        while status != "ok":
            if stopping.is_set():
                return
            began, note = time.monotonic(), ""
            try:
                tally = repository.votes.cast(article, int(member["id"]), choice)
                status, note = "ok", "" if tally.choice == choice else UNTRUE
            except StoreError as error:
                status, note = type(error).__name__, str(error)
                stopping.wait(_PAUSE_AFTER_FAILURE_SECONDS)
            log.add(_event("direct", status, time.monotonic() - began, member, article, choice, note))


def read(plan: Plan, log: Log, stopping: Flag, session: str) -> None:
    link = Link(plan.port)
    headers = {"Cookie": f"sessionid={session}"} if session else {}
    while True:
        for page in PAGES:
            status, seconds, text = link.ask("GET", page, None, headers)
            note = (
                KEPT if status == "200" and NOTICE in text else page if status == "200" else f"{page} {text[:300]}"
            )
            note = note.replace("\t", " ").replace("\n", " ").replace("\r", " ")
            log.add(Event(time.monotonic(), "read", status, round(seconds, 4), note=note))
            if stopping.wait(_PAUSE_SECONDS if status == "200" else _PAUSE_AFTER_FAILURE_SECONDS):
                return


def shares(members: Sequence[dict[str, str]], count: int) -> Iterator[Sequence[dict[str, str]]]:
    return (members[n::count] for n in range(count))


def main() -> None:
    plan, stopping = Plan(**json.loads(sys.argv[1])), Flag()
    log = Log(plan.events)
    sessions = [""] * plan.readers
    for n, member in enumerate(islice((one for one in plan.members if one["session"]), plan.readers // 2)):
        sessions[n] = member["session"]
    both = list(shares(plan.members, plan.voters + plan.direct_voters)) if plan.voters + plan.direct_voters else []
    work = [partial(vote, plan, log, stopping, share) for share in both[: plan.voters]]
    work += [partial(vote_directly, plan, log, stopping, share) for share in both[plan.voters :]]
    work += [partial(read, plan, log, stopping, session) for session in sessions]
    threads = [Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stopping.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
