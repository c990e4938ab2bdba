"""Bans of members, with an entry in the moderation log, and appeals: the members write, and moderators answer."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, pgettext, pgettext_lazy
from django.views.decorators.cache import never_cache
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.models import BAN_SCOPES, BanScope, User
from accounts.models import Ban as BanRow
from accounts.moderators import BAN_MEMBERS
from accounts.web import unsent_form
from accounts.web.form_pages import MemberRequest, form_action, members_only, page_with_form
from articles.api import schemas
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import MODERATORS, router
from articles.domain.moderation_log import Action, Actor
from articles.forms.fields import CleanedField, LineInput, RadioButtons, TextInput, day_choices, reason_field
from articles.text.lines import APPEAL_LIMIT, REASON_LIMIT, clean_appeal, clean_reason
from articles.web.identity import actor, needs
from articles.wiring import group_title, repository
from moderation.rights import acting, check_ban_reversible, check_group_target, check_not_own
from moderation.subjects import MOST_DAYS, member_for


def ban_lengths() -> list[tuple[int, str]]:
    """Return the numbers of days for which moderators can ban, with their labels."""
    return [*day_choices(), (0, pgettext("ban", "Without end"))]


class BanForm(forms.Form):
    """What to ban a member from, for how long, and why."""

    scope = forms.ChoiceField(
        choices=[(scope.value, label) for scope, label in BAN_SCOPES.items()],
        label=gettext_lazy("Ban from"),
        widget=RadioButtons,
    )
    days = forms.TypedChoiceField(
        coerce=int,
        choices=ban_lengths,
        initial=7,
        label=pgettext_lazy("ban", "Duration"),
    )
    reason = reason_field()


class AppealForm(forms.Form):
    """What a banned member writes to the moderators about one of several bans."""

    ban = forms.TypedChoiceField(coerce=int, label=gettext_lazy("Which ban"), widget=RadioButtons)
    text = CleanedField(
        clean_appeal,
        label=gettext_lazy("Your appeal"),
        help_text=gettext_lazy("Only moderators can read it. You can send one appeal for each ban."),
        widget=TextInput(APPEAL_LIMIT, {"rows": 6, "dir": "auto"}),
    )

    def __init__(self, bans: Sequence[BanRow], data: QueryDict | None = None) -> None:
        super().__init__(data)
        choice = cast(forms.TypedChoiceField, self.fields["ban"])
        choice.choices = [(ban.pk, _label_of(ban)) for ban in bans]
        if len(bans) == 1:
            choice.initial, choice.disabled, choice.widget = bans[0].pk, True, forms.HiddenInput()


def _label_of(ban: BanRow) -> str:
    """Return what a ban forbids."""
    if ban.group:
        return _("Posting and commenting in the group “%(group)s”") % {"group": group_title(ban.group)}
    return str(BAN_SCOPES[BanScope(ban.scope)])


class AnswerForm(forms.Form):
    """A moderator's answer to an appeal."""

    LIFT, KEEP = "lift", "keep"

    decision = forms.ChoiceField(choices=[(one, one) for one in (LIFT, KEEP)])
    answer = CleanedField(clean_reason, label=gettext_lazy("Answer"), widget=LineInput(REASON_LIMIT))


def ban(
    member: User, scope: BanScope, reason: str, *, days: int, moderator: Actor, group: str = ""
) -> BanRow | None:
    """Ban a member and log it; return None if the same ban has just begun. Raises StoreError; then none begins.

    `days`: 0 for a ban without end; `group`: the slug, for a ban from a group. Raises OwnMatter, FellowModerator,
    DecidedForSite.
    """
    check_group_target(member, group, moderator)
    if group and (before := member.bans.from_groups([group])):
        check_ban_reversible(before, moderator)
    ends_at = timezone.now() + timedelta(days=days) if days else None
    with transaction.atomic():
        begun = BanRow.objects.begin(
            member, scope, reason, ends_at=ends_at, moderator_id=moderator.id, group=group
        )
        if begun:
            details = _scope_of(begun) | ({"days": str(days)} if days else {})
            _log(Action.BAN, moderator, member, reason, details)
            if not group:
                repository().suggestions.withdraw(member.pk)
    return begun


def lift_ban(ban: BanRow, reason: str, moderator: Actor, *, after_appeal: bool = False) -> bool:
    """End a ban and log it; return whether it was current. Raises StoreError; then the ban remains.

    After an appeal there is no reason: the answer to it is not public. Raises OwnMatter, DecidedForSite.
    """
    check_not_own(ban.member_id, moderator.id)
    check_ban_reversible(ban, moderator)
    with transaction.atomic():
        is_lifted = BanRow.objects.lift(ban)
        if is_lifted:
            appeal = {"appeal": "accepted"} if after_appeal else {}
            _log(Action.LIFT_BAN, moderator, ban.member, reason, _scope_of(ban) | appeal)
    return is_lifted


def _scope_of(ban: BanRow) -> dict[str, str]:
    return {"scope": ban.scope} | ({"slug": ban.group} if ban.group else {})


def _log(action: Action, moderator: Actor, member: User, reason: str, details: dict[str, str]) -> None:
    repository().moderation_log.note(action, moderator, member.get_username(), reason, details)


@never_cache
@page_with_form
@members_only(carries=["ban", "text"])
def appeal(request: MemberRequest) -> HttpResponse:
    """Show the member's current bans and the last changed one, with appeals and answers; send an appeal, once."""
    bans = BanRow.objects.list_latest(request.user)
    open_bans, appealed = [one for one in bans if one.may_be_appealed], [one for one in bans if one.appealed_at]
    form = AppealForm(open_bans, request.POST or None)
    number = request.POST.get("ban", "")
    is_repeated = number in {str(one.pk) for one in appealed} or bool(appealed and not open_bans)
    if request.method == "POST" and not (open_bans or is_repeated):
        raise PermissionDenied
    if request.method == "POST" and (is_repeated or form.is_valid()):
        if not is_repeated:
            open_ban = BanRow.objects.filter(pk=form.cleaned_data["ban"], appealed_at=None)
            open_ban.update(appeal=form.cleaned_data["text"], appealed_at=timezone.now())
        messages.success(request, _("The moderators have received your appeal. Their answer will appear here."))
        return redirect("articles:appeal")
    unsent_form.refill(request, form)
    context = {
        "bans": [one for one in bans if one.is_current or one == bans[0]],
        "form": form,
        "may_appeal": bool(open_bans),
        "scopes": BAN_SCOPES,
    }
    return render(request, "bans/appeal.html", context, status=400 if form.errors else 200)


@never_cache
@form_action(page="articles:queue", button=gettext_lazy("Answer"))
@needs(BAN_MEMBERS, in_groups=True)
def answer(request: HttpRequest, ban_id: int) -> HttpResponse:
    """Answer an appeal by lifting the ban or keeping it. A form that arrives twice succeeds."""
    rows = BanRow.objects.select_related("member", "moderator")
    form, ban = AnswerForm(request.POST), get_object_or_404(rows, pk=ban_id)
    moderator = acting(request, BAN_MEMBERS, [ban.group] if ban.group else None)
    check_not_own(ban.member_id, moderator.id)
    check_ban_reversible(ban, moderator)
    if not form.is_valid():
        messages.error(request, _("Write an answer first: the member will read it."))
        return redirect("articles:queue")
    text = form.cleaned_data["answer"]
    lifts = form.cleaned_data["decision"] == AnswerForm.LIFT
    with transaction.atomic():
        if BanRow.objects.answer(ban, text) and lifts:
            lift_ban(ban, "", moderator, after_appeal=True)
    ban.refresh_from_db()
    if ban.answer == text and lifts == (ban.lifted_at is not None):
        messages.success(request, _("The answer has been sent."))
    elif ban.answered_at:
        told = _("Another moderator has already answered this appeal: “%(answer)s”")
        messages.error(request, told % {"answer": ban.answer})
    else:
        messages.error(request, _("The ban has ended already, so your answer was not sent."))
    return redirect("articles:queue")


SiteScope = Literal[BanScope.POSTING, BanScope.VOTING, BanScope.BOTH]
"""Scopes of bans from the whole site."""

Scope = PathEx[
    SiteScope,
    P(description=gettext_noop("What the ban forbids."), examples=["posting"]),
]


class BanChange(BaseModel):
    __doc__ = gettext_noop("Whether a member is banned, for how long, and why.")

    banned: bool = Field(strict=True, description=gettext_noop("False lifts the ban."), examples=[True])
    days: int = Field(0, ge=0, le=MOST_DAYS, description=gettext_noop("0 for a ban without end."), examples=[7])
    reason: schemas.PublicReason = Field(examples=["Spam."])


class Ban(BaseModel):
    __doc__ = gettext_noop("A current ban of a member.")

    scope: BanScope = Field(description=gettext_noop("What it forbids."))
    group: str | None = Field(
        description=gettext_noop("The group's name, of a ban from a group; null for others.")
    )
    reason: str
    ends_at: float | None = Field(description=gettext_noop("In Unix seconds; null for a ban without end."))
    appeal: str = Field(description=gettext_noop("What the member wrote to the moderators; empty if nothing."))
    answer: str = Field(description=gettext_noop("What a moderator answered; empty if nothing."))

    @classmethod
    def of(cls, row: BanRow) -> "Ban":
        return cls(
            scope=BanScope(row.scope),
            group=row.group or None,
            reason=row.reason,
            ends_at=row.ends_at.timestamp() if row.ends_at else None,
            appeal=row.appeal,
            answer=row.answer,
        )


class Bans(BaseModel):
    __doc__ = gettext_noop("The current bans of a member, newest first.")

    name: str = Field(description=gettext_noop("The member's name."))
    bans: list[Ban] = Field(description=gettext_noop("At most one for each scope, and for each group."))

    @classmethod
    def of(cls, member: User) -> "Bans":
        return cls(name=member.get_username(), bans=list(map(Ban.of, member.bans.current())))


@router.get(
    "users/{name}/bans",
    summary=gettext_noop("The current bans of a member"),
    description=gettext_noop("Only for members who can ban."),
    auth=MODERATORS,
)
def list_bans(request: HttpRequest, name: MemberName) -> Bans:
    return Bans.of(member_for(request, name, BAN_MEMBERS))


@router.put(
    "users/{name}/bans/{scope}",
    summary=gettext_noop("Ban a member, or lift a ban"),
    description=gettext_noop(
        "Only for members who can ban. A ban replaces the current one with the same scope; others continue. "
        "Repeated within a minute, it changes nothing. Members who can ban cannot be banned."
    ),
    auth=MODERATORS,
)
def change_ban(request: HttpRequest, name: MemberName, scope: Scope, change: BanChange) -> Bans:
    member, reason = member_for(request, name, BAN_MEMBERS), clean_reason(change.reason)
    if change.banned:
        ban(member, scope, reason, days=change.days, moderator=actor(request))
    elif current := member.bans.current().filter(scope=scope.value).first():
        lift_ban(current, reason, actor(request))
    return Bans.of(member)
