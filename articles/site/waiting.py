"""Accounts that are waiting for a moderator's approval."""

from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError

from accounts.models import WaitingAccount


def count_waiting() -> int:
    """Return how many accounts wait; 0 while the database is unavailable. One query with SIGN_UP=approval."""
    with suppress(DatabaseError):
        return WaitingAccount.objects.count() if settings.SIGN_UP == "approval" else 0
    return 0
