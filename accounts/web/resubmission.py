"""Forms that arrive twice: a double click sends the same form again before the first response is shown.

The browser shows only the second response, so it must report what the first request did.
"""

from datetime import timedelta

from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils import timezone

from accounts import names
from accounts.models import User

RESUBMISSION_WINDOW = timedelta(minutes=1)
"""Age of a change up to which a second identical form counts as the same submission."""


def just_signed_up(request: HttpRequest, username: str, password: str) -> User | None:
    """Return the account that an identical sign-up form created within `RESUBMISSION_WINDOW`, or None.

    The password is verified as in a login, so the form gives no access that a login would not.
    """
    canonical, oldest = names.canonical(username), timezone.now() - RESUBMISSION_WINDOW
    if not User.objects.filter(canonical_name=canonical, date_joined__gte=oldest).exists():
        return None
    return _authenticated(request, username, password)


def already_has_password(request: HttpRequest, username: str, password: str) -> User | None:
    """Return the member whose password is already the new one, verified as in a login, or None."""
    return _authenticated(request, username, password) if username and password else None


def has_just_left(name: str) -> bool:
    """Return whether the account with this name was deleted within `RESUBMISSION_WINDOW`."""
    canonical, oldest = names.canonical(name), timezone.now() - RESUBMISSION_WINDOW
    spellings = [canonical, names.former_name_digest(canonical)]
    return User.objects.filter(canonical_name__in=spellings, left_at__gte=oldest).exists()


def _authenticated(request: HttpRequest, username: str, password: str) -> User | None:
    member = authenticate(request, username=username, password=password)
    return member if isinstance(member, User) else None
