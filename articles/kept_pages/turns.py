"""Turns to write pages that are the same for everyone: a few at a time in each process, and each page once.

Feeds and parts of the sitemap cost a hundred times as much as other pages. A thread of each process stays free for
the other pages.
"""

import time
from collections.abc import Callable
from functools import wraps
from threading import Condition
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from articles.kept_pages.pages import Address

PATIENCE = 1.0
"""Seconds for which a reader without an older copy waits for a turn, or for another reader's."""

_RETRY_AFTER = 2  # seconds


class Turns:
    """The pages that a process is writing, at most `most` at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._writing: set[Address] = set()
        self._changed = Condition()

    def take(self, address: Address, seconds: float) -> bool:
        """Wait for at most some seconds for a turn; return whether the caller has it.

        A caller that has waited for another's turn for the same page gets none.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            is_second = address in self._writing
            while address in self._writing or (not is_second and len(self._writing) >= self._most):
                is_second = is_second or address in self._writing
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    return False
            if not is_second:
                self._writing.add(address)
            return not is_second

    def end(self, address: Address) -> None:
        with self._changed:
            self._writing.discard(address)
            self._changed.notify_all()


class Turn:
    """One request's turn, which its view takes after the rate limits, and which ends when its page is kept."""

    def __init__(self, turns: Turns, address: Address, patience: float) -> None:
        self._turns, self._address, self._patience = turns, address, patience
        self._is_taken = False

    def take(self) -> bool:
        self._is_taken = self._turns.take(self._address, self._patience)
        return self._is_taken

    def __enter__(self) -> "Turn":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._is_taken:
            self._turns.end(self._address)


def turns_of_a_process() -> Turns:
    """Return turns that leave one of the process's threads free, if it has several."""
    return Turns(settings.SHARED_PAGES_AT_ONCE)


def in_turn(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let the view of a page that is the same for everyone wait for its turn; without one respond 503."""

    @wraps(view)
    def waiting(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        turn: Turn | None = vars(request).get("turn")
        if turn is None or turn.take():  # without copies there are no turns
            return view(request, *args, **kwargs)
        sentence = _("Many feeds are being generated right now. Please try again in a moment.")
        response = HttpResponse(f"{sentence}\n", status=503, content_type="text/plain; charset=utf-8")
        response["Retry-After"] = str(_RETRY_AFTER)
        response.has_no_turn = True  # type: ignore[attr-defined]
        return response

    return waiting
