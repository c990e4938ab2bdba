"""How much work something is, counted: no clock says the same twice."""

import sys
from collections.abc import Callable
from typing import Any


def work_in(work: Callable[[], Any], module: str = "") -> int:
    """Return how many functions, in Python and in C, are called in this thread to do something.

    `module`: only its functions, and those in C that they call. The count does not depend on what was done before.
    """
    count = 0

    def note(frame: Any, event: str, _function: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call") and module in ("", frame.f_globals.get("__name__"))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
