"""A fresh proof of who uses a session: what it takes to change or carry away an account.

Every login is one, and so is a password, a passkey or a provider on the page that `members_only(proof=True)`
leads to.
"""

import time

from django.http import HttpRequest

FRESH_SECONDS = 600

_IN_SESSION = "proven"


def note(request: HttpRequest) -> None:
    """Note that the member has just proved who they are."""
    request.session[_IN_SESSION] = int(time.time())


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the member has proved who they are within FRESH_SECONDS."""
    return int(request.session.get(_IN_SESSION, 0)) > time.time() - FRESH_SECONDS
