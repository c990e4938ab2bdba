"""The moderators' page about a member: bans, votes left out of ranking, sweeps, notes, a lost second step.

Of a deleted account it shows what moderators can still do for a while: see what it posted, and sweep it.
"""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_lazy

from accounts import sessions
from accounts.models import BAN_SCOPES, Ban, BanScope, User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.sign_in import second_factor
from accounts.sign_in.changes import Change, tell_change
from accounts.web.form_pages import private_act, private_form, show_form
from articles.domain.errors import FellowModerator
from articles.domain.moderation_log import Action, Actor
from articles.web.identity import actor, member_named, needs
from articles.web.rights import check_not_own, check_target, may, why_not
from articles.web.wiring import repository
from moderation.bans import BanForm, ban, lift_ban
from moderation.notes import NoteForm
from moderation.statements import FIELDS, GroundsForm
from moderation.subjects import MOST_SHOWN, address_of, known_until, page_of, posted_by, reason_in, subject_named
from moderation.sweeps import SweepForm


@private_form(needs(BAN_MEMBERS, REMOVE_ARTICLES, carries=["scope", "days", "reason", *FIELDS]))
def index(request: HttpRequest, name: str) -> HttpResponse:
    """Show a member's bans, and ban the member."""
    member = subject_named(name)
    if member.left_at is not None:
        return _page_of_deleted(request, member)
    form = BanForm(request.POST or None, initial={"scope": BanScope.POSTING})
    moderator = actor(request)
    if request.method == "POST":
        if not may(request.user, BAN_MEMBERS):
            raise PermissionDenied
        check_target(member, BAN_MEMBERS, moderator.id)
    if request.method == "POST" and form.is_valid():
        scope, reason = BanScope(form.cleaned_data["scope"]), form.cleaned_data["reason"]
        days = form.cleaned_data["days"]
        ban(member, scope, reason, days=days, moderator=moderator, grounds=form.grounds)
        messages.success(request, _("%(name)s is banned.") % {"name": member.get_username()})
        return redirect(page_of(request, member.get_username()))
    bans = member.bans.list_all()
    context = _sweeps_of(member) | {
        "is_own": member.pk == moderator.id,
        "no_ban": why_not(check_target, member, BAN_MEMBERS, moderator.id),
        "no_sweep": why_not(check_target, member, REMOVE_ARTICLES, moderator.id),
        "bans": bans,
        "is_banned": any(one.is_current for one in bans),
        "scopes": BAN_SCOPES,
        "votes_form": GroundsForm(auto_id="votes-%s"),
        "votes": repository().left_out.get_state(member.pk),
        "notes": list(member.notes.select_related("author")) if member.pk != moderator.id else [],
        "may_reset_second_factor": may_reset_second_factor(member, request.user),  # type: ignore[arg-type]
        "note_form": NoteForm(auto_id="note-%s"),
    }
    return show_form(request, "moderation/member.html", form, **context)


def _page_of_deleted(request: HttpRequest, member: User) -> HttpResponse:
    """Show what a deleted account posted, and the sweeps of it. Raises Http404 for a ban."""
    if request.method == "POST":
        raise Http404
    context = _sweeps_of(member) | {
        "is_own": False,
        "no_sweep": "",
        "known_until": known_until(member),
        "posted": posted_by(member.pk),
        "most_shown": MOST_SHOWN,
    }
    return render(request, "moderation/deleted_account.html", context)


def _sweeps_of(member: User) -> dict[str, Any]:
    """Return what the section about sweeps shows."""
    return {
        "member": member,
        "address": address_of(member),
        "sweeps": list(member.sweeps.select_related("moderator")),
        "sweep_form": SweepForm(auto_id="sweep-%s"),
    }


@private_act(needs(BAN_MEMBERS), page=page_of, button=gettext_lazy("Lift the ban"))
def lift(request: HttpRequest, name: str, ban_id: int) -> HttpResponse:
    """Lift one of a member's bans. A form that arrives twice succeeds."""
    found = get_object_or_404(Ban, pk=ban_id, member=member_named(name))
    if reason := reason_in(request):
        lift_ban(found, reason, actor(request))
        messages.success(request, _("The ban has been lifted."))
    return redirect(page_of(request, name))


# The second step of a member who has lost the device


def reset_second_factor(member: User, reason: str, moderator: Actor) -> None:
    """Remove the member's factors, end all sessions, log it and tell the member. Idempotent.

    Passkeys that are the only way in stay. The log has only the account's number: strangers do not learn the name.
    """
    had_factor = _has_factor(member)
    second_factor.reset_lost(member)
    sessions.end_others(member.pk, "")
    if had_factor:
        tell_change(member, Change.RESET)
        details = {"account": str(member.pk)}
        repository().moderation_log.note(Action.RESET_SECOND_FACTOR, moderator, "", reason, details)


def may_reset_second_factor(member: User, moderator: User) -> bool:
    """Return whether the moderator resets the member's second step; only administrators do it for moderators."""
    if not may(moderator, BAN_MEMBERS) or not _has_factor(member):
        return False
    return member.pk != moderator.pk and (moderator.is_superuser or not member.is_moderator)


def _has_factor(member: User) -> bool:
    return member.second_factor or member.passkeys.exists()


@private_act(needs(BAN_MEMBERS), page=page_of, button=gettext_lazy("Reset the second step"))
def reset_by_form(request: HttpRequest, name: str) -> HttpResponse:
    """Reset a member's second step. A form that arrives twice succeeds."""
    member = member_named(name)
    check_not_own(member.pk, actor(request).id)
    if _has_factor(member) and not may_reset_second_factor(member, request.user):  # type: ignore[arg-type]
        raise FellowModerator
    if reason := reason_in(request):
        reset_second_factor(member, reason, actor(request))
        messages.success(
            request, _("The second step of %(name)s has been reset.") % {"name": member.get_username()}
        )
    return redirect(page_of(request, name))
