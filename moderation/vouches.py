"""Probation: a new member's votes wait until the member is no longer new, or vouched for; and the vouches.

Members in good standing vouch for newcomers, a few in 30 days. Their next vouches weigh less for a year if
moderators ban such a newcomer, or leave the newcomer's votes out of ranking.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, ngettext, pgettext_lazy
from pydantic import BaseModel, Field

from accounts.models import ENOUGH, Ban, BanScope, User, Vouch, VouchLimitError
from accounts.web.form_pages import MemberRequest, members_only, page_named, private_act
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import AUTHORS, MEMBERS, failing, router
from articles.configuration.choices import chosen
from articles.domain.errors import MayNotVouch, NotOnProbation, VouchesFull
from articles.domain.members import UserId
from articles.repository import Repository
from articles.web.form_answers import telling
from articles.web.identity import is_trusted, member_named
from articles.web.wiring import repository
from moderation.subjects import take

_LOOKED_AT = 1000  # members on probation at whom one run of housekeeping looks


def end_probations(repository: Repository, budget: float) -> int:
    """End probations that are over, for about `budget` seconds; return how many.

    Members who are no longer new, or vouched for, pass. The votes of those who were banned from voting meanwhile,
    or deleted their account, never count. Of very many members, it looks at others each time. Idempotent; can be
    interrupted anywhere. Raises StoreError, DatabaseError.
    """
    deadline, ended = time.monotonic() + budget, 0
    waiting = repository.left_out.list_on_probation(_LOOKED_AT)
    members = User.objects.filter(left_at=None).in_bulk(waiting)
    bans, weights = _bans_of(members), Vouch.objects.weigh(members)
    for number, is_open in waiting.items():
        end = _end(repository, number, members.get(number), bans.get(number), weights.get(number, 0))
        begun: Iterable[int] = repository.left_out.go_on(number) if is_open else ()
        if not take(chain(begun, end or ()), seconds=deadline - time.monotonic()):
            break
        ended += end is not None
    return ended


def _bans_of(members: Iterable[UserId]) -> Mapping[UserId, Ban]:
    """Return a ban from voting of each of these members who has had one that was not lifted. At most one query."""
    scopes = (BanScope.VOTING.value, BanScope.BOTH.value)
    bans = Ban.objects.filter(member__in=list(members), scope__in=scopes, lifted_at=None)
    return {ban.member_id: ban for ban in bans.select_related("moderator")}


def _end(
    repository: Repository, number: UserId, member: User | None, ban: Ban | None, weight: int
) -> Iterator[int] | None:
    """Return the steps that end a member's probation; None if it is not over."""
    left_out = repository.left_out
    if member is None:
        return left_out.fail_probation(number)
    if ban is not None:
        moderator = ban.moderator.get_username() if ban.moderator else ""
        return left_out.fail_probation(number, member.get_username(), moderator, ban.reason)
    if not chosen.PROBATION or weight >= ENOUGH or is_trusted(member):
        return left_out.end_probation(number)
    return None


def vouch(by: Any, member: User) -> Vouch:
    """Let a member vouch for one on probation; housekeeping ends it. Idempotent.

    Two round trips. Raises MayNotVouch, NotOnProbation, VouchesFull; Http404 where no one can vouch.
    """
    if not (chosen.PROBATION and chosen.VOUCHES):
        raise Http404("no one can vouch")
    if given := Vouch.objects.filter(by=by, member=member).first():
        return given
    left_out = repository().left_out
    state = left_out.get_state(by.pk)
    if by.find_ban(BanScope.POSTING) or by.find_ban(BanScope.VOTING) or state.is_left_out or not is_trusted(by):
        raise MayNotVouch(by.pk)
    if by.pk == member.pk or not Vouch.objects.weight_of(by):
        raise MayNotVouch(by.pk)
    if not left_out.get_state(member.pk).waits or member.is_banned_from(BanScope.VOTING):
        raise NotOnProbation(member.pk)
    try:
        return Vouch.objects.give(by, member)
    except VouchLimitError:
        raise VouchesFull(by.pk) from None


@private_act(
    members_only(), page=page_named("articles:profile", "name"), button=pgettext_lazy("for a member", "Vouch")
)
def vouch_by_form(request: MemberRequest, name: str) -> HttpResponse:
    """Vouch for a newcomer. A form that arrives twice succeeds."""
    member: User = member_named(name)
    with telling(request):
        vouch(request.user, member)
        messages.success(request, _told(request.user, member))
    return redirect("articles:profile", member.get_username())


def _told(by: User, member: User) -> str:
    """Return what follows from a vouch, and how many are left."""
    if Vouch.objects.weigh([member.pk])[member.pk] >= ENOUGH:
        sentence = _("You vouched for %(name)s: their votes affect ranking in about a minute.")
    else:
        sentence = _("You vouched for %(name)s. Your vouch weighs half, so another one is needed.")
    left = Vouch.objects.left(by)
    more = ngettext(
        "You can vouch for %(num)s more member now.", "You can vouch for %(num)s more members now.", left
    )
    return f"{sentence % {'name': member.get_username()}} {more % {'num': left}}"


class VouchState(BaseModel):
    """Whether a member's votes wait, and whether you vouched for the member."""

    name: str
    waits: bool = Field(description="True while the member is new, and their votes do not affect ranking yet.")
    vouched: bool = Field(description="Whether you vouched.")
    left: int = Field(description="For how many members you can vouch now.")

    @classmethod
    def of(cls, by: User, member: User) -> "VouchState":
        return cls(
            name=member.get_username(),
            waits=repository().left_out.get_state(member.pk).waits,
            vouched=Vouch.objects.filter(by=by, member=member).exists(),
            left=Vouch.objects.left(by),
        )


@router.get("users/{name}/vouch", auth=MEMBERS)
def read_vouch(request: MemberRequest, name: MemberName) -> VouchState:
    """Whether a member's votes wait, and whether you vouched for the member.

    Votes of new members wait only where the site is set so. Who else vouched is not told here.
    """
    return VouchState.of(request.user, member_named(name))


@router.put("users/{name}/vouch", response=failing(409), auth=AUTHORS)
def vouch_for_member(request: MemberRequest, name: MemberName) -> VouchState:
    """Vouch for a new member.

    The member's votes then affect ranking in about a minute. A vouch cannot be taken back, and weighs less for a
    year if moderators banned a member for whom you vouched. Idempotent.
    """
    member: User = member_named(name)
    vouch(request.user, member)
    return VouchState.of(request.user, member)
