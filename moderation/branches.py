"""Acts on a branch of the invitation tree: moderators ban, sweep or leave out a member and everyone below.

The page lists whom it concerns. The form carries a digest of that list, so that an act concerns what the moderator
saw. Each account is treated as if alone, so bans are appealed, and acts undone, one by one. What takes too long
for one request is continued by the next one, or by housekeeping.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.cache import never_cache
from ninja import Status
from pydantic import BaseModel, Field

from accounts.account_deletion import find_deleted
from accounts.models import BAN_SCOPES, Ban, BanScope, BranchAct, Invitation, User
from accounts.moderators import BAN_MEMBERS, PERMISSIONS, REMOVE_ARTICLES
from accounts.web import unsent_form
from accounts.web.form_pages import form_action, page_with_form
from accounts.web.unsent_form import RESUBMISSION_WINDOW
from articles.api import schemas
from articles.api.protocol.operations import MODERATORS, failing, require, router
from articles.api.protocol.problems import Problem
from articles.domain.errors import BranchChanged, BranchTooLarge, FellowModerator, OwnMatter
from articles.domain.members import DELETED_NAME, UserId
from articles.domain.moderation_log import Action, Actor
from articles.formatting.values import grouped
from articles.forms.fields import day_choices, reason_field
from articles.text.lines import clean_reason
from articles.text.refusals import action_sentence
from articles.web.identity import actor, needs
from articles.wiring import repository
from moderation.bans import SiteScope, ban, ban_lengths
from moderation.invitations import place_address, place_named
from moderation.left_out import set_left_out
from moderation.rights import have_any, may, may_see_inviters
from moderation.statements import FIELDS, NO_GROUNDS, GivenGrounds, Grounds, GroundsForm
from moderation.subjects import MOST_DAYS, SubjectName, take, tell
from moderation.sweeps import begin as begin_sweep
from moderation.sweeps import remove

MOST_ACCOUNTS = 5000
"""Accounts of a branch that one act can concern."""

_KEPT = timedelta(days=1)
"""Time for which a finished act is kept."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a branch. An exempt one is a moderator, whom no act on a branch concerns."""

    member: User
    is_exempt: bool
    is_banned: bool

    @property
    def is_concerned(self) -> bool:
        return not self.is_exempt and self.member.left_at is None


@dataclass(frozen=True)
class Branch:
    """A member and everyone below."""

    root: User
    accounts: list[Account]

    @cached_property
    def concerned(self) -> list[Account]:
        return [one for one in self.accounts if one.is_concerned]

    @cached_property
    def deleted(self) -> int:
        return sum(one.member.left_at is not None for one in self.accounts)

    @cached_property
    def version(self) -> str:
        """A digest of whom an act concerns, by which a form or a program says what it has seen."""
        seen = ",".join(f"{one.member.pk}{'+' if one.is_concerned else '-'}" for one in self.accounts)
        return sha256(seen.encode()).hexdigest()[:16]


def read(root: User, moderator: UserId) -> Branch:
    """Return the branch below a member. Three queries, linear. Raises BranchTooLarge."""
    edges = Invitation.objects.list_below([root.pk], MOST_ACCOUNTS)
    if len(edges) >= MOST_ACCOUNTS:
        raise BranchTooLarge
    ids = [root.pk, *(invited for _inviter, invited in edges)]
    members, now = User.objects.in_bulk(ids), timezone.now()
    exempt = {moderator, *User.objects.filter(have_any(*PERMISSIONS), pk__in=ids).values_list("pk", flat=True)}
    accounts = [
        Account(
            member := members[pk],
            is_exempt=pk in exempt or member.is_staff,
            is_banned=bool(member.banned_from) and (member.ban_ends_at is None or member.ban_ends_at > now),
        )
        for pk in ids
    ]
    return Branch(root, accounts)


@dataclass(frozen=True, slots=True)
class Acts:
    """What is done to each account of a branch, and why."""

    ban: str
    """The scope; "" for no ban."""

    ban_days: int
    sweep_days: int
    leaves_out: bool
    reason: str
    grounds: Grounds = NO_GROUNDS

    @property
    def needed(self) -> set[str]:
        """The permissions that the acts need, one by one."""
        bans = {BAN_MEMBERS} if self.ban or self.leaves_out else set()
        return bans | ({REMOVE_ARTICLES} if self.sweep_days else set())


def begin(root: User, acts: Acts, version: str, moderator: Actor) -> BranchAct:
    """Begin the acts and log it; or return those that the same request began.

    Raises BranchChanged if the branch is not what the moderator saw, BranchTooLarge, StoreError.
    """
    fields = {name: getattr(acts, name) for name in ("ban", "ban_days", "sweep_days", "leaves_out", "reason")}
    fields |= {name: getattr(acts.grounds, name) for name in FIELDS}
    with transaction.atomic():
        User.objects.select_for_update().get(pk=root.pk)
        same = BranchAct.objects.filter(root=root, moderator=moderator.id, **fields)
        recent = same.filter(begun_at__gte=timezone.now() - RESUBMISSION_WINDOW)
        if found := same.filter(finished_at=None).first() or recent.first():
            return found
        branch = read(root, moderator.id)
        if branch.version != version or not branch.concerned:
            raise BranchChanged
        # A deleted account is concerned while moderators can still see what it posted.
        ids = [str(one.member.pk) for one in branch.accounts if not one.is_exempt]
        begun = BranchAct.objects.create(root=root, moderator_id=moderator.id, accounts=",".join(ids), **fields)
        name = root.get_username() if root.left_at is None else DELETED_NAME
        details = {"accounts": str(len(branch.concerned))}
        repository().moderation_log.note(Action.ACT_ON_BRANCH, moderator, name, acts.reason, details)
    return begun


def go_on(act: BranchAct, seconds: float | None = None) -> int:
    """Treat accounts for as long as time allows; return how many. Idempotent. Raises StoreError."""
    before = act.done
    if act.finished_at is None and take(_steps(act), seconds=seconds) and act.done == act.total:
        act.finished_at = timezone.now()
        BranchAct.objects.filter(pk=act.pk).update(finished_at=act.finished_at)
    return act.done - before


def _steps(act: BranchAct) -> Iterator[None]:
    """Treat an account at each step; end early at one that has to be continued."""
    moderator = Actor(act.moderator_id, act.moderator.get_username())
    for number, pk in enumerate(act.ids[act.done :], act.done + 1):
        if not _treat(act, User.objects.get(pk=pk), moderator):
            return
        act.done = number
        BranchAct.objects.filter(pk=act.pk, done__lt=number).update(done=number)
        yield


def _treat(act: BranchAct, member: User, moderator: Actor) -> bool:
    """Take the acts on one account; return whether they are complete. One that is a moderator now is exempt."""
    with suppress(OwnMatter, FellowModerator):
        if member.left_at is None:
            if act.ban and may(act.moderator, BAN_MEMBERS):
                _ban(act, member, moderator)
            if act.leaves_out and may(act.moderator, BAN_MEMBERS):
                set_left_out(member, act.reason, moderator, _grounds(act), left_out=True)
                if not repository().left_out.get_state(member.pk).is_settled:
                    return False
        is_known = member.left_at is None or find_deleted(member.pk) is not None
        if act.sweep_days and is_known and may(act.moderator, REMOVE_ARTICLES):
            return _sweep(act, member, moderator)
    return True


def _grounds(act: BranchAct) -> Grounds:
    return Grounds(act.ground, act.cited, act.facts)


def _ban(act: BranchAct, member: User, moderator: Actor) -> None:
    """Ban a member, unless a ban forbids as much for as long, or this act did it before, even if it was lifted."""
    scope, ends_at = BanScope(act.ban), act.begun_at + timedelta(days=act.ban_days) if act.ban_days else None
    own = member.bans.filter(begins_at__gte=act.begun_at, scope=act.ban, reason=act.reason)
    if Ban.objects.is_needed(member, scope, ends_at) and not own.exists():
        days, grounds = act.ban_days, _grounds(act)
        ban(member, scope, act.reason, days=days, moderator=moderator, grounds=grounds)


def _sweep(act: BranchAct, member: User, moderator: Actor) -> bool:
    """Sweep what a member posted, or continue; return whether that is complete."""
    own = member.sweeps.filter(begun_at__gte=act.begun_at, reason=act.reason).first()
    sweep = own or begin_sweep(member, act.sweep_days, act.reason, moderator, _grounds(act))
    return sweep.is_complete or sweep.restored_at is not None or remove(sweep, moderator).is_complete


def continue_all(budget: float) -> int:
    """Continue the oldest acts, and drop those that ended a day ago; return how many accounts were treated."""
    BranchAct.objects.filter(finished_at__lt=timezone.now() - _KEPT).delete()
    first = BranchAct.objects.filter(finished_at=None).select_related("moderator").order_by("begun_at").first()
    return go_on(first, budget) if first else 0


class BranchForm(GroundsForm):
    """What to do to each account of a branch, and why. `version`: of the branch that the page showed."""

    ban = forms.ChoiceField(
        choices=[("", pgettext_lazy("ban", "No ban")), *((one.value, label) for one, label in BAN_SCOPES.items())],
        required=False,
        label=gettext_lazy("Ban from"),
    )
    ban_days = forms.TypedChoiceField(
        coerce=int, choices=ban_lengths, initial=7, label=pgettext_lazy("ban", "Duration")
    )
    sweep_days = forms.TypedChoiceField(
        coerce=int,
        choices=lambda: [(0, pgettext_lazy("sweep", "Remove nothing")), *day_choices()],
        initial=0,
        label=gettext_lazy("Remove articles and comments posted within the last"),
    )
    leaves_out = forms.BooleanField(required=False, label=gettext_lazy("Exclude votes from ranking"))
    reason = reason_field()
    version = forms.CharField(max_length=16, required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, user: Any) -> None:
        """`user`: the moderator, who gets the fields of acts that they may take."""
        super().__init__(data)
        if not may(user, BAN_MEMBERS):
            del self.fields["ban"], self.fields["ban_days"], self.fields["leaves_out"]
        if not may(user, REMOVE_ARTICLES):
            del self.fields["sweep_days"]

    def clean(self) -> None:
        if not (self.errors or self.acts.needed):
            raise ValidationError(_("Choose what to do to these accounts."), code="nothing")

    @property
    def acts(self) -> Acts:
        """The acts of a valid form."""
        given = self.cleaned_data
        return Acts(
            given.get("ban", ""),
            given.get("ban_days", 0) if given.get("ban") else 0,
            given.get("sweep_days", 0),
            given.get("leaves_out", False),
            given.get("reason", ""),
            self.grounds,
        )


def _root(request: HttpRequest, name: str) -> User:
    """Return the member at the root of a branch. Raises Http404, also if the tree is not shown."""
    if not may_see_inviters(request):
        raise Http404("the invitation tree is not shown")
    return place_named(name)


@never_cache
@page_with_form
@needs(BAN_MEMBERS, REMOVE_ARTICLES, carries=["ban", "ban_days", "sweep_days", "leaves_out", "reason", *FIELDS])
def index(request: HttpRequest, name: str) -> HttpResponse:
    """Show whom acts on a branch concern, and take them. A form that arrives twice continues the first."""
    root, moderator = _root(request, name), actor(request)
    form = BranchForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            return _go_on(request, root, begin(root, form.acts, form.cleaned_data["version"], moderator))
        except (BranchChanged, BranchTooLarge) as refused:
            form.add_error(None, action_sentence(refused))
    unsent_form.refill(request, form)
    try:
        branch, too_large = read(root, moderator.id), ""
    except BranchTooLarge as refused:
        branch, too_large = None, action_sentence(refused)
    context = {
        "root": root,
        "address": place_address(root),
        "branch": branch,
        "too_large": too_large,
        "form": form,
        "acts": root.branch_acts.select_related("moderator"),
    }
    return render(request, "moderation/branch.html", context, status=400 if form.errors else 200)


def _page_of(_request: HttpRequest, name: str, **_address: Any) -> str:
    return reverse("articles:moderate_branch", args=[name])


@never_cache
@form_action(page=_page_of, button=gettext_lazy("Continue"))
@needs(BAN_MEMBERS, REMOVE_ARTICLES)
def continue_by_form(request: HttpRequest, name: str, act_id: int) -> HttpResponse:
    """Continue acts that took too long for one request, or were interrupted."""
    root = _root(request, name)
    return _go_on(request, root, get_object_or_404(root.branch_acts.select_related("moderator"), pk=act_id))


def _go_on(request: HttpRequest, root: User, act: BranchAct) -> HttpResponse:
    go_on(act)
    sentence = _("%(done)s of %(total)s accounts are done.")
    done = sentence % {"done": grouped(act.done), "total": grouped(act.total)}
    tell(request, done, is_complete=act.finished_at is not None)
    return redirect(_page_of(request, place_address(root)))


class BranchAccount(BaseModel):
    """An account of a branch of the invitation tree."""

    name: str = Field(description="Empty if the account is deleted.")
    exempt: bool = Field(description="True for moderators, whom no act on a branch concerns.")
    banned: bool


class BranchOfTree(BaseModel):
    """A member, and everyone below in the invitation tree."""

    version: str = Field(description="Send it back to act on what you have seen.")
    concerned: int = Field(description="How many accounts an act concerns.")
    accounts: list[BranchAccount] = Field(description="At most 5,000, level by level.")


class BranchActs(GivenGrounds):
    """What to do to each account of a branch, and why."""

    version: str = Field(description="Of the branch, as you have read it.", examples=["4f2a"])
    ban: SiteScope | None = Field(None, description="null for no ban.", examples=["posting"])
    ban_days: int = Field(0, ge=0, le=MOST_DAYS, description="0 for a ban without end.", examples=[7])
    sweep_days: int = Field(
        0,
        ge=0,
        le=MOST_DAYS,
        description="Removes the articles and comments of these last days; 0 for none.",
        examples=[7],
    )
    left_out: bool = Field(False, description="True excludes votes from ranking.", examples=[False])
    reason: schemas.PublicReason = Field(examples=["A voting ring."])


class BranchProgress(BaseModel):
    """How far acts on a branch are."""

    total: int
    done: int
    complete: bool = Field(
        description="False if accounts are left: repeat the request, or wait for the site to go on."
    )


@router.get(
    "users/{name}/branch",
    summary="The branch of the invitation tree below a member",
    description="Moderators only. Not found where the invitation tree is not shown to them.",
    auth=MODERATORS,
)
def read_branch(request: HttpRequest, name: SubjectName) -> BranchOfTree:
    require(request, BAN_MEMBERS, REMOVE_ARTICLES)
    branch = read(_root(request, name), actor(request).id)
    accounts = [
        BranchAccount(
            name=one.member.get_username() if one.member.left_at is None else "",
            exempt=one.is_exempt,
            banned=one.is_banned,
        )
        for one in branch.accounts
    ]
    return BranchOfTree(version=branch.version, concerned=len(branch.concerned), accounts=accounts)


@router.post(
    "users/{name}/branch",
    summary="Ban, sweep or leave out a branch of the invitation tree",
    description=(
        "Moderators only, each act with its permission. Refused if the branch is not what you have read. Sent "
        "again, it continues; each account is then appealed and undone singly."
    ),
    response=failing(409),
    auth=MODERATORS,
)
def act_on_branch(request: HttpRequest, name: SubjectName, wanted: BranchActs) -> Status[BranchProgress]:
    require(request, BAN_MEMBERS, REMOVE_ARTICLES)
    scope, days = (wanted.ban.value, wanted.ban_days) if wanted.ban else ("", 0)
    acts = Acts(scope, days, wanted.sweep_days, wanted.left_out, clean_reason(wanted.reason), wanted.grounds)
    if not acts.needed:
        raise Problem(400, "invalid", _("Choose what to do to these accounts."))
    if not all(may(request.user, one) for one in acts.needed):
        raise PermissionDenied(*acts.needed)
    act = begin(_root(request, name), acts, wanted.version, actor(request))
    go_on(act)
    return Status(201, BranchProgress(total=act.total, done=act.done, complete=act.finished_at is not None))
