"""Bans of members, with an entry in the moderation log. `moderation.appeals` has their appeals."""

from datetime import timedelta
from typing import Literal

from django import forms
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, pgettext, pgettext_lazy
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.models import BAN_SCOPES, Ban as BanRow, BanScope, Statement, User, Vouch
from accounts.models.law import Act
from accounts.models.moderation import banned
from accounts.moderators import BAN_MEMBERS
from articles.api import schemas
from articles.api.inbox import BanFacts
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import MODERATORS, router
from articles.domain.moderation_log import Action, Actor
from articles.text.lines import clean_reason
from articles.web.forms.fields import RadioButtons, day_choices, reason_field
from articles.web.identity import actor
from articles.web.rights import check_ban_reversible, check_group_target, check_not_own
from articles.web.wiring import group_title, repository
from moderation.statements import NO_GROUNDS, GivenGrounds, Grounds, GroundsForm, state
from moderation.subjects import MOST_DAYS, member_for


def ban_lengths() -> list[tuple[int, str]]:
    """Return the numbers of days for which moderators can ban, with their labels."""
    return [*day_choices(), (0, pgettext("ban", "Without end"))]


class BanForm(GroundsForm):
    """What to ban a member from, for how long, and why."""

    scope = forms.ChoiceField(
        choices=[(scope.value, label) for scope, label in BAN_SCOPES.items()],
        label=gettext_lazy("Ban from"),
        widget=RadioButtons,
    )
    days = forms.TypedChoiceField(
        coerce=int, choices=ban_lengths, initial=7, label=pgettext_lazy("ban", "Duration")
    )
    reason = reason_field()


def label_of(ban: BanRow) -> str:
    """Return what a ban forbids."""
    if ban.group:
        return _("Posting and commenting in the group “%(group)s”") % {"group": group_title(ban.group)}
    return str(BAN_SCOPES[BanScope(ban.scope)])


def ban(
    member: User,
    scope: BanScope,
    reason: str,
    *,
    days: int,
    moderator: Actor,
    group: str = "",
    grounds: Grounds = NO_GROUNDS,
) -> BanRow | None:
    """Ban a member and log it; return None if the same ban has just begun. `days`: 0 for a ban without end.

    Raises StoreError, OwnMatter, FellowModerator, DecidedForSite; then none begins.
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
            state(member.pk, Act.BAN, reason, moderator, grounds, ban=begun)
            if not group:
                Vouch.objects.note(member, is_wrong=True)
                banned.send(User, member=member)
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
            Vouch.objects.note(ban.member, is_wrong=False)
            Statement.objects.note_reversed(Act.BAN, ban=ban)
            appeal = {"appeal": "accepted"} if after_appeal else {}
            _log(Action.LIFT_BAN, moderator, ban.member, reason, _scope_of(ban) | appeal)
    return is_lifted


def _scope_of(ban: BanRow) -> dict[str, str]:
    return {"scope": ban.scope} | ({"slug": ban.group} if ban.group else {})


def _log(action: Action, moderator: Actor, member: User, reason: str, details: dict[str, str]) -> None:
    repository().moderation_log.note(action, moderator, member.get_username(), reason, details)


SiteScope = Literal[BanScope.POSTING, BanScope.VOTING, BanScope.BOTH]  # scopes of bans from the whole site
Scope = PathEx[SiteScope, P(description="What the ban forbids.", examples=["posting"])]


class BanChange(GivenGrounds):
    """Whether a member is banned, for how long, and why."""

    banned: bool = Field(description="False lifts the ban.", examples=[True])
    days: int = Field(0, ge=0, le=MOST_DAYS, description="0 for a ban without end.", examples=[7])
    reason: schemas.PublicReason = Field(examples=["Spam."])


class Ban(BanFacts):
    """A current ban of a member."""


class Bans(BaseModel):
    """The current bans of a member, newest first."""

    name: str = Field(description="The member's name.")
    bans: list[Ban] = Field(description="At most one for each scope, and for each group.")

    @classmethod
    def of(cls, member: User) -> "Bans":
        return cls(name=member.get_username(), bans=list(map(Ban.of, member.bans.current())))


@router.get("users/{name}/bans", auth=MODERATORS)
def list_bans(request: HttpRequest, name: MemberName) -> Bans:
    """The current bans of a member. Only for members who can ban."""
    return Bans.of(member_for(request, name, BAN_MEMBERS))


@router.put("users/{name}/bans/{scope}", auth=MODERATORS)
def change_ban(request: HttpRequest, name: MemberName, scope: Scope, change: BanChange) -> Bans:
    """Ban a member, or lift a ban.

    Only for members who can ban. A ban replaces the current one with the same scope; others continue. Repeated
    within a minute, it changes nothing. Members who can ban cannot be banned.
    """
    member, reason = member_for(request, name, BAN_MEMBERS), clean_reason(change.reason)
    if change.banned:
        ban(member, scope, reason, days=change.days, moderator=actor(request), grounds=change.grounds)
    elif current := member.bans.current().filter(scope=scope.value).first():
        lift_ban(current, reason, actor(request))
    return Bans.of(member)
