"""Delay before the next restart."""

from dataclasses import dataclass

_FIRST = 0.1  # seconds
_LONGEST = 5.0
_STEADY = 30.0  # seconds of uptime after which the delay is reset


@dataclass
class Backoff:
    """Delay that doubles from 0.1 s to 5 s while runs are short."""

    _next: float = _FIRST

    def after(self, uptime: float) -> float:
        """Return the seconds to wait after a run with `uptime` seconds of service."""
        wait = _FIRST if uptime >= _STEADY else self._next
        self._next = min(2 * wait, _LONGEST)
        return wait
