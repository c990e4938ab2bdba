"""One run of the fuzzer: its seed, the number of its cases, its time, its progress, and the failures that it saw.

FUZZ_SEED repeats a run; FUZZ_SHARE is the part of all cases that it tries, 1 by default.
"""

import os
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.signals import got_request_exception

from tests.rules import SEED

SHARE = float(os.environ.get("FUZZ_SHARE", "1"))

LONGEST_SECONDS = 420  # of one part of the run; a machine on which it takes longer tries fewer cases, and says so
_LINE_EVERY = 5.0


class Run:
    """One part of the fuzzer, such as all forms of a member."""

    def __init__(self, name: str, cases: int) -> None:
        self.name, self.cases = name, max(1, round(cases * SHARE))
        self.random = random.Random(f"{SEED} {name}")
        self.done = 0
        self.statuses: Counter[int] = Counter()
        self.failures: dict[str, str] = {}
        self._began = self._shown = time.monotonic()
        self._error = ""

    @property
    def is_over(self) -> bool:
        return self.done >= self.cases or time.monotonic() - self._began > LONGEST_SECONDS

    def record(self, request: str, status: int) -> None:
        """Count an answer; keep the first request of each kind of failure."""
        self.done += 1
        self.statuses[status] += 1
        if status >= 500:
            self.fail(self._error or f"{status} {request.partition('?')[0]}", request)
        self._error = ""
        self._show()

    def fail(self, kind: str, request: str) -> None:
        self.failures.setdefault(kind, request[:2000])

    @contextmanager
    def watching(self) -> Iterator["Run"]:
        """Note where requests raise; print the result at the end, and fail if anything went wrong."""
        got_request_exception.connect(self._note)
        try:
            yield self
        finally:
            got_request_exception.disconnect(self._note)
            self._show(last=True)
        assert self.failures == {}, f"FUZZ_SEED={SEED}"

    def _note(self, **_signal: Any) -> None:
        kind, error, where = sys.exc_info()
        frames = [frame for frame in traceback.extract_tb(where) if "site-packages" not in frame.filename]
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        self._error = f"{kind and kind.__name__} at {place}: {str(error)[:200]}"

    def _show(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._shown < _LINE_EVERY:
            return
        self._shown = now
        text = f"fuzz {self.name}: {self.done:,} of {self.cases:,} cases, {len(self.failures)} failures"
        if last:
            by_status = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
            text += f", {now - self._began:.0f} s, seed {SEED}, answers {by_status}"
        print(text, file=sys.__stderr__, flush=True)
