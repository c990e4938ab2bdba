"""What audit and repair find. A check that damage stops is itself a finding."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

from articles.domain.errors import StoreDamaged

_DAMAGE = (StoreDamaged, ValueError)
"""Errors of a check that meets damage: the store or a script refuses, or a value is no number."""

Verb: TypeAlias = Literal["audit", "repair"]
"""Which script of a check runs: the one that only reads, or the one that repairs what it finds."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken invariant: the key or article, and what is wrong with it."""

    subject: str
    problem: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.problem}"


def findings_from(name: Callable[[int], str], flat: Sequence[Any]) -> Iterator[Finding]:
    """Yield the findings of a script's reply: numbers, each with a problem. `name` returns the key of one."""
    for number, problem in zip(flat[::2], flat[1::2], strict=True):
        yield Finding(name(int(number)), problem)


def attempt(subject: str, check: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings of a check; if damage stops it, the last one says so. Raises StoreUnavailable."""
    try:
        yield from check
    except _DAMAGE as error:
        yield Finding(subject, f"cannot be checked: {error}"[:300])


def attempt_each(
    name: Callable[[int], str], batch: list[str], check: Callable[[list[str]], Iterable[Finding]]
) -> Iterator[Finding]:
    """Yield a check's findings; one by one after damage. `name` returns the key of one."""
    try:
        findings = list(check(batch))
    except _DAMAGE:
        each = (attempt(name(int(one)), check([one])) for one in batch)
        findings = list(chain.from_iterable(each))
    yield from findings


def carry_out(step: Iterable[object]) -> None:
    """Run a step to its end, for its effects."""
    for _ in step:
        pass
