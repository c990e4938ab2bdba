"""Sweeps: moderators remove everything that a member posted recently in one act, and restore it in one act.

Each request takes as many steps as it has time for. The name of a deleted account is `~` and its number: see
`moderation.subjects`.
"""

from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from django import forms
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy
from ninja import P, PathEx, Status
from pydantic import BaseModel, Field

from accounts.models import Statement, Sweep as SweepRow, User
from accounts.models.law import Act
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import private_act, show_next
from accounts.web.sent_forms import RESUBMISSION_WINDOW
from articles.api import schemas
from articles.api.protocol.operations import HIGHEST_NUMBER, MODERATORS, router
from articles.domain.errors import MergeRunning
from articles.domain.moderation_log import Actor
from articles.formatting.values import grouped
from articles.text.lines import clean_reason
from articles.web.forms.fields import day_choices, reason_field
from articles.web.identity import actor, needs
from articles.web.rights import check_not_own, check_target
from articles.web.wiring import repository
from moderation.statements import NO_GROUNDS, GivenGrounds, Grounds, GroundsForm, state, what_is_missing
from moderation.subjects import MOST_DAYS, SubjectName, page_of, reason_in, subject_for, subject_named, take, tell


class SweepForm(GroundsForm):
    """How many days of a member's articles and comments to remove, and why."""

    days = forms.TypedChoiceField(coerce=int, choices=day_choices, label=gettext_lazy("Posted within the last"))
    reason = reason_field()


class Progress(NamedTuple):
    """What a call did."""

    changed: int  # articles and comments that it removed or restored
    is_complete: bool


def begin(member: User, days: int, reason: str, moderator: Actor, grounds: Grounds = NO_GROUNDS) -> SweepRow:
    """Return the sweep that the same request began a moment ago, perhaps concurrently, or a new one.

    `days`: how far back it removes what the member posted. Raises OwnMatter, FellowModerator.
    """
    check_target(member, REMOVE_ARTICLES, moderator.id)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        now, age = timezone.now(), timedelta(days=days)
        since = (now - RESUBMISSION_WINDOW - age, now - age)
        same = SweepRow.objects.filter(member=member, reason=reason, since__range=since, restored_at=None).first()
        if same:
            return same
        begun = SweepRow.objects.create(member=member, moderator_id=moderator.id, reason=reason, since=now - age)
        state(member.pk, Act.SWEEP, reason, moderator, grounds, sweep=begun)
        return begun


def remove(sweep: SweepRow, moderator: Actor) -> Progress:
    """Remove, and count what was removed even if the store fails meanwhile. Raises StoreError, and as `begin`."""
    check_target(sweep.member, REMOVE_ARTICLES, moderator.id)
    done, is_complete = list[bool](), False
    since = sweep.since.timestamp()
    steps = repository().sweeps.remove(sweep.member_id, since, sweep.mark, moderator, sweep.reason)
    try:
        with suppress(MergeRunning):  # then it is continued later
            is_complete = take(steps, done.append)
    finally:
        count = F("removed") + sum(done)
        SweepRow.objects.filter(pk=sweep.pk).update(removed=count, is_complete=is_complete)
    return Progress(sum(done), is_complete)


def restore(sweep: SweepRow, reason: str, moderator: Actor) -> Progress:
    """Restore what a sweep removed. Idempotent. Raises OwnMatter, StoreError."""
    check_not_own(sweep.member_id, moderator.id)
    done, since = list[bool](), sweep.since.timestamp()
    steps = repository().sweeps.restore(sweep.member_id, since, sweep.mark, moderator, reason)
    is_complete = take(steps, done.append)
    if is_complete:
        SweepRow.objects.filter(pk=sweep.pk, restored_at=None).update(restored_at=timezone.now())
        Statement.objects.note_reversed(Act.SWEEP, sweep=sweep)
    return Progress(sum(done), is_complete)


@private_act(needs(REMOVE_ARTICLES), page=page_of, button=gettext_lazy("Remove everything"))
def begin_by_form(request: HttpRequest, name: str) -> HttpResponse:
    """Begin a sweep. A form that arrives twice continues the first."""
    member, form = subject_named(name), SweepForm(request.POST)
    if not form.is_valid():
        return show_next(request, what_is_missing(form), page_of(request, name), is_error=True)
    days, reason = form.cleaned_data["days"], form.cleaned_data["reason"]
    return _remove_by_form(request, name, begin(member, days, reason, actor(request), form.grounds))


@private_act(needs(REMOVE_ARTICLES), page=page_of, button=gettext_lazy("Continue"))
def continue_by_form(request: HttpRequest, name: str, sweep_id: int) -> HttpResponse:
    """Continue a sweep that took too long for one request, or was interrupted."""
    sweep = get_object_or_404(SweepRow, pk=sweep_id, member=subject_named(name), restored_at=None)
    return _remove_by_form(request, name, sweep)


def _remove_by_form(request: HttpRequest, name: str, sweep: SweepRow) -> HttpResponse:
    done = remove(sweep, actor(request))
    tell(request, _("%(num)s removed.") % {"num": grouped(done.changed)}, is_complete=done.is_complete)
    return redirect(page_of(request, name))


@private_act(needs(REMOVE_ARTICLES), page=page_of, button=gettext_lazy("Restore everything"))
def restore_by_form(request: HttpRequest, name: str, sweep_id: int) -> HttpResponse:
    """Restore what a sweep removed. A form that arrives twice succeeds."""
    sweep = get_object_or_404(SweepRow, pk=sweep_id, member=subject_named(name))
    if reason := reason_in(request):
        done = restore(sweep, reason, actor(request))
        tell(request, _("%(num)s restored.") % {"num": grouped(done.changed)}, is_complete=done.is_complete)
    return redirect(page_of(request, name))


SweepNumber = PathEx[int, P(description="The number of the sweep.", ge=1, le=HIGHEST_NUMBER, examples=[1])]


class NewSweep(GivenGrounds):
    """How much of what a member posted to remove, and why."""

    days: int = Field(ge=1, le=MOST_DAYS, examples=[7])
    """Removes the articles and comments of these last days."""

    reason: schemas.PublicReason = Field(examples=["It is all spam."])


class SweepChange(schemas.Model):
    """Whether to restore what a sweep removed, and why."""

    restored: bool = Field(description="False continues a sweep that is not complete.", examples=[True])
    reason: str = Field("", examples=["It was the wrong member."])
    """Required to restore. Everyone can read it in the moderation log."""


class Sweep(BaseModel):
    """The removal of everything that a member posted in some days."""

    id: int
    by: str = Field(description="Name of the moderator; empty if the account is deleted.")
    reason: str
    time: float = Field(description="When it was begun, in Unix seconds.")
    since: float = Field(description="What was posted before stays; in Unix seconds.")
    removed: int = Field(description="Number of articles and comments that it removed.")
    complete: bool = Field(description="False if something is left to remove: continue the sweep.")
    restored_at: float | None = Field(
        description="When everything was restored, in Unix seconds; null if it was not."
    )

    @classmethod
    def of(cls, row: SweepRow) -> "Sweep":
        return schemas.made(
            cls,
            row,
            id=row.pk,
            by=row.moderator_name,
            time=row.begun_at.timestamp(),
            since=row.since.timestamp(),
            complete=row.is_complete,
            restored_at=row.restored_at.timestamp() if row.restored_at else None,
        )


class Sweeps(BaseModel):
    """The sweeps of a member, newest first."""

    sweeps: list[Sweep]


@router.get("users/{name}/sweeps", auth=MODERATORS)
def list_sweeps(request: HttpRequest, name: SubjectName) -> Sweeps:
    """The sweeps of a member. Moderators only."""
    rows = subject_for(request, name, REMOVE_ARTICLES).sweeps.select_related("moderator")
    return Sweeps(sweeps=[Sweep.of(row) for row in rows])


@router.post("users/{name}/sweeps", auth=MODERATORS)
def begin_sweep(request: HttpRequest, name: SubjectName, sweep: NewSweep) -> Status[Sweep]:
    """Remove everything that a member posted recently.

    Moderators only. Sent again within a minute, it continues the first sweep. Restoring it restores everything it
    removed.
    """
    member, reason = subject_for(request, name, REMOVE_ARTICLES), clean_reason(sweep.reason)
    row = begin(member, sweep.days, reason, actor(request), sweep.grounds)
    remove(row, actor(request))
    return Status(201, _reread(row))


@router.put("users/{name}/sweeps/{sweep_id}", auth=MODERATORS)
def change_sweep(request: HttpRequest, name: SubjectName, sweep_id: SweepNumber, change: SweepChange) -> Sweep:
    """Restore what a sweep removed, or continue the sweep.

    Moderators only. Repeat the request until restored_at, or complete, says that everything is done. Idempotent.
    """
    row = get_object_or_404(SweepRow, pk=sweep_id, member=subject_for(request, name, REMOVE_ARTICLES))
    if change.restored:
        restore(row, clean_reason(change.reason), actor(request))
    elif row.restored_at is None:
        remove(row, actor(request))
    return _reread(row)


def _reread(row: SweepRow) -> Sweep:
    return Sweep.of(SweepRow.objects.select_related("moderator").get(pk=row.pk))
