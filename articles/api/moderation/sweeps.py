"""Sweeps: remove everything that a member posted recently, continue that, and restore it."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_noop
from ninja import P, PathEx, Status
from pydantic import BaseModel, Field

from accounts.models import Sweep as SweepRow
from accounts.moderators import REMOVE_ARTICLES
from articles.api.moderation.members import MOST_DAYS, SubjectName, subject_for
from articles.api.protocol.auth import MODERATORS
from articles.api.protocol.operations import HIGHEST_NUMBER, router
from articles.text.lines import clean_reason
from articles.web.identity import actor
from articles.web.moderation import sweeps

SweepNumber = PathEx[
    int, P(description=gettext_noop("The number of the sweep."), ge=1, le=HIGHEST_NUMBER, examples=[1])
]


class NewSweep(BaseModel):
    __doc__ = gettext_noop("How much of what a member posted to remove, and why.")

    days: int = Field(
        ge=1,
        le=MOST_DAYS,
        description=gettext_noop("Removes the articles and comments of these last days."),
        examples=[7],
    )
    reason: str = Field(
        description=gettext_noop("Everyone can read it in the moderation log."), examples=["It is all spam."]
    )


class SweepChange(BaseModel):
    __doc__ = gettext_noop("Whether to restore what a sweep removed, and why.")

    restored: bool = Field(
        strict=True, description=gettext_noop("False continues a sweep that is not complete."), examples=[True]
    )
    reason: str = Field(
        "",
        description=gettext_noop("Required to restore. Everyone can read it in the moderation log."),
        examples=["It was the wrong member."],
    )


class Sweep(BaseModel):
    __doc__ = gettext_noop("The removal of everything that a member posted in some days.")

    id: int
    by: str = Field(description=gettext_noop("Name of the moderator; empty if the account is deleted."))
    reason: str
    time: float = Field(description=gettext_noop("When it was begun, in Unix seconds."))
    since: float = Field(description=gettext_noop("What was posted before stays; in Unix seconds."))
    removed: int = Field(description=gettext_noop("Number of articles and comments that it removed."))
    complete: bool = Field(description=gettext_noop("False if something is left to remove: continue the sweep."))
    restored_at: float | None = Field(
        description=gettext_noop("When everything was restored, in Unix seconds; null if it was not.")
    )

    @classmethod
    def of(cls, row: SweepRow) -> "Sweep":
        return cls(
            id=row.pk,
            by=row.moderator_name,
            reason=row.reason,
            time=row.begun_at.timestamp(),
            since=row.since.timestamp(),
            removed=row.removed,
            complete=row.is_complete,
            restored_at=row.restored_at.timestamp() if row.restored_at else None,
        )


class Sweeps(BaseModel):
    __doc__ = gettext_noop("The sweeps of a member, newest first.")

    sweeps: list[Sweep]


@router.get(
    "users/{name}/sweeps",
    summary=gettext_noop("The sweeps of a member"),
    description=gettext_noop("Moderators only."),
    response=Sweeps,
    auth=MODERATORS,
)
def list_sweeps(request: HttpRequest, name: SubjectName) -> Sweeps:
    rows = subject_for(request, name, REMOVE_ARTICLES).sweeps.select_related("moderator")
    return Sweeps(sweeps=[Sweep.of(row) for row in rows])


@router.post(
    "users/{name}/sweeps",
    summary=gettext_noop("Remove everything that a member posted recently"),
    description=gettext_noop(
        "Moderators only. Sent again within a minute, it continues the first sweep. Restoring it restores "
        "everything it removed."
    ),
    response={201: Sweep},
    auth=MODERATORS,
)
def begin_sweep(request: HttpRequest, name: SubjectName, sweep: NewSweep) -> Status[Sweep]:
    member, reason = subject_for(request, name, REMOVE_ARTICLES), clean_reason(sweep.reason)
    row = sweeps.begin(member, sweep.days, reason, actor(request))
    sweeps.remove(row, actor(request))
    return Status(201, _reread(row))


@router.put(
    "users/{name}/sweeps/{sweep_id}",
    summary=gettext_noop("Restore what a sweep removed, or continue the sweep"),
    description=gettext_noop(
        "Moderators only. Repeat the request until restored_at, or complete, says that everything is done. "
        "Idempotent."
    ),
    response=Sweep,
    auth=MODERATORS,
)
def change_sweep(request: HttpRequest, name: SubjectName, sweep_id: SweepNumber, change: SweepChange) -> Sweep:
    row = get_object_or_404(SweepRow, pk=sweep_id, member=subject_for(request, name, REMOVE_ARTICLES))
    if change.restored:
        sweeps.restore(row, clean_reason(change.reason), actor(request))
    elif row.restored_at is None:
        sweeps.remove(row, actor(request))
    return _reread(row)


def _reread(row: SweepRow) -> Sweep:
    return Sweep.of(SweepRow.objects.select_related("moderator").get(pk=row.pk))
