"""List a member's bans, ban members, and lift their bans."""

from typing import Literal

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.models import BanScope, User
from accounts.moderators import BAN_MEMBERS
from articles.api.moderation.members import MOST_DAYS, member_for
from articles.api.my_lists import MemberName
from articles.api.protocol.auth import MODERATORS
from articles.api.protocol.operations import router
from articles.text.lines import clean_reason
from articles.web.identity import actor
from articles.web.moderation.bans import ban, lift_ban

Scope = PathEx[
    Literal[BanScope.POSTING, BanScope.VOTING, BanScope.BOTH],
    P(description=gettext_noop("What the ban forbids."), examples=["posting"]),
]


class BanChange(BaseModel):
    __doc__ = gettext_noop("Whether a member is banned, for how long, and why.")

    banned: bool = Field(strict=True, description=gettext_noop("False lifts the ban."), examples=[True])
    days: int = Field(0, ge=0, le=MOST_DAYS, description=gettext_noop("0 for a ban without end."), examples=[7])
    reason: str = Field(
        description=gettext_noop("Everyone can read it in the moderation log."), examples=["Spam."]
    )


class Ban(BaseModel):
    __doc__ = gettext_noop("A current ban of a member.")

    scope: BanScope = Field(description=gettext_noop("What it forbids."))
    reason: str
    ends_at: float | None = Field(description=gettext_noop("In Unix seconds; null for a ban without end."))
    appeal: str = Field(description=gettext_noop("What the member wrote to the moderators; empty if nothing."))
    answer: str = Field(description=gettext_noop("What a moderator answered; empty if nothing."))


class Bans(BaseModel):
    __doc__ = gettext_noop("The current bans of a member, newest first.")

    name: str = Field(description=gettext_noop("The member's name."))
    bans: list[Ban] = Field(description=gettext_noop("At most one for each scope."))

    @classmethod
    def of(cls, member: User) -> "Bans":
        bans = [
            Ban(
                scope=BanScope(one.scope),
                reason=one.reason,
                ends_at=one.ends_at.timestamp() if one.ends_at else None,
                appeal=one.appeal,
                answer=one.answer,
            )
            for one in member.bans.current()
        ]
        return cls(name=member.get_username(), bans=bans)


@router.get(
    "users/{name}/bans",
    summary=gettext_noop("The current bans of a member"),
    description=gettext_noop("Only for members who can ban."),
    response=Bans,
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
    response=Bans,
    auth=MODERATORS,
)
def change_ban(request: HttpRequest, name: MemberName, scope: Scope, change: BanChange) -> Bans:
    member, reason = member_for(request, name, BAN_MEMBERS), clean_reason(change.reason)
    if change.banned:
        ban(member, scope, reason, days=change.days, moderator=actor(request))
    elif current := member.bans.current().filter(scope=scope.value).first():
        lift_ban(current, reason, actor(request))
    return Bans.of(member)
