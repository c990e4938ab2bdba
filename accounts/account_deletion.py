"""Accounts that are deleted: gone for everybody at once, and tidied up in steps that can be interrupted anywhere.

`begin` marks the account, in one transaction. What it did elsewhere is the affair of those who keep it: they
register with `also` and are called again and again until they have no more to do. All is done twice, the second
time when requests that were under way in the beginning have long ended. Then the account's row keeps its id, and a
digest of its name, so that neither is ever given to anybody else.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone

from accounts import names
from accounts.models import Departure, User

Work = Callable[[int, str, str, Callable[[], bool]], str]
"""Told the user id, the name, how far it was ('' at first) and whether there is time for more; says how far it is,
'' when all is done. To be repeated without harm."""

AGAIN_AFTER = timedelta(seconds=60)
"""Longer than any request takes."""

_SESSIONS_PER_BATCH = 500
"""Sessions read by one query, and decoded."""

_REQUEST_BUDGET_SECONDS = 1.0
"""Of the deletion within the member's request. Housekeeping does the rest."""

_log = logging.getLogger(__name__)
_others: dict[str, Work] = {}


class LastAdministratorError(Exception):
    """Nobody else could administrate the site."""


def register_step(name: str, work: Work) -> None:
    """Have this done too for every account that is deleted."""
    _others[name] = work


@transaction.atomic
def begin(user_id: int) -> None:
    """Mark the account as deleted: nobody can log in to it, use its tokens or see its page from now on.

    Repeating it changes nothing. Raises LastAdministratorError.
    """
    administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True)
    others = [member.pk for member in administrators if member.pk != user_id]
    member = User.objects.select_for_update().get(pk=user_id)
    if member.left_at is not None:
        return
    if member.is_superuser and not others:
        raise LastAdministratorError
    member.left_at = timezone.now()
    member.is_active = member.is_staff = member.is_superuser = False
    member.email = member.language = member.theme = member.hidden_groups = ""
    member.keyboard, member.last_login = True, None
    member.set_unusable_password()
    member.save()
    member.groups.clear()
    member.user_permissions.clear()
    member.tokens.all().delete()
    Departure.objects.create(user=member, begun_at=member.left_at)


@receiver(post_delete, sender=User)
def keep_what_is_taken(instance: User, using: str, **_: Any) -> None:
    """However an account's row goes, number and name stay taken: the account departs as with `begin`."""
    row = User(pk=instance.pk, username=instance.username, canonical_name=instance.canonical_name)
    row.imported, row.date_joined, row.is_active = instance.imported, instance.date_joined, False
    row.left_at = instance.left_at or timezone.now()
    row.set_unusable_password()
    User.objects.using(using).bulk_create([row])
    if names.is_valid(row.username):
        Departure.objects.using(using).create(user=row, begun_at=row.left_at)


def advance_all(budget: float) -> int:
    """Go on with all deletions for about `budget` seconds; returns how many came to their end.

    One that fails does not keep the others waiting; the failure is raised in the end.
    """
    deadline, ended, failure = time.monotonic() + budget, 0, None
    for departure in Departure.objects.select_related("user").order_by("begun_at"):
        try:
            ended += _advance(departure, lambda: time.monotonic() < deadline)
        except Exception as error:
            _log.exception("the deletion of account %d was interrupted", departure.pk)
            failure = error
        if time.monotonic() >= deadline:
            break
    if failure:
        raise failure
    return ended


def advance_briefly() -> None:
    """Go on within a request; housekeeping does the rest, and what fails."""
    try:
        advance_all(_REQUEST_BUDGET_SECONDS)
    except Exception:
        _log.warning("an account is deleted; what is left to tidy up is put off")


def _advance(departure: Departure, more: Callable[[], bool]) -> bool:
    """Whether it came to its end."""
    while True:
        if not _take_steps(departure, more):
            return False
        if departure.again:
            return _end(departure)
        if timezone.now() < departure.begun_at + AGAIN_AFTER:
            return False
        departure.again, departure.step, departure.progress = True, 0, ""
        _note(departure)


def _take_steps(departure: Departure, more: Callable[[], bool]) -> bool:
    """Whether all steps are done."""
    member, steps = departure.user, (_end_sessions, *_others.values())
    while departure.step < len(steps):
        departure.progress = steps[departure.step](member.pk, member.username, departure.progress, more)
        departure.step += not departure.progress
        _note(departure)
        if not more() and departure.step < len(steps):
            return False
    return True


def _note(departure: Departure) -> None:
    """Remember how far it is. Another process that is ahead, or has ended it, does no harm."""
    state = {"again": departure.again, "step": departure.step, "progress": departure.progress}
    Departure.objects.filter(pk=departure.pk).update(**state)


@transaction.atomic
def _end(departure: Departure) -> bool:
    """Take the name off the account itself; whether that was not done yet."""
    member = User.objects.select_for_update().get(pk=departure.pk)
    if names.is_valid(member.username):
        member.canonical_name = names.of_former(member.canonical_name)
        member.username = names.instead_of(member.pk)
        member.save(update_fields=["username", "canonical_name"])
        kind = ContentType.objects.get_for_model(User)
        told = LogEntry.objects.filter(content_type=kind, object_id=str(member.pk))
        told.update(object_repr=member.username)
    ended, _ = Departure.objects.filter(pk=departure.pk).delete()
    return bool(ended)


def _end_sessions(user_id: int, _name: str, progress: str, more: Callable[[], bool]) -> str:
    """Delete the member's sessions, which open nothing any more. Only their content says whose they are."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    while True:
        batch = list(Session.objects.filter(pk__gt=progress).order_by("pk")[:_SESSIONS_PER_BATCH])
        for session in batch:
            if session.get_decoded().get("_auth_user_id") == str(user_id):
                store(session.session_key).delete()
        if len(batch) < _SESSIONS_PER_BATCH:
            return ""
        progress = batch[-1].session_key
        if not more():
            return progress
