"""Sessions by member. Those of a member's newest logins are kept; a login beyond the limit ends the oldest.

Sessions name their member only in their content, so their keys are kept here by member.

A session also knows when the member last proved who they are: what it takes to change or carry away an account.
Every login is a proof, and so is a password, a passkey or a login elsewhere on the page to which
`members_only(proof=True)` leads.
"""

import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.models import Session
from django.db import models, transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

MOST_SESSIONS = 50  # sessions of one member that exist at once
FRESH_SECONDS = 600  # for which a proof is fresh

_PROVEN = "proven"
_LONGEST_BROWSER = 300

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
"""What the `User-Agent` contains, and its name. The first that fits: each pretends to be those below."""


class MemberSession(models.Model):
    """The session of a login. The row can outlive it; a member has at most MOST_SESSIONS of them."""

    session_key = models.CharField(max_length=40, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="sessions")
    begun_at = models.DateTimeField()
    browser = models.CharField(max_length=300, default="", db_default="")  # the `User-Agent` of the login
    network = models.CharField(max_length=60, default="", db_default="")
    """Where the login came from, roughly: a network, not an address."""

    class Meta:
        default_permissions = ()  # not editable in the admin site
        indexes = (models.Index(fields=["user", "begun_at"], name="sessions_of_member"),)

    def __str__(self) -> str:
        return f"session of account {self.user_id}"

    @property
    def reference(self) -> str:
        """What names the session on a page, where its key must not appear."""
        return sha256(self.session_key.encode()).hexdigest()[:32]

    @property
    def label(self) -> str:
        """Names of the browser and of its device or system; in the reader's language if both are unknown."""
        signs = (_BROWSERS, _SYSTEMS)
        found = (next((name for sign, name in known if sign in self.browser), "") for known in signs)
        return " · ".join(filter(None, found)) or gettext("Unknown browser")


def browser_of(request: HttpRequest) -> str:
    """Return the names of the browser that asks and of its device or system."""
    return MemberSession(browser=request.headers.get("User-Agent", "")[:_LONGEST_BROWSER]).label


@receiver(user_logged_in)
def record_login(request: HttpRequest, user: Any, **_signal: Any) -> None:
    """Record the session of a login, and end the member's oldest ones beyond the limit."""
    if request.session.session_key is None:
        request.session.create()
    key = request.session.session_key
    browser = request.headers.get("User-Agent", "")[:_LONGEST_BROWSER]
    values = {"user_id": user.pk, "begun_at": timezone.now(), "browser": browser}
    MemberSession.objects.update_or_create(session_key=key, defaults=values)
    others = MemberSession.objects.filter(user_id=user.pk).exclude(session_key=key)
    newest_first = others.order_by("-begun_at", "session_key").values_list("session_key", flat=True)
    _end(newest_first[MOST_SESSIONS - 1 :])
    note_proof(request)


def note_proof(request: HttpRequest) -> None:
    """Note that the member has just proved who they are."""
    request.session[_PROVEN] = int(time.time())


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the member has proved who they are within FRESH_SECONDS."""
    return int(request.session.get(_PROVEN, 0)) > time.time() - FRESH_SECONDS


def is_logged_in(user: Any, key: str) -> bool:
    """Return whether the session with this key exists, and is a login of this member. One query."""
    content = import_module(settings.SESSION_ENGINE).SessionStore(key).load()
    return constant_time_compare(content.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())


def end_others(user_id: int, key: str) -> None:
    """End the member's sessions, except the one with this key. Idempotent."""
    others = MemberSession.objects.filter(user_id=user_id).exclude(session_key=key)
    _end(others.values_list("session_key", flat=True))


def list_current(user_id: int, current: str) -> list[MemberSession]:
    """Return the member's sessions that have not ended, `current` first, then the newest. Two queries."""
    mine = {one.session_key: one for one in MemberSession.objects.filter(user_id=user_id)}
    known = Session.objects.filter(pk__in=mine, expire_date__gt=timezone.now()).values_list("pk", flat=True)
    newest = sorted((mine[key] for key in known), key=lambda one: one.begun_at, reverse=True)
    return sorted(newest, key=lambda one: one.session_key != current)


def end(user_id: int, reference: str, *, keep: str) -> None:
    """End the member's session with this reference, unless its key is `keep`. Idempotent."""
    mine = MemberSession.objects.filter(user_id=user_id).exclude(session_key=keep)
    _end(one.session_key for one in mine if one.reference == reference)


def _end(keys: Iterable[str]) -> None:
    for key in list(keys):
        import_module(settings.SESSION_ENGINE).SessionStore(key).delete()
        forget([key])


def record_new_key(former: str | None, key: str | None) -> None:
    """Record that a session has another key, as after a change of the password, also in rows that refer to it."""
    with transaction.atomic():
        MemberSession.objects.filter(session_key=former).update(session_key=key)
        for relation in MemberSession._meta.related_objects:
            rows, name = relation.field.model._default_manager, relation.field.name
            rows.filter(**{name: former}).update(**{name: key})


@receiver(user_logged_out)
def forget_logout(request: HttpRequest, **_signal: Any) -> None:
    """Forget the session that a logout is about to end."""
    forget([request.session.session_key or ""])


def forget(keys: Sequence[str]) -> None:
    """Forget sessions that have ended."""
    MemberSession.objects.filter(session_key__in=keys).delete()
