"""Leaving a member's votes out of ranking in one act, and counting them again in one act."""

import time
from collections.abc import Iterator
from itertools import takewhile

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.web.form_pages import form_action
from articles.forms.articles import ReasonForm
from articles.views.moderation import sweeps
from articles.web.identity import actor, member_named, needs
from articles.web.moderation import BAN
from articles.wiring import repository


def _page_of(_request: HttpRequest, name: str) -> str:
    return reverse("articles:member_moderation", args=[name])


@never_cache
@form_action(page=_page_of, button=lambda *_address, **_named: _("Leave the votes out"))
@needs(BAN)
def leave_out(request: HttpRequest, name: str) -> HttpResponse:
    """Leave a member's votes out of ranking. A form that arrives twice continues the first."""
    member = member_named(name)
    if member.has_perm(BAN):
        raise PermissionDenied
    return _decide(request, member, leaves_out=True)


@never_cache
@form_action(page=_page_of, button=lambda *_address, **_named: _("Count the votes again"))
@needs(BAN)
def count_again(request: HttpRequest, name: str) -> HttpResponse:
    """Count a member's votes in ranking again. A form that arrives twice continues the first."""
    return _decide(request, member_named(name), leaves_out=False)


@never_cache
@form_action(page=_page_of, button=lambda *_address, **_named: _("Continue"))
@needs(BAN)
def go_on(request: HttpRequest, name: str) -> HttpResponse:
    """Continue an act that took too long for one request, or was interrupted."""
    member = member_named(name)
    return _carry_out(request, member, repository().left_out.go_on(member.pk))


def _decide(request: HttpRequest, member: User, *, leaves_out: bool) -> HttpResponse:
    form, name = ReasonForm(request.POST), member.get_username()
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect(_page_of(request, name))
    left_out = repository().left_out
    decide = left_out.leave_out if leaves_out else left_out.count_again
    return _carry_out(request, member, decide(member.pk, name, actor(request), form.cleaned_data["reason"]))


def _carry_out(request: HttpRequest, member: User, steps: Iterator[int]) -> HttpResponse:
    """Take the steps, as far as time allows, and say what is decided and whether these were all."""
    deadline, name = time.monotonic() + sweeps.BUDGET_SECONDS, member.get_username()
    for _step in takewhile(lambda _step: time.monotonic() < deadline, steps):
        pass
    state = repository().left_out.get_state(member.pk)
    if state.is_left_out:
        messages.success(request, _("The votes of %(name)s are left out of ranking.") % {"name": name})
    else:
        messages.success(request, _("The votes of %(name)s count in ranking.") % {"name": name})
    if not state.is_settled:
        messages.warning(request, _("There is more: continue below."))
    return redirect(_page_of(request, name))
