"""Reset the second step of a member who has lost the device: by moderators who can ban, with a reason."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import sessions
from accounts.models import User
from accounts.moderators import BAN_MEMBERS
from accounts.sign_in import second_factor
from accounts.sign_in.changes import Change, tell_change
from accounts.web.form_pages import private_act
from articles.domain.errors import FellowModerator
from articles.domain.moderation_log import Action, Actor
from articles.web.identity import actor, member_named, needs
from articles.wiring import repository
from moderation.rights import check_not_own, may
from moderation.subjects import page_of, reason_in


def reset(member: User, reason: str, moderator: Actor) -> None:
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


def may_reset(member: User, moderator: User) -> bool:
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
    if _has_factor(member) and not may_reset(member, request.user):  # type: ignore[arg-type]
        raise FellowModerator
    if reason := reason_in(request):
        reset(member, reason, actor(request))
        messages.success(
            request, _("The second step of %(name)s has been reset.") % {"name": member.get_username()}
        )
    return redirect(page_of(request, name))
