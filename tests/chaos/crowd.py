"""A crowd that votes and reads without pause: a process of its own, so that it measures nothing but the site.

    python -m tests.chaos.crowd '{"port": …}'     # the fields of `Plan`; ends when its input does

Every voter is some members, each of whom votes once on one article after another. A vote that is not confirmed is
sent again, the same, until it is. Every answer is one line of the events file, with the fields of `Event`.
"""

import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, islice, takewhile
from pathlib import Path
from threading import Event as Flag, Thread
from typing import NamedTuple

from articles.domain.articles import Choice
from articles.domain.errors import StoreError
from articles.repository import Repository
from articles.repository.store.confirmation import Confirmation
from tests.chaos.links import Link
from tests.chaos.undecided import ApiClient, Client, DirectClient, decide
from tests.rules import connect, default_rules
from tests.web_processes import NOTICE

PAGES = ("/", "/newest/", "/hot/", "/top/", "/groups/")  # the main lists, whose copies are kept in any case
KEPT, UNTRUE = "kept", "untrue"
"""Of an event: the page was a kept copy; a confirmed vote whose answer names another choice."""

NEW_CONNECTION_SHARE = 0.3
"""Of the repeated direct votes. A web node has many connections: it seldom repeats a vote on the same."""

_PAUSE_SECONDS = 0.01
_PAUSE_AFTER_FAILURE_SECONDS = 0.05


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
    """What the crowd does. `members`: dicts of id, token and session, as in prepared.json.

    Voters choose once, and their answers are events; the undecided write to `history`, by the API or directly.
    """

    events: str
    articles: int
    members: list[dict[str, str]]
    port: int = 0
    voters: int = 0
    readers: int = 0
    direct_voters: int = 0
    undecided: int = 0
    direct_undecided: int = 0
    history: str = ""
    store_url: str = ""
    store_shards: int = 1
    store_timeout: float = 0.5
    confirm_replicas: int = 0
    attempts: int = 0  # after so many, a voter leaves a vote that is not confirmed, and goes on; 0: never
    seed: int = 1

    def as_argument(self) -> str:
        return json.dumps(asdict(self))


class Log:
    """The events file, one line each; a line is written at once."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def add(self, event: Event) -> None:
        os.write(self._file, ("\t".join(map(str, event)) + "\n").encode())


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
        for _ in attempts(plan, stopping):
            status, seconds, text = link.ask("PUT", path, body, headers)
            note = UNTRUE if status == "200" and json.loads(text)["choice"] != choice.value else text[:300]
            note = note if status != "200" or note == UNTRUE else ""
            log.add(_event("vote", status, seconds, member, article, choice, note))
            stopping.wait(_PAUSE_SECONDS if status == "200" else _PAUSE_AFTER_FAILURE_SECONDS)
            if status == "200":
                break
        if stopping.is_set():
            return


def attempts(plan: Plan, stopping: Flag) -> Iterator[int]:
    """Yield the numbers of the attempts that a voter may make at one vote, until `stopping`."""
    return takewhile(lambda _: not stopping.is_set(), range(plan.attempts) if plan.attempts else count())


def _event(
    kind: str, status: str, seconds: float, member: dict[str, str], article: int, choice: Choice, note: str
) -> Event:
    safe = note.replace("\t", " ").replace("\n", " ").replace("\r", " ")
    return Event(time.monotonic(), kind, status, round(seconds, 4), int(member["id"]), article, choice.value, safe)


def store_of(plan: Plan) -> Repository:
    confirmation = Confirmation(plan.confirm_replicas, timeout_seconds=0.8 * plan.store_timeout)
    return connect(
        plan.store_url,
        shards=plan.store_shards,
        rules=default_rules(),
        timeout_seconds=plan.store_timeout,
        confirmation=confirmation if plan.confirm_replicas else None,
    )


def vote_directly(plan: Plan, log: Log, stopping: Flag, members: Sequence[dict[str, str]]) -> None:
    """Vote without the web server, which is slower than the store."""
    repository = store_of(plan)
    chance = random.Random(f"{plan.seed}{members[0]['id']}")
    for member, article, choice in ballots(plan, chance, members):
        for _ in attempts(plan, stopping):
            began, note = time.monotonic(), ""
            try:
                tally = repository.votes.cast(article, int(member["id"]), choice)
                status, note = "ok", "" if tally.choice == choice else UNTRUE
            except StoreError as error:
                status, note = type(error).__name__, str(error)
                stopping.wait(_PAUSE_AFTER_FAILURE_SECONDS)
            log.add(_event("direct", status, time.monotonic() - began, member, article, choice, note))
            if status == "ok":
                break
            if chance.random() < NEW_CONNECTION_SHARE:
                repository = store_of(plan)
        if stopping.is_set():
            return


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


def undecided(plan: Plan, stopping: Flag) -> Iterator[Callable[[], None]]:
    clients: list[Client] = [ApiClient(plan.port) for _ in range(plan.undecided)]
    clients += [DirectClient(store_of(plan)) for _ in range(plan.direct_undecided)]
    for number, client in enumerate(clients):
        seed = f"{plan.seed}.{number}"
        yield partial(decide, Path(plan.history), plan.members, plan.articles, client, stopping, seed)


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
    work += list(undecided(plan, stopping))
    failed: list[object] = []
    threading.excepthook = lambda error: failed.append(error) or threading.__excepthook__(error)  # type: ignore
    threads = [Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stopping.set()
    for thread in threads:
        thread.join()
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
