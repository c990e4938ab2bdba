"""Read a member's ban, ban members, and lift their bans."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext_noop
from pydantic import BaseModel, Field

from accounts.models import Ban as BanRow
from accounts.models import BanScope, User
from accounts.moderators import BAN_MEMBERS
from articles.api.moderation.members import MOST_DAYS, member_for
from articles.api.my_lists import MemberName
from articles.api.protocol.auth import MODERATORS
from articles.api.protocol.operations import failing, router
from articles.text.lines import clean_reason
from articles.web.identity import actor
from articles.web.moderation.bans import ban, lift_ban


class NewBan(BaseModel):
    __doc__ = gettext_noop("What to ban a member from, for how long, and why; or that the ban is lifted, and why.")

    scope: BanScope | None = Field(description=gettext_noop("null lifts the ban."), examples=["posting"])
    days: int = Field(0, ge=0, le=MOST_DAYS, description=gettext_noop("0 for a ban without end."), examples=[7])
    reason: str = Field(
        description=gettext_noop("Everyone can read it in the moderation log."), examples=["Spam."]
    )


class Ban(BaseModel):
    __doc__ = gettext_noop("The current ban of a member.")

    name: str = Field(description=gettext_noop("The member's name."))
    scope: BanScope | None = Field(description=gettext_noop("What it forbids; null without a ban."))
    reason: str = Field(description=gettext_noop("Empty without a ban."))
    ends_at: float | None = Field(
        description=gettext_noop("In Unix seconds; null for a ban without end, or without a ban.")
    )
    appeal: str = Field(description=gettext_noop("What the member wrote to the moderators; empty if nothing."))
    answer: str = Field(description=gettext_noop("What a moderator answered; empty if nothing."))

    @classmethod
    def of(cls, member: User) -> "Ban":
        found = BanRow.objects.current(member)
        return cls(
            name=member.get_username(),
            scope=BanScope(found.scope) if found else None,
            reason=found.reason if found else "",
            ends_at=found.ends_at.timestamp() if found and found.ends_at else None,
            appeal=found.appeal if found else "",
            answer=found.answer if found else "",
        )


@router.get(
    "users/{name}/ban",
    summary=gettext_noop("The ban of a member"),
    description=gettext_noop("Only for members who can ban. Its scope is null if the member is not banned."),
    response={200: Ban} | failing(400, 401, 403, 404, 503),
    auth=MODERATORS,
)
def read_ban(request: HttpRequest, name: MemberName) -> Ban:
    return Ban.of(member_for(request, name, BAN_MEMBERS))


@router.put(
    "users/{name}/ban",
    summary=gettext_noop("Ban a member, or lift the ban"),
    description=gettext_noop(
        "Only for members who can ban. A ban replaces the current one; repeated within a minute, it changes "
        "nothing. Members who can ban cannot be banned."
    ),
    response={200: Ban} | failing(400, 401, 403, 404, 413, 415, 503),
    auth=MODERATORS,
)
def ban_member(request: HttpRequest, name: MemberName, wanted: NewBan) -> Ban:
    member, reason = member_for(request, name, BAN_MEMBERS), clean_reason(wanted.reason)
    if wanted.scope is None:
        lift_ban(member, reason, actor(request))
    elif member.has_perm(BAN_MEMBERS):
        raise PermissionDenied
    else:
        ban(member, wanted.scope, reason, days=wanted.days, moderator=actor(request))
    return Ban.of(member)
