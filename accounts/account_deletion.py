"""Delete accounts: at once for every reader, then cleaned up in steps that can be interrupted anywhere.

`begin` marks the account as deleted, in one transaction. Other apps keep data about the member too: they add a
step with `register_step`, which is called until it has no more to do. All steps run twice, the second time after
every request that was in progress at the beginning has ended. Afterwards the account's row keeps its id and a
digest of its name, so that neither can be used by another account.

For `KEPT`, moderators can still treat what the account posted together, by its number: spammers delete themselves.
A last pass then removes the number from it.
"""

import logging
import time
from collections.abc import Callable, Collection
from datetime import timedelta
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import SET_NULL, ManyToOneRel, QuerySet
from django.db.models.signals import post_delete
from django.dispatch import Signal, receiver
from django.utils import timezone

from accounts import names
from accounts.mail import forget_waiting
from accounts.models import (
    AccountDeletion,
    Authenticator,
    Invitation,
    NameLook,
    Statement,
    Sweep,
    User,
    WaitingAccount,
)
from accounts.remembered import forget
from accounts.sign_in.changes import Change, tell_change

Step = Callable[[int, str, str, Callable[[], bool], bool], str]
"""Called with the user id, the name, the progress ('' at first), a function that returns whether time is left, and
whether this is the last pass, which also removes the number. Returns the new progress, '' when the step is
complete. Idempotent."""

deletion_begun = Signal()
"""Sent in the transaction of `begin`, with the account as `member`: receivers delete its rows elsewhere."""

AGAIN_AFTER = timedelta(seconds=60)  # delay before the second pass; longer than any request takes
KEPT = timedelta(days=30)  # time for which moderators can still see, by its number, what a deleted account posted

_KEPT_COLUMNS = frozenset(("id", "username", "canonical_name", "imported", "date_joined", "left_at"))
"""Of the account's row: what keeps id and name from being used again. The others lose what they say."""

_DELETED_ROWS = (
    "tokens", "passkeys", "recovery_codes", "blocks", "blocked_by",
    "mutes", "bans", "group_moderations", "notes", "about_flags", "flags_on_abouts", "held_posts",
    "text_digests", "sessions",  # a step ends the sessions themselves
)  # fmt: skip
"""Relations of the account whose rows go with it."""

_SESSIONS_PER_BATCH = 500  # sessions read by one query, and decoded

_REQUEST_BUDGET_SECONDS = 1.0  # time for the deletion within the member's request; housekeeping does the rest
_log = logging.getLogger(__name__)
_steps: dict[str, Step] = {}


class LastAdministratorError(Exception):
    """The account is the only active administrator of the site."""


def register_step(name: str, step: Step) -> None:
    """Add a step to the deletion of every account. A second step of the same name replaces the first.

    A deletion remembers its steps by name: those that come or go while it runs leave the others as they are.
    """
    _steps[name] = step


@transaction.atomic
def begin(user_id: int) -> None:
    """Mark the account as deleted. Idempotent. Raises LastAdministratorError, User.DoesNotExist."""
    administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True)
    others = [member.pk for member in administrators if member.pk != user_id]
    member = User.objects.select_for_update().get(pk=user_id)
    if member.left_at is not None:
        return
    if member.is_superuser and not others:
        raise LastAdministratorError
    forget_waiting(member)
    member.left_at = timezone.now()
    tell_change(member, Change.DELETED)
    for column in User._meta.concrete_fields:
        if column.attname not in _KEPT_COLUMNS:
            setattr(member, column.attname, column.get_default())
    member.is_active, member.waiting_mail = False, ""
    member.set_unusable_password()
    member.save()
    member.groups.clear()
    member.user_permissions.clear()
    for relation in _DELETED_ROWS:
        getattr(member, relation).all().delete()
    for model in (Authenticator, WaitingAccount):
        model.objects.filter(user=member).delete()
    Statement.objects.forget(member.statements.all())
    member.notices_about.update(address="", member=None)
    Invitation.objects.end_unused(member.pk)
    deletion_begun.send(User, member=member)
    AccountDeletion.objects.create(user=member, begun_at=member.left_at)


@receiver(post_delete, sender=User)
def reserve_id_and_name(instance: User, using: str, **_: Any) -> None:
    """Insert a deleted account in place of a row that was deleted directly, so that its id and name stay taken."""
    row = User(pk=instance.pk, username=instance.username, canonical_name=instance.canonical_name)
    row.imported, row.date_joined, row.is_active = instance.imported, instance.date_joined, False
    row.left_at = instance.left_at or timezone.now()
    row.set_unusable_password()
    User.objects.using(using).bulk_create([row])
    Invitation.objects.db_manager(using).end_unused(row.pk)
    if names.is_valid(row.username) or row.left_at > timezone.now() - KEPT:
        AccountDeletion.objects.using(using).create(user=row, begun_at=row.left_at)


def find_deleted(number: int) -> User | None:
    """Return the account with this number if it was deleted less than `KEPT` ago. One query."""
    since = timezone.now() - KEPT
    return User.objects.filter(pk=number, left_at__gt=since, accountdeletion__isnull=False).first()


def advance_all(budget: float) -> int:
    """Advance all deletions, oldest first, for about `budget` seconds. Return how many are complete.

    A deletion that fails does not delay the others; the last failure is raised at the end.
    """
    deadline, completed, failure = time.monotonic() + budget, 0, None
    deletions, since = AccountDeletion.objects.select_related("user"), timezone.now() - AGAIN_AFTER
    waiting = AccountDeletion.objects.filter(again=False, progress__name="", begun_at__gt=since)
    for deletion in deletions.exclude(pk__in=waiting).order_by("begun_at"):
        try:
            completed += _advance(deletion, lambda: time.monotonic() < deadline)
        except Exception as error:
            _log.exception("the deletion of account %d was interrupted", deletion.pk)
            failure = error
        if time.monotonic() >= deadline:
            break
    if failure:
        raise failure
    return completed


def advance_briefly() -> None:
    """Advance all deletions within a request. Failures and remaining steps are left to housekeeping."""
    try:
        advance_all(_REQUEST_BUDGET_SECONDS)
    except Exception:
        _log.warning("an account is deleted; housekeeping will retry its clean-up")


def _advance(deletion: AccountDeletion, more: Callable[[], bool]) -> bool:
    """Run the passes that are due. Return whether the deletion is complete."""
    while True:
        if not _take_steps(deletion, more):
            return False
        if deletion.again:
            return _finish(deletion)
        if timezone.now() < deletion.begun_at + AGAIN_AFTER:
            return False
        if _is_second(deletion):
            deletion.again = True
        else:
            deletion.begun_at = (deletion.user.left_at or deletion.begun_at) + KEPT - AGAIN_AFTER
        deletion.progress = {}
        _record_progress(deletion)


def _is_second(deletion: AccountDeletion) -> bool:
    """Return whether this is the second pass, which removes the name, and after which the last one waits."""
    return not deletion.again and deletion.begun_at > (deletion.user.left_at or deletion.begun_at)


def _take_steps(deletion: AccountDeletion, more: Callable[[], bool]) -> bool:
    """Run the steps of one pass. Return whether all are complete."""
    member, progress = deletion.user, deletion.progress
    steps = {"sessions": _revoke_sessions} | _steps | ({"name": _remove_name} if _is_second(deletion) else {})
    left = [name for name in steps if progress.get(name) != ""]
    while left:
        name = left[0]
        progress[name] = steps[name](member.pk, member.username, progress.get(name, ""), more, deletion.again)
        left = left[not progress[name] :]
        _record_progress(deletion)
        if left and not more():
            return False
    return True


def _record_progress(deletion: AccountDeletion) -> None:
    """Store the progress. Steps are idempotent, so a process that is behind may overwrite it."""
    progress = {"begun_at": deletion.begun_at, "again": deletion.again, "progress": deletion.progress}
    AccountDeletion.objects.filter(pk=deletion.pk).update(**progress)


@transaction.atomic
def _finish(deletion: AccountDeletion) -> bool:
    """Delete what was kept for moderators. Return False if another process has completed the deletion."""
    _remove_name(deletion.pk)
    Sweep.objects.filter(member=deletion.pk).delete()
    deleted_rows, _ = AccountDeletion.objects.filter(pk=deletion.pk).delete()
    return bool(deleted_rows)


@transaction.atomic
def _remove_name(user_id: int, *_: object) -> str:
    """Remove the name from the account itself."""
    member = User.objects.select_for_update().get(pk=user_id)
    if names.is_valid(member.username):
        member.canonical_name = names.former_name_digest(member.canonical_name)
        member.username = names.deleted_username(member.pk)
        member.save(update_fields=["username", "canonical_name"])
        kind = ContentType.objects.get_for_model(User)
        entries = LogEntry.objects.filter(content_type=kind, object_id=str(member.pk))
        entries.update(object_repr=member.username)
    return ""


def _revoke_sessions(user_id: int, _name: str, progress: str, more: Callable[[], bool], _is_last: bool) -> str:
    """Delete the member's sessions. Only their content names the member, so all sessions are read, in batches."""
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


def delete_without_trace(rows: QuerySet[Any]) -> None:
    """Delete rows, and nothing that refers to them, without the signal that keeps ids and names of accounts."""
    rows._raw_delete(rows.db)


@transaction.atomic
def delete_wholly(ids: Collection[int]) -> None:
    """Delete accounts and all that refers to them, so that their names are free again; no signals.

    Only for accounts that no person has used: nothing keeps their ids from being given out again but the store.
    """
    for relation in User._meta.get_fields(include_hidden=True):
        if isinstance(
            relation, ManyToOneRel
        ):  # one-to-one relations, and those of groups and permissions, included
            rows = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": ids})
            if relation.on_delete is SET_NULL:
                rows.update(**{relation.field.name: None})
            else:
                delete_without_trace(rows)
    delete_without_trace(NameLook.objects.filter(user_id__in=ids))
    delete_without_trace(User._base_manager.filter(pk__in=ids))
    forget(*ids)
