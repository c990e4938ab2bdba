"""Leaving a member's votes out of ranking in one act, and counting them again in one act."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.moderators import BAN_MEMBERS
from accounts.web.form_pages import form_action
from articles.forms.articles import ReasonForm
from articles.views.moderation.members import acts
from articles.web.identity import actor, member_named, needs
from articles.web.moderation.bans import set_left_out
from articles.web.moderation.steps import take
from articles.wiring import repository


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Leave the votes out"))
@needs(BAN_MEMBERS)
def leave_out(request: HttpRequest, name: str) -> HttpResponse:
    """Leave a member's votes out of ranking. A form that arrives twice continues the first."""
    return _decide(request, member_named(name), left_out=True)


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Count the votes again"))
@needs(BAN_MEMBERS)
def count_again(request: HttpRequest, name: str) -> HttpResponse:
    """Count a member's votes in ranking again. A form that arrives twice continues the first."""
    return _decide(request, member_named(name), left_out=False)


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Continue"))
@needs(BAN_MEMBERS)
def go_on(request: HttpRequest, name: str) -> HttpResponse:
    """Continue an act that took too long for one request, or was interrupted."""
    member = member_named(name)
    take(repository().left_out.go_on(member.pk))
    return _done(request, member)


def _decide(request: HttpRequest, member: User, *, left_out: bool) -> HttpResponse:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect(acts.page_of(request, member.get_username()))
    set_left_out(member, form.cleaned_data["reason"], actor(request), left_out=left_out)
    return _done(request, member)


def _done(request: HttpRequest, member: User) -> HttpResponse:
    """Show what was decided, and whether more remains."""
    state, name = repository().left_out.get_state(member.pk), member.get_username()
    if state.is_left_out:
        sentence = _("The votes of %(name)s are left out of ranking.")
    else:
        sentence = _("The votes of %(name)s count in ranking again.")
    acts.tell(request, sentence % {"name": name}, is_complete=state.is_settled)
    return redirect(acts.page_of(request, name))
