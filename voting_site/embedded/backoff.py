"""Delay before the next start of a server that ended."""

from dataclasses import dataclass

_FIRST = 0.1  # seconds
_LONGEST = 5.0


@dataclass
class Backoff:
    """Delay of 0.1 s after a run that served, which doubles up to 5 s while the server does not come up."""

    _next: float = _FIRST

    def after(self, *, served: bool) -> float:
        """Return the seconds to wait after a run."""
        wait = _FIRST if served else self._next
        self._next = min(2 * wait, _LONGEST)
        return wait
