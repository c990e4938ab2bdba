"""Signals that a process receives, and a wait that ends with them: so nothing polls for what happens rarely."""

import os
import select
import signal
from collections.abc import Sequence


class Signals:
    """The signals that this process has received since, in their order. At most one object in a process."""

    def __init__(self, *numbers: int) -> None:
        self.received: list[int] = []
        self._woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda number, _frame: self.received.append(number))

    def wait(self, seconds: float, pipes: Sequence[int] = ()) -> list[int]:
        """Block until a signal, or until one of the pipes can be read. Return those."""
        readable, _, _ = select.select([self._woken, *pipes], [], [], seconds)
        if self._woken in readable:
            os.read(self._woken, 4096)
            readable.remove(self._woken)
        return readable

    def take(self, number: int) -> bool:
        """Return whether the signal was received, and forget that."""
        is_received = number in self.received
        while number in self.received:  # one by one: another may arrive meanwhile
            self.received.remove(number)
        return is_received
