"""Sweeps: moderators remove everything that a member posted recently in one act, and restore it in one act.

The name of a deleted account is `~` and its number: see `articles.web.moderation.subjects`.
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import Sweep
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import form_action
from articles.formatting.values import grouped
from articles.forms.articles import ReasonForm
from articles.forms.sweeps import SweepForm
from articles.views.moderation.members import acts
from articles.web.identity import actor, needs
from articles.web.moderation import sweeps
from articles.web.moderation.subjects import subject_named


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Remove everything"))
@needs(REMOVE_ARTICLES)
def begin(request: HttpRequest, name: str) -> HttpResponse:
    """Begin a sweep. A form that arrives twice continues the first."""
    member, form = subject_named(name), SweepForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect(acts.page_of(request, name))
    days, reason = form.cleaned_data["days"], form.cleaned_data["reason"]
    return _remove(request, name, sweeps.begin(member, days, reason, actor(request)))


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Continue"))
@needs(REMOVE_ARTICLES)
def go_on(request: HttpRequest, name: str, sweep_id: int) -> HttpResponse:
    """Continue a sweep that took too long for one request, or was interrupted."""
    sweep = get_object_or_404(Sweep, pk=sweep_id, member=subject_named(name), restored_at=None)
    return _remove(request, name, sweep)


def _remove(request: HttpRequest, name: str, sweep: Sweep) -> HttpResponse:
    done = sweeps.remove(sweep, actor(request))
    acts.tell(request, _("%(num)s removed.") % {"num": grouped(done.changed)}, is_complete=done.is_complete)
    return redirect(acts.page_of(request, name))


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Restore everything"))
@needs(REMOVE_ARTICLES)
def restore(request: HttpRequest, name: str, sweep_id: int) -> HttpResponse:
    """Restore what a sweep removed. A form that arrives twice succeeds."""
    sweep = get_object_or_404(Sweep, pk=sweep_id, member=subject_named(name))
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect(acts.page_of(request, name))
    done = sweeps.restore(sweep, form.cleaned_data["reason"], actor(request))
    acts.tell(request, _("%(num)s restored.") % {"num": grouped(done.changed)}, is_complete=done.is_complete)
    return redirect(acts.page_of(request, name))
