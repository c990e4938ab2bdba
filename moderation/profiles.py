"""Flags on what members write about themselves, and moderators' decisions: to keep it, or to remove it."""

from collections.abc import Collection
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy
from ninja import Query
from pydantic import BaseModel, Field

from accounts.models import AboutFlag, User
from accounts.models.law import Act
from accounts.models.moderation import KEPT, OPEN, REMOVED
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import MemberRequest, private_form, show_form, show_next
from articles.api import schemas
from articles.api.my_lists import MemberName
from articles.api.protocol import cursors
from articles.api.protocol.operations import AUTHORS, MODERATORS, failing, require, router
from articles.domain.errors import FlagDecided, FlagsFull, OwnContent
from articles.domain.flags import MOST_FLAGS, FlagReason, FlagState
from articles.domain.moderation_log import Action, Actor
from articles.text.lines import REASON_LIMIT, InvalidInput, clean_reason
from articles.web import limits, profiles
from articles.web.forms.fields import CleanedField, LineInput, needed_sometimes
from articles.web.identity import actor, member_named, needs
from articles.web.rights import check_not_own
from articles.web.wiring import html_of, repository, retract
from moderation.flags import REASONS, FlagForm, NewFlag, change_by_form, flag_page, reasons_for
from moderation.statements import FIELDS, NO_GROUNDS, GivenGrounds, Grounds, GroundsForm, state

MOST_SHOWN = 50  # members with open flags in the queue, those that wait longest


class FlaggedProfile(NamedTuple):
    """A member whose text has open flags."""

    member: User
    flags: list[AboutFlag]
    html: str


def list_flagged(seen: Collection[int] = ()) -> list[FlaggedProfile]:
    """Return members with open flags but those seen, the longest waiting first. Two queries."""
    by_member = groupby(AboutFlag.objects.list_waiting(MOST_SHOWN, seen), key=lambda flag: flag.member)
    found = [FlaggedProfile(member, list(flags), html_of(member.about)) for member, flags in by_member]
    return sorted(found, key=lambda one: one.flags[0].pk)


def flag(request: MemberRequest, member: User, reason: FlagReason, words: str) -> AboutFlag:
    """Flag a profile text, or change that. Raises Http404, OwnContent, LimitReached, FlagDecided, FlagsFull."""
    before = _flag_on(request, member)
    if not profiles.is_about_visible(member, request):
        raise Http404(member)
    if member.pk == request.user.pk:
        raise OwnContent(member.pk)
    if before and before.state != OPEN:
        raise FlagDecided(member.pk)
    if not before and member.about_flags.count() >= MOST_FLAGS:
        raise FlagsFull(member.pk)
    limits.take(request, "flags")
    what = {"reason": reason.value, "words": words}
    return AboutFlag.objects.update_or_create(member=member, flagger=request.user, defaults=what)[0]


def take_back(request: MemberRequest, member: User) -> None:
    """Take back a flag that is still open. Idempotent. Raises FlagDecided."""
    before = _flag_on(request, member)
    if before and before.state != OPEN:
        raise FlagDecided(member.pk)
    AboutFlag.objects.filter(member=member, flagger=request.user, state=OPEN).delete()


def _flag_on(request: MemberRequest, member: User) -> AboutFlag | None:
    return AboutFlag.objects.filter(member=member, flagger=actor(request).id).first()


def keep(member: User, moderator: Actor, reason: str, newest: int | None = None) -> None:
    """Keep the text: decide the open flags up to this one, or all. Idempotent. Raises OwnMatter."""
    check_not_own(member.pk, moderator.id)
    flags = member.about_flags.filter(state=OPEN)
    (flags if newest is None else flags.filter(pk__lte=newest)).update(state=KEPT, kept=reason)


def remove(member: User, moderator: Actor, reason: str, grounds: Grounds = NO_GROUNDS) -> bool:
    """Remove the text, decide its flags and log it; return whether there was one. Idempotent.

    Raises StoreError; then nothing is changed.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=member.pk)
        if not locked.about:
            return False
        User.objects.filter(pk=locked.pk).update(about="", about_removed=reason)
        locked.about_flags.filter(state=OPEN).update(state=REMOVED)
        state(locked.pk, Act.PROFILE, reason, moderator, grounds)
        repository().moderation_log.note(Action.REMOVE_ABOUT, moderator, locked.get_username(), reason)
    retract(())
    return True


@flag_page
def flag_by_form(request: MemberRequest, name: str) -> HttpResponse:
    """Show the form of a flag, or what moderators decided on it; set it or take it back."""
    member: User = member_named(name)
    before, about = _flag_on(request, member), profiles.about(member, request)
    if not (before or about):
        raise Http404(name)
    initial = {"reason": before.reason, "words": before.words} if before else {}
    form = FlagForm(request.POST or None, has_link=False, initial=initial)
    give, take = partial(flag, request, member), partial(take_back, request, member)
    if request.method == "POST" and (done := change_by_form(request, form, give, take)):
        return show_next(request, done, "articles:profile", member.get_username())
    context = {"flag": before, "reasons": REASONS, "is_own": False, "member": member, "about": about}
    return show_form(request, "flags/member.html", form, **context)


class DecisionForm(GroundsForm):
    """A moderator's decision. `newest`: the latest flag that the page showed. Keeping needs no reason."""

    reason = CleanedField(
        clean_reason,
        required=False,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy(
            "Required for a removal: everyone can read it. Only the members who flagged something can read why "
            "it was kept."
        ),
        widget=LineInput(REASON_LIMIT),
    )
    needs_grounds = False
    newest = forms.IntegerField(min_value=0, max_value=2**62, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        needed_sometimes(self, "reason")


@private_form(needs(REMOVE_ARTICLES, carries=["reason", "newest", *FIELDS]))
def decide(request: HttpRequest, name: str) -> HttpResponse:
    """Keep or remove a profile text. A form that arrives twice succeeds."""
    member: User = member_named(name)
    flags, moderator = list(member.about_flags.filter(state=OPEN).select_related("flagger")), actor(request)
    form = DecisionForm(request.POST or None, initial={"newest": flags[-1].pk if flags else 0})
    if request.method == "POST" and form.is_valid():
        if "keep" in request.POST:
            keep(member, moderator, form.cleaned_data["reason"], form.cleaned_data["newest"])
            messages.success(request, _("It has been kept. The members who flagged it can read why."))
            return redirect("articles:queue")
        if not form.cleaned_data["reason"]:
            form.add_error("reason", _("Enter a reason."))
        form.check_grounds()
        if form.is_valid():
            is_removed = remove(member, moderator, form.cleaned_data["reason"], form.grounds)
            messages.success(
                request, _("It has been removed.") if is_removed else _("It had already been removed.")
            )
            return redirect("articles:profile", member.get_username())
    context = {"member": member, "flags": flags, "reasons": REASONS, "text": html_of(member.about)}
    return show_form(request, "moderation/profile.html", form, is_own=member.pk == moderator.id, **context)


class ProfileFlag(BaseModel):
    """Your flag on a profile text. Only you and moderators can see it."""

    name: str
    reason: FlagReason | None = Field(description="null if there is no flag.")
    words: str
    state: FlagState | None = Field(description="Whether moderators have decided, and how.")

    @classmethod
    def of(cls, member: User, flag: AboutFlag | None) -> "ProfileFlag":
        known = {"reason": flag.reason, "words": flag.words, "state": flag.state} if flag else {}
        return cls.model_validate(
            {"name": member.get_username(), "reason": None, "words": "", "state": None} | known
        )


class FlagOfProfile(BaseModel):
    """A flag on a profile text."""

    by: str
    reason: FlagReason
    words: str
    time: float = Field(description="In Unix seconds.")


class QueuedProfile(BaseModel):
    """A member whose profile text is flagged."""

    name: str
    about: str = Field(description="In Markdown.")
    flags: list[FlagOfProfile]


class QueuedProfiles(schemas.Continued):
    """The members whose profile texts are flagged, the longest waiting first."""

    profiles: list[QueuedProfile]


class ProfileDecision(GivenGrounds):
    """Whether to remove a profile text, and why."""

    removed: bool = Field(description="False keeps it.", examples=[True])
    reason: str = Field("", examples=["It advertises."])
    """Required to remove it: everyone can read it in the moderation log. Why it was kept is for those who flagged
    it."""


class DecidedProfile(BaseModel):
    """What was decided."""

    name: str
    about: str = Field(description="In Markdown; empty if it was removed.")


@router.put("users/{name}/flag", response=failing(409), auth=AUTHORS)
def flag_member(request: MemberRequest, name: MemberName, new: NewFlag) -> ProfileFlag:
    """Flag a member's profile text. Flags it for the moderators, or changes your flag."""
    member: User = member_named(name)
    if new.reason not in reasons_for(has_link=False):
        raise InvalidInput("reason-empty")
    return ProfileFlag.of(member, flag(request, member, new.reason, new.clean_words))


@router.delete("users/{name}/flag", response=failing(409), auth=AUTHORS)
def take_back_member_flag(request: MemberRequest, name: MemberName) -> ProfileFlag:
    """Take back your flag on a profile text. Idempotent, until moderators have decided."""
    member: User = member_named(name)
    take_back(request, member)
    return ProfileFlag.of(member, None)


@router.get("queue/profiles", auth=MODERATORS)
def read_queued_profiles(
    request: HttpRequest,
    query: Query[schemas.AfterQuery],  # noqa: ARG001 - ninja's
) -> QueuedProfiles:
    """Flagged profile texts. Moderators only."""
    require(request, REMOVE_ARTICLES)
    seen = cursors.seen_in(request)
    flagged = list_flagged(seen)
    found = [
        QueuedProfile(
            name=member.get_username(),
            about=member.about,
            flags=[schemas.made(FlagOfProfile, one, by=one.flagger.get_username(), time=one.at) for one in flags],
        )
        for member, flags, _html in flagged
    ]
    ids = [member.pk for member, _flags, _html in flagged]
    following = cursors.next_unseen(request, seen, ids) if len(flagged) == MOST_SHOWN else None
    return QueuedProfiles(profiles=found, next_after=following)


@router.put("users/{name}/about", auth=MODERATORS)
def decide_on_profile(request: HttpRequest, name: MemberName, decision: ProfileDecision) -> DecidedProfile:
    """Keep or remove a profile text. Moderators only. Decides its open flags. Idempotent."""
    require(request, REMOVE_ARTICLES)
    member: User = member_named(name)
    reason = clean_reason(decision.reason) if decision.reason or decision.removed else ""
    if decision.removed:
        remove(member, actor(request), reason, decision.grounds)
    else:
        keep(member, actor(request), reason)
    return DecidedProfile(name=member.get_username(), about="" if decision.removed else member.about)
