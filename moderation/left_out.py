"""Leave a member's votes out of ranking in one act, and count them again in one act."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy
from pydantic import BaseModel, Field

from accounts.models import Statement, User, Vouch
from accounts.models.law import Act
from accounts.moderators import BAN_MEMBERS
from accounts.web.form_pages import private_act, show_next
from articles.api import schemas
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import MODERATORS, router
from articles.domain.moderation_log import Actor
from articles.text.lines import clean_reason
from articles.web.forms.articles import ReasonForm
from articles.web.identity import actor, member_named, needs
from articles.web.rights import check_not_own, check_target
from articles.web.wiring import repository
from moderation.statements import NO_GROUNDS, GivenGrounds, GroundedReasonForm, Grounds, state, what_is_missing
from moderation.subjects import member_for, page_of, take, tell


def set_left_out(
    member: User, reason: str, moderator: Actor, grounds: Grounds = NO_GROUNDS, *, left_out: bool
) -> bool:
    """Exclude a member's votes from ranking, or include them again, for as long as one request may take.

    Returns whether that is complete; the same act, again, continues. Raises OwnMatter, FellowModerator.
    """
    check_not_own(member.pk, moderator.id)
    if left_out:
        check_target(member, BAN_MEMBERS, moderator.id)
    votes = repository().left_out
    decide = votes.leave_out if left_out else votes.count_again
    is_new = left_out and not votes.get_state(member.pk).is_left_out
    is_complete = take(decide(member.pk, member.get_username(), moderator, reason))
    Vouch.objects.note(member, is_wrong=left_out)
    if is_new:
        state(member.pk, Act.VOTES, reason, moderator, grounds)
    elif not left_out:
        Statement.objects.note_reversed(Act.VOTES, member=member)
    return is_complete


@private_act(needs(BAN_MEMBERS), page=page_of, button=gettext_lazy("Exclude votes from ranking"))
def leave_out(request: HttpRequest, name: str) -> HttpResponse:
    """Leave a member's votes out of ranking. A form that arrives twice continues the first."""
    return _decide(request, member_named(name), left_out=True)


@private_act(needs(BAN_MEMBERS), page=page_of, button=gettext_lazy("Include votes in ranking"))
def count_again(request: HttpRequest, name: str) -> HttpResponse:
    """Count a member's votes in ranking again. A form that arrives twice continues the first."""
    return _decide(request, member_named(name), left_out=False)


@private_act(needs(BAN_MEMBERS), page=page_of, button=gettext_lazy("Continue"))
def go_on(request: HttpRequest, name: str) -> HttpResponse:
    """Continue an act that took too long for one request, or was interrupted."""
    member = member_named(name)
    take(repository().left_out.go_on(member.pk))
    return _done(request, member)


def _decide(request: HttpRequest, member: User, *, left_out: bool) -> HttpResponse:
    form = (GroundedReasonForm if left_out else ReasonForm)(request.POST)
    if not form.is_valid():
        return show_next(request, what_is_missing(form), page_of(request, member.get_username()), is_error=True)
    grounds = getattr(form, "grounds", NO_GROUNDS)
    set_left_out(member, form.cleaned_data["reason"], actor(request), grounds, left_out=left_out)
    return _done(request, member)


def _done(request: HttpRequest, member: User) -> HttpResponse:
    """Show what was decided, and whether more remains."""
    state, name = repository().left_out.get_state(member.pk), member.get_username()
    if state.is_left_out:
        sentence = _("The votes of %(name)s are now excluded from ranking.")
    else:
        sentence = _("The votes of %(name)s are included in ranking again.")
    tell(request, sentence % {"name": name}, is_complete=state.is_settled)
    return redirect(page_of(request, name))


class LeavingOut(GivenGrounds):
    """Whether to exclude a member's votes from ranking, and why."""

    left_out: bool = Field(description="False includes them again.", examples=[True])
    reason: schemas.PublicReason = Field(examples=["A voting ring."])


class LeftOut(BaseModel):
    """Whether a member's votes are excluded from ranking."""

    name: str
    left_out: bool
    complete: bool = Field(
        description="False if some articles are not reranked yet: repeat the request to continue."
    )

    @classmethod
    def of(cls, member: User) -> "LeftOut":
        state = repository().left_out.get_state(member.pk)
        return cls(name=member.get_username(), left_out=state.is_left_out, complete=state.is_settled)


@router.get("users/{name}/left-out", auth=MODERATORS)
def read_left_out(request: HttpRequest, name: MemberName) -> LeftOut:
    """Whether a member's votes are excluded from ranking. Only for members who can ban."""
    return LeftOut.of(member_for(request, name, BAN_MEMBERS))


@router.put("users/{name}/left-out", auth=MODERATORS)
def leave_votes_out(request: HttpRequest, name: MemberName, wanted: LeavingOut) -> LeftOut:
    """Exclude a member's votes from ranking, or include them again.

    Only for members who can ban. Concerns all votes on articles and comments still open for voting, and all later
    ones; the counts that readers see do not change. Idempotent.
    """
    member = member_for(request, name, BAN_MEMBERS)
    grounds = wanted.grounds if wanted.left_out else NO_GROUNDS
    set_left_out(member, clean_reason(wanted.reason), actor(request), grounds, left_out=wanted.left_out)
    return LeftOut.of(member)
