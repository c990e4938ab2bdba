"""Interleaved runs: each contender once in each round, so that other work on the machine affects all alike."""

import http.client
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NoReturn

from tqdm import tqdm

from bench.site.cases import Case
from bench.site.figures import Run
from bench.site.load import send
from bench.site.servers import Server
from bench.site.usage import cpu_seconds, memory_bytes, store_counters

_SETTLE_SECONDS, _LOOK_SECONDS = 3.0, 0.05

_ATTEMPTS, _WARM_UP = 5, 8

_BATCH = 11
"""Runs between two of the reference."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A case on a server. `peer` names what serves it; `articles`: how many the site holds, 0 if it holds none."""

    peer: str
    case: Case
    articles: int


class WrongPage(Exception):
    """A server answers something else than the case says."""


def check(server: Server, case: Case, number: int = 0) -> None:
    """Send a request, and raise WrongPage if its response is not what the case is about.

    A machine that is busy with other work may have made the store late: the request is sent again.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(WrongPage):
            return _check(server, case, number)
    return _check(server, case, number)


def _check(server: Server, case: Case, number: int) -> None:
    head, _, body = case.requests[number % len(case.requests)].partition(b"\r\n\r\n")
    method, path, _ = head.split(b"\r\n")[0].decode().split()
    headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:])
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    if response.getheader("Content-Encoding") == "gzip":
        content = zlib.decompress(content, wbits=31)
    is_login = (response.getheader("Location") or "").startswith("/login/")
    if response.status != case.status or is_login or case.shows.encode() not in content:
        raise WrongPage(f"{case.name}: {path} answers {response.status}, {content[:300]!r}")


def run_once(server: Server, case: Case, seconds: int, first: int) -> Run:
    web, store = server.web(), server.store()
    before, web_before, store_before = store_counters(server.client), cpu_seconds(web), cpu_seconds(store)
    load = send(server.port, case, seconds, first)
    _settle(server)
    web_cpu, store_cpu = cpu_seconds(server.web()) - web_before, cpu_seconds(store) - store_before
    after = store_counters(server.client)
    used = replace(
        after, commands=after.commands - before.commands, round_trips=after.round_trips - before.round_trips
    )
    return Run(load, web_cpu, store_cpu, used, memory_bytes(server.web()))


def _settle(server: Server) -> None:
    """Wait until the server has answered what its clients no longer wait for: the next run has it to itself."""
    end, before = time.monotonic() + _SETTLE_SECONDS, -1.0
    while time.monotonic() < end and (now := cpu_seconds(server.web())) != before:
        before = now
        time.sleep(_LOOK_SECONDS)


@dataclass
class Rounds:
    """Interleaved runs of all contenders. The reference, with which they are compared, runs between every few."""

    reference: Contender
    servers: Mapping[Contender, Server]
    rounds: int
    seconds: int
    runs: dict[Contender, list[Run]] = field(default_factory=dict)

    def run(self, deadline: float) -> dict[Contender, list[Run]]:
        """Return the runs of each contender. No round begins that would end after `deadline` (monotonic)."""
        others = [contender for contender in self.servers if contender != self.reference]
        batches = [others[n : n + _BATCH] for n in range(0, len(others), _BATCH)]
        with tqdm(total=self.rounds * (len(others) + len(batches) + 1), desc="runs", unit="") as bar:
            for turn in range(self.rounds):
                began = time.monotonic()
                self._round(batches, turn, bar)
                if 2 * time.monotonic() - began > deadline:
                    break
        return self.runs

    def _round(self, batches: Sequence[Sequence[Contender]], turn: int, bar: "tqdm[NoReturn]") -> None:
        before = self._once(self.reference, turn, bar)
        self._add(self.reference, before, before.load.rate)
        for batch in batches:
            runs = [self._once(contender, turn, bar) for contender in batch]
            after = self._once(self.reference, turn, bar)
            for contender, run in zip(batch, runs, strict=True):
                self._add(contender, run, (before.load.rate + after.load.rate) / 2)
            before = after

    def _once(self, contender: Contender, turn: int, bar: "tqdm[NoReturn]") -> Run:
        bar.set_postfix_str(f"{contender.peer}: {contender.case.name}", refresh=False)
        first = contender.case.segment(turn + 1, self.rounds + 1)  # the first one warmed it up
        run = run_once(self.servers[contender], contender.case, self.seconds, first)
        bar.update()
        return run

    def _add(self, contender: Contender, run: Run, base: float) -> None:
        self.runs.setdefault(contender, []).append(replace(run, share=run.load.rate / base if base else 0.0))


def warm_up(contenders: Mapping[Contender, Server]) -> None:
    """Check every contender often enough for its processes to have compiled what draws the page."""
    for contender, server in tqdm(contenders.items(), desc="checks", unit="", leave=False):
        for number in range(_WARM_UP):  # a second vote on the same article may be another page
            check(server, contender.case, number)
