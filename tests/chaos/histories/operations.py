"""The operations of clients on registers, as each client writes them down while it runs.

The register of a member and an article holds the member's choice. A client writes a line before it sends an
operation, and another when it has the answer: "ok"; "fail", certainly without effect, as all refusals are; or
"info", unknown. All times are of one clock.
"""

import math
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from articles.domain.articles import Choice

SET, READ = "set", "read"
INVOKE, OK, FAIL, INFO = "invoke", "ok", "fail", "info"


class Register(NamedTuple):
    """Where a member's choice on an article is kept."""

    member: int
    article: int

    def __str__(self) -> str:
        return f"member {self.member}, article {self.article}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that may have had an effect. `completed` is infinite if no client knows whether it had."""

    process: str
    register: Register
    kind: str
    choice: str  # what was set or read
    invoked: float
    completed: float = math.inf

    @property
    def is_known(self) -> bool:
        return self.completed < math.inf


class Recorder:
    """The history of one client, which does one operation at a time. Several may write to one file."""

    def __init__(self, path: Path, process: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._process = process

    def invoke(self, register: Register, kind: str, choice: Choice | None = None) -> None:
        """Note that the operation is about to be sent; `choice` is what it sets."""
        self._write(INVOKE, *register, kind, choice.value if choice else "")

    def complete(self, outcome: str, choice: Choice | None = None) -> None:
        """Note how the last operation ended; `choice` is what it has read."""
        self._write(outcome, 0, 0, "", choice.value if choice else "")

    def _write(self, entry: str, *fields: object) -> None:
        line = "\t".join(map(str, (f"{time.monotonic():.6f}", self._process, entry, *fields)))
        os.write(self._file, f"{line}\n".encode())


def read_history(path: Path) -> list[Operation]:
    """Return the operations of a file that may have had an effect, and reads that were answered."""
    return list(pair_up(path.read_text().splitlines()))


def pair_up(lines: Iterable[str]) -> Iterator[Operation]:
    """Yield an operation for each pair of lines; one without an answer is unknown. Raise ValueError for others."""
    pending: dict[str, Operation] = {}
    for line in lines:
        at, process, entry, member, article, kind, choice = line.split("\t")
        before = pending.pop(process, None)
        if entry == INVOKE:
            yield from _outcome(before, INFO, math.inf, "")  # of a client that died and was started again
            register = Register(int(member), int(article))
            pending[process] = Operation(process, register, kind, choice, float(at))
        elif before is None:
            raise ValueError(f"an answer to nothing: {line}")
        else:
            yield from _outcome(before, entry, float(at), choice)
    for one in pending.values():
        yield from _outcome(one, INFO, math.inf, "")


def _outcome(operation: Operation | None, entry: str, at: float, choice: str) -> Iterator[Operation]:
    if operation is None or entry == FAIL or (entry == INFO and operation.kind == READ):
        return
    if entry == INFO:
        yield operation
    elif operation.kind == READ:
        yield replace(operation, choice=choice, completed=at)
    else:
        yield replace(operation, completed=at)
