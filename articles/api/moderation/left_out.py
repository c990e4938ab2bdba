"""Leave a member's votes out of ranking, and count them again."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from pydantic import BaseModel, Field

from accounts.models import User
from accounts.moderators import BAN_MEMBERS
from articles.api.moderation.members import member_for
from articles.api.my_lists import MemberName
from articles.api.protocol.auth import MODERATORS
from articles.api.protocol.operations import router
from articles.text.lines import clean_reason
from articles.web.identity import actor
from articles.web.moderation.bans import set_left_out
from articles.wiring import repository


class LeavingOut(BaseModel):
    __doc__ = gettext_noop("Whether to leave a member's votes out of ranking, and why.")

    left_out: bool = Field(strict=True, description=gettext_noop("False counts them again."), examples=[True])
    reason: str = Field(
        description=gettext_noop("Everyone can read it in the moderation log."), examples=["A voting ring."]
    )


class LeftOut(BaseModel):
    __doc__ = gettext_noop("Whether a member's votes are left out of ranking.")

    name: str
    left_out: bool
    complete: bool = Field(
        description=gettext_noop("False if some articles are not reranked yet: repeat the request to continue.")
    )

    @classmethod
    def of(cls, member: User) -> "LeftOut":
        state = repository().left_out.get_state(member.pk)
        return cls(name=member.get_username(), left_out=state.is_left_out, complete=state.is_settled)


@router.get(
    "users/{name}/left-out",
    summary=gettext_noop("Whether a member's votes are left out of ranking"),
    description=gettext_noop("Only for members who can ban."),
    response=LeftOut,
    auth=MODERATORS,
)
def read_left_out(request: HttpRequest, name: MemberName) -> LeftOut:
    return LeftOut.of(member_for(request, name, BAN_MEMBERS))


@router.put(
    "users/{name}/left-out",
    summary=gettext_noop("Leave a member's votes out of ranking, or count them again"),
    description=gettext_noop(
        "Only for members who can ban. Concerns all votes on articles and comments still open for voting, and all "
        "later ones; the counts that readers see do not change. Idempotent."
    ),
    response=LeftOut,
    auth=MODERATORS,
)
def leave_votes_out(request: HttpRequest, name: MemberName, wanted: LeavingOut) -> LeftOut:
    member = member_for(request, name, BAN_MEMBERS)
    set_left_out(member, clean_reason(wanted.reason), actor(request), left_out=wanted.left_out)
    return LeftOut.of(member)
