"""Acts on a member that take many steps: each request takes some, and the moderator continues them."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

Step = TypeVar("Step")

BUDGET_SECONDS = 5.0
"""Time that one request spends on an act."""


def take(steps: Iterator[Step], note: Callable[[Step], object] = bool) -> bool:
    """Take the steps of an act for as long as time allows, passing each to `note`; return whether all are done."""
    deadline = time.monotonic() + BUDGET_SECONDS
    for step in steps:
        note(step)
        if time.monotonic() > deadline:
            return False
    return True
