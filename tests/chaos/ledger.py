"""The answers that the crowd received, and the comparison of confirmed votes with the store."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from articles.domain.articles import Choice
from articles.repository import Repository
from tests.chaos.crowd import UNTRUE, Event, Plan
from tests.chaos.histories.operations import SET, Operation, Register
from tests.chaos.links import CUT
from tests.site_process import DEADLINE, Site
from tests.waiting import until

_PAIRS_AT_ONCE = 5_000
_DISORDER_SECONDS = 5.0  # by which lines of several processes may be out of order
CONFIRMED = ("200", "ok")


class Ledger:
    """The events file, read as it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self.events: list[Event] = []
        self.votes: dict[tuple[int, int], str] = {}  # the confirmed choices, by member and article
        self.uncertain: dict[tuple[int, int], str] = {}  # choices that were sent and not confirmed
        self.before: Mapping[tuple[int, int], str] = {}  # choices that the store held before anything was sent

    def update(self) -> None:
        """Read the lines that have been added."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            lines = file.read().rpartition(b"\n")[0]
        self._offset += len(lines) + 1 if lines else 0
        for line in lines.decode().split("\n") if lines else ():
            at, kind, status, seconds, member, article, choice, note = line.split("\t")
            self._add(Event(float(at), kind, status, float(seconds), int(member), int(article), choice, note))

    def _add(self, event: Event) -> None:
        self.events.append(event)
        if event.kind == "read":
            return
        pair = event.member, event.article
        if event.status in CONFIRMED:
            self.votes[pair] = event.choice
            self.uncertain.pop(pair, None)
        elif pair not in self.votes:
            self.uncertain[pair] = event.choice

    def of(self, *kinds: str, since: float = 0.0, until: float = float("inf")) -> list[Event]:
        """Return the events whose requests began within these times, oldest first."""
        self.update()
        late = list(takewhile(lambda event: event.at > since - _DISORDER_SECONDS, reversed(self.events)))
        return [e for e in reversed(late) if e.kind in kinds and since <= e.at - e.seconds and e.at <= until]

    def worst(self, since: float = 0.0) -> float:
        """Return the seconds of the slowest answer of the site."""
        return max((e.seconds for e in self.of("vote", "read", since=since) if e.status != CUT), default=0.0)

    def after(self, moment: float) -> "Ledger":
        """Return a ledger of what was sent after this moment."""
        later = Ledger(Path(os.devnull))
        later.events = self.of("vote", "direct", "read", since=moment)
        return later

    def statuses(self, *kinds: str, since: float = 0.0, until: float = float("inf")) -> set[str]:
        return {event.status for event in self.of(*kinds, since=since, until=until)}

    def operations(self) -> Iterator[Operation]:
        """Yield what was sent, as a history. Refusals besides 503 have no effect."""
        self.update()
        for event in self.events:
            if event.kind == "read" or event.status.startswith("4"):
                continue
            known = event.at if event.status in CONFIRMED else math.inf
            register = Register(event.member, event.article)
            yield Operation(event.kind, register, SET, event.choice, event.at - event.seconds, known)

    def lost(self, repository: Repository) -> list[str]:
        """Return the votes that were confirmed and are not in the store, or are there as another choice."""
        self.update()
        held_choices = choices_in(repository, list(self.votes))
        lost = [
            f"{pair}: {choice} was confirmed, the store has {held}"
            for (pair, choice), held in zip(self.votes.items(), held_choices, strict=True)
            if held != choice
        ]
        return lost + self.untrue(repository)

    def untrue(self, repository: Repository) -> list[str]:
        """Return answers that name another choice, and unconfirmed votes that became another one."""
        false = [str(event) for event in self.events if event.note == UNTRUE]
        pairs = list(self.uncertain)
        for pair, held in zip(pairs, choices_in(repository, pairs), strict=True):
            if held not in (self.before.get(pair, Choice.NONE.value), self.uncertain[pair]):
                false.append(f"{pair}: {self.uncertain[pair]} was sent, the store has {held}")
        return false


def merged(ledgers: Sequence[Ledger]) -> Ledger:
    """Return a ledger of all events of crowds that shared no member."""
    whole = Ledger(Path(os.devnull))
    for ledger in ledgers:
        ledger.update()
        whole.events += ledger.events
        whole.votes |= ledger.votes
        whole.uncertain |= ledger.uncertain
    whole.events.sort(key=lambda event: event.at)
    return whole


def choices_in(repository: Repository, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """Return what the store has of each pair of member and article."""
    batches = (pairs[start : start + _PAIRS_AT_ONCE] for start in range(0, len(pairs), _PAIRS_AT_ONCE))
    return [choice for batch in batches for choice in _choices(repository, batch)]


def _choices(repository: Repository, pairs: Sequence[tuple[int, int]]) -> list[str]:
    with repository.store.client.pipeline(transaction=False) as pipe:
        for member, article in pairs:
            keys = repository.store.shards.of(article)
            pipe.sismember(keys.voted(article), str(member))
            pipe.sismember(keys.oppose(article), str(member))
        replies = pipe.execute()
    both = {(1, 0): Choice.VOTE.value, (0, 1): Choice.OPPOSE.value, (0, 0): Choice.NONE.value}
    return [
        both.get((int(voted), int(opposed)), "both")
        for voted, opposed in zip(replies[::2], replies[1::2], strict=True)
    ]


class Crowd:
    """Running crowds, and their ledger."""

    def __init__(self, ledger: Ledger, is_running: Callable[[], bool], described: Callable[[], str]) -> None:
        self.ledger = ledger
        self._is_running = is_running
        self._described = described

    def _until(self, condition: Callable[[], object], seconds: float) -> float:
        def holds() -> object:
            assert self._is_running(), "the crowd has failed"
            return condition()

        return until(holds, seconds, self._described)

    def wait_for(self, count: int, kind: str = "vote", seconds: float = 120.0) -> None:
        """Wait until so many more answers of this kind have confirmed or shown something."""
        self.ledger.update()
        start = len(self.ledger.events)

        def enough() -> bool:
            self.ledger.update()
            new = self.ledger.events[start:]
            return sum(event.kind == kind and event.status in CONFIRMED for event in new) >= count

        self._until(enough, seconds)

    def wait_past(self, moment: float, *kinds: str) -> None:
        """Wait until there are answers, of each of these kinds, to requests that began after this moment."""
        for kind in kinds or ("vote", "read"):
            self._until(lambda kind=kind: self.ledger.of(kind, since=moment), DEADLINE)  # type: ignore[misc]

    def recovery(self, since: float, seconds: float = 120.0, articles: Container[int] | None = None) -> float:
        """Wait for a vote that was sent after this moment and confirmed; return the seconds until its answer.

        `articles`: those that count; all if None.
        """

        def confirmed() -> list[Event]:
            answers = [event for event in self.ledger.of("vote", since=since) if event.status == "200"]
            return [event for event in answers if articles is None or event.article in articles]

        self._until(confirmed, seconds)
        return confirmed()[0].at - since


@contextmanager
def crowd(site: Site, events: Path, plans: Sequence[Plan]) -> Iterator[Crowd]:
    """Run a process for each plan inside the block."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.crowd", replace(plan, events=str(events)).as_argument()],
            stdin=subprocess.PIPE,
        )
        for plan in plans
    ]
    ledger = Ledger(events)

    def described() -> str:
        return f"{site.told()[-3000:]}\n{[str(event) for event in ledger.events[-10:]]}"

    def is_running() -> bool:
        return all(process.poll() is None for process in processes)

    try:
        yield Crowd(ledger, is_running, described)
    finally:
        for process in processes:
            if process.stdin:
                process.stdin.close()
        statuses = [process.wait(90) for process in processes]
        ledger.update()
    assert statuses == [0] * len(plans), "a crowd failed"


def prepared_facts(data_dir: Path) -> dict[str, object]:
    """Return the members and the number of articles of a prepared data directory."""
    facts: dict[str, object] = json.loads((data_dir / "prepared.json").read_text())
    return facts
