"""The judgement of a whole history: of each register, of what the store holds in the end, and of the counts."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.chaos.histories.counts import COUNTED, Counts, possible_counts
from tests.chaos.histories.linearizability import INITIAL, final_choices
from tests.chaos.histories.operations import SET, Operation, Register

_SHOWN = 5


@dataclass(frozen=True)
class Start:
    """What the store held before the first operation: choices that were not none, and the counts of articles."""

    choices: Mapping[Register, str] = field(default_factory=dict)
    counts: Mapping[int, Counts] = field(default_factory=dict)

    def choice(self, register: Register) -> str:
        return self.choices.get(register, INITIAL)

    def others(self, article: int, registers: Iterable[Register]) -> Counts:
        """Return what the article's counts were without these registers."""
        counted = [COUNTED.get(self.choice(register), (0, 0)) for register in registers]
        votes, opposes = self.counts.get(article, (0, 0))
        return votes - sum(one for one, _ in counted), opposes - sum(one for _, one in counted)


@dataclass(frozen=True)
class Failure:
    """Something that no order of the operations explains. `operations` end with the one that cannot be."""

    what: str
    operations: Sequence[Operation] = ()

    def __str__(self) -> str:
        begin = min((operation.invoked for operation in self.operations), default=0.0)
        return "\n".join([self.what, *(f"    {_line(one, begin)}" for one in self.operations)])


def _line(operation: Operation, begin: float) -> str:
    end = f"{operation.completed - begin:9.4f}" if operation.is_known else "  unknown"
    return (
        f"{operation.invoked - begin:9.4f} to {end}  {operation.process:>8}  {operation.kind} {operation.choice}"
    )


@dataclass(frozen=True)
class Verdict:
    """`failures`: the ones with the fewest operations first; empty for a history that can be explained.

    `undone`: registers explained only if choices that were never confirmed were seen, and then undone.
    """

    operations: int
    registers: int
    failures: Sequence[Failure]
    undone: int = 0

    def __str__(self) -> str:
        summary = f"{self.operations} operations on {self.registers} registers: {len(self.failures)} unexplained"
        if self.undone:
            summary += f", {self.undone} seen before they were confirmed, and undone"
        return "\n".join([summary, *map(str, self.failures[:_SHOWN])])


def judge(
    operations: Iterable[Operation],
    *,
    held: Mapping[Register, str] | None = None,
    counts: Mapping[int, Counts] | None = None,
    start: Start | None = None,
    may_undo: bool = False,
) -> Verdict:
    """Return what cannot be explained.

    `may_undo`: a server that takes over may lack what another client has read of an unconfirmed write. Confirmed
    writes stay, and what was read of them.

    `held`: the choices in the store, and `counts`: the counts of articles, when nothing was under way any more.
    What is not given is not compared.
    """
    start = start or Start()
    of_registers: dict[Register, list[Operation]] = defaultdict(list)
    for operation in operations:
        of_registers[operation.register].append(operation)
    failures, allowed, undone = [], {}, 0
    for register, own in of_registers.items():
        allowed[register] = final_choices(own, start.choice(register))
        if may_undo and not _is_explained(allowed[register], register, held):
            without = final_choices(_without_unconfirmed_reads(own), start.choice(register))
            if _is_explained(without, register, held):
                allowed[register], undone = without, undone + 1
        if not allowed[register]:
            failures.append(_unexplained(register, own, start.choice(register)))
        elif held is not None and (choice := held.get(register, INITIAL)) not in allowed[register]:
            allows = " or ".join(sorted(allowed[register]))
            failures.append(Failure(f"{register}: the store holds {choice}, its history allows {allows}", own))
    for register, choice in (held or {}).items():
        if register not in of_registers and choice != start.choice(register):
            failures.append(Failure(f"{register}: the store holds {choice}, and no client set it"))
    failures.sort(key=lambda failure: len(failure.operations))
    failures += _miscounted(allowed, held, counts or {}, start)
    return Verdict(sum(map(len, of_registers.values())), len(of_registers), failures, undone)


def _is_explained(allowed: frozenset[str], register: Register, held: Mapping[Register, str] | None) -> bool:
    return bool(allowed) and (held is None or held.get(register, INITIAL) in allowed)


def _without_unconfirmed_reads(operations: Sequence[Operation]) -> list[Operation]:
    """Leave out reads of what a write without an answer may have set."""
    unknown = [one for one in operations if one.kind == SET and not one.is_known]
    return [
        one
        for one in operations
        if one.kind == SET
        or not any(write.choice == one.choice and write.invoked <= one.completed for write in unknown)
    ]


def _unexplained(register: Register, operations: Sequence[Operation], initial: str) -> Failure:
    """Return the shortest beginning of an impossible history that is impossible already."""
    for moment in sorted(operation.completed for operation in operations if operation.is_known):
        beginning = _until(operations, moment)
        if not final_choices(beginning, initial):
            break
    last = next(operation for operation in beginning if operation.completed == moment)
    others = sorted((one for one in beginning if one is not last), key=lambda one: one.invoked)
    what = f"{register}: no order of the others explains the last of these {len(beginning)} operations"
    return Failure(what, [*others, last])


def _until(operations: Sequence[Operation], moment: float) -> list[Operation]:
    """Return what was known at this moment."""
    return [
        operation if operation.completed <= moment else replace(operation, completed=math.inf)
        for operation in operations
        if operation.completed <= moment or (operation.kind == SET and operation.invoked <= moment)
    ]


def _miscounted(
    allowed: Mapping[Register, frozenset[str]],
    held: Mapping[Register, str] | None,
    counts: Mapping[int, Counts],
    start: Start,
) -> list[Failure]:
    """Return the articles whose counts are of no choices that their registers may hold."""
    of_articles: dict[int, dict[Register, frozenset[str]]] = defaultdict(dict)
    for register, choices in allowed.items():
        known = frozenset({held.get(register, INITIAL)}) if held is not None else choices
        of_articles[register.article][register] = (known & choices) or choices
    failures = []
    for article, count in counts.items():
        own = of_articles[article]
        possible = possible_counts(own.values(), start.others(article, own))
        if count not in possible and all(own.values()):
            nearest = sorted(possible, key=lambda one: math.dist(one, count))[:_SHOWN]
            failures.append(Failure(f"article {article}: counts (votes, opposes) {count}, allowed are {nearest}"))
    return failures
