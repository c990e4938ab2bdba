"""Which ways in a member has, so that none removes the last one, and the way in from a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.dispatch import Signal

from accounts.models import User

ways_asked = Signal()
"""Sent with `member`. Receivers return how many further ways in they have; without a member, to sign up."""

leaving = Signal()
"""Sent with `request` before a logout. A receiver may return a page, which is shown after it."""


class LastWayError(Exception):
    """Without this, the member could not sign in any more."""


def ways_in(member: User) -> int:
    """Return how many ways in the member has, without second factors and links."""
    own = int(settings.PASSWORDS and member.has_usable_password()) + member.passkeys.count()
    return own + further_ways(member)


def further_ways(member: User | None) -> int:
    """Return how many ways in there are besides passwords and passkeys: of a member, or to sign up."""
    answers: list[tuple[Any, Any]] = ways_asked.send(User, member=member)
    return sum(count for _receiver, count in answers)


@contextmanager
def removing_a_way(member: User) -> Iterator[None]:
    """Let the block remove a way in, one at a time. Raises LastWayError, without a change, if none remains."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        yield
        if not ways_in(User.objects.get(pk=member.pk)):
            raise LastWayError


LINK_MINUTES = 10  # for which a link from the command line works

_SALT = "accounts.login_link"


def link_token(member: User) -> str:
    """Return the token of a link that logs the member in once: the login makes it invalid."""
    return signing.dumps([member.pk, _stamp(member)], salt=_SALT)


def member_of_link(token: str) -> User | None:
    """Return the administrator whom a link logs in; None if it is not valid, or was used."""
    try:
        number, stamp = signing.loads(token, salt=_SALT, max_age=LINK_MINUTES * 60)
    except signing.BadSignature:
        return None
    member = User.objects.filter(pk=number, is_staff=True, is_active=True).first()
    return member if member is not None and _stamp(member) == stamp else None


def _stamp(member: User) -> str:
    """Return what each login changes."""
    return f"{member.last_login} {member.get_session_auth_hash()[:10]}"
