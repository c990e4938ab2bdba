"""Steps of audit and repair that meet something unreadable: they report it and continue with the rest."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from articles.domain.errors import StoreDamaged
from articles.repository.store.key_table import PartOf, recognise, split_prefix
from articles.repository.store.keys import Keys

UNREADABLE = (StoreDamaged, ValueError, LookupError, TypeError, ArithmeticError)
"""Errors of a step that meets damage: the store or a script refuses, or its reply makes no sense."""


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


def attempt(subject: str, step: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings of a step; if it fails because of damage, the last says so. Raises StoreUnavailable."""
    try:
        yield from step
    except UNREADABLE as error:
        yield _failure(subject, error)


def attempt_repair(subject: str, step: Callable[[], object], tell: Callable[[Finding], object]) -> None:
    """Run a step of the repair; if it fails because of damage, report it. Raises StoreUnavailable."""
    try:
        step()
    except UNREADABLE as error:
        tell(_failure(subject, error, "repaired"))


def carry_out(step: Iterable[object]) -> None:
    """Run a step to its end, for its effects."""
    for _ in step:
        pass


def attempt_each(
    name: Callable[[int], str],
    batch: list[str],
    step: Callable[[list[str]], Iterable[Finding]],
    *,
    is_shard_damaged: bool,
) -> Iterator[Finding]:
    """Yield the findings of a step on some articles or comments. If it fails, its halves are tried, down to one.

    `name` returns the key of one. In a damaged shard each may fail: then one finding is about the whole batch.
    """
    try:
        findings = list(step(batch))
    except UNREADABLE as error:
        if is_shard_damaged and len(batch) > 1:
            findings = [_failure(f"{name(int(batch[0]))} to {batch[-1]}", error)]
        elif len(batch) == 1:
            findings = [_failure(name(int(batch[0])), error)]
        else:
            half, again = len(batch) // 2, partial(attempt_each, name, step=step, is_shard_damaged=False)
            findings = [*again(batch[:half]), *again(batch[half:])]
    yield from findings


def is_shard_damaged(keys: Keys, unreadable: Iterable[Finding]) -> bool:
    """Return whether an unreadable key is one that the check of any article of the shard may need."""
    for finding in unreadable:
        prefix, name = split_prefix(finding.subject)
        (kind,) = recognise([name])
        if kind and kind.part_of is PartOf.SITE and prefix in ("", keys.prefix):
            return True
    return False


def _failure(subject: str, error: Exception, what: str = "checked") -> Finding:
    return Finding(subject, f"cannot be {what}: {type(error).__name__}: {error}"[:300])
