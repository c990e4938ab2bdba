"""How long to wait before the next restart."""

from dataclasses import dataclass

_FIRST = 0.1  # seconds
_LONGEST = 5.0
_STEADY = 30.0  # seconds up after which a failure counts as the first again


@dataclass
class Backoff:
    """Doubles from 0.1 s to 5 s while runs are short."""

    _next: float = _FIRST

    def after(self, uptime: float) -> float:
        """Seconds to wait after a run that served for `uptime` seconds."""
        wait = _FIRST if uptime >= _STEADY else self._next
        self._next = min(2 * wait, _LONGEST)
        return wait
