"""A clock that moves only when a test advances it."""

DAY = 86400.0  # seconds


class Clock:
    """A clock in Unix seconds, called like `time.time`."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds
