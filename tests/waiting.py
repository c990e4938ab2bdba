"""Waiting for what another process does."""

import time
from collections.abc import Callable

SECONDS = 60.0
"""After which a wait fails: many times what a busy machine takes."""

SHORTEST, LONGEST = 0.01, 0.1
"""Seconds between two looks. They grow, so that a long wait takes no processor time from what it waits for."""


def until(condition: Callable[[], object], seconds: float = SECONDS, told: Callable[[], str] = str) -> float:
    """Poll the condition until it holds; return the seconds it took. Fail after `seconds`."""
    begun, pause = time.monotonic(), SHORTEST
    while not condition():
        assert time.monotonic() - begun < seconds, f"not within {seconds} s\n{told()}"
        time.sleep(pause)
        pause = min(1.2 * pause, LONGEST)
    return time.monotonic() - begun
