"""Waiting for what another process does."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 30.0, told: Callable[[], str] = str) -> float:
    """Poll the condition until it holds; the seconds it took. Fails after `seconds`, with what `told` gives."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < seconds, f"not within {seconds} s\n{told()}"
        time.sleep(0.01)
    return time.monotonic() - begun
