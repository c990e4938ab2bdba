"""How much work something is, counted: no clock says the same twice."""

import sys
from collections.abc import Callable
from typing import Any


def work_in(work: Callable[[], Any]) -> int:
    """Return how many functions, in Python and in C, are called in this thread to do something."""
    count = 0

    def note(_frame: Any, event: str, _function: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
