"""Sweeps: moderators remove everything that a member posted recently in one act, and restore it in one act."""

from datetime import timedelta

from django.contrib import messages
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import Sweep, User
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import form_action
from accounts.web.resubmission import RESUBMISSION_WINDOW
from articles.formatting.values import grouped
from articles.forms.articles import ReasonForm
from articles.forms.sweeps import SweepForm
from articles.views.moderation.members import acts
from articles.web.identity import actor, member_named, needs
from articles.wiring import repository


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Remove everything"))
@needs(REMOVE_ARTICLES)
def begin(request: HttpRequest, name: str) -> HttpResponse:
    """Begin a sweep. A form that arrives twice continues the first."""
    member, form = member_named(name), SweepForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect(acts.page_of(request, name))
    days, reason = form.cleaned_data["days"], form.cleaned_data["reason"]
    _remove(request, _begun(request, member, timedelta(days=days), reason))
    return redirect(acts.page_of(request, name))


def _begun(request: HttpRequest, member: User, age: timedelta, reason: str) -> Sweep:
    """Return the sweep that the same form began a moment ago, perhaps in a concurrent request, or a new one."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        now = timezone.now()
        since = (now - RESUBMISSION_WINDOW - age, now - age)
        same = Sweep.objects.filter(member=member, reason=reason, since__range=since, restored_at=None).first()
        return same or Sweep.objects.create(
            member=member, moderator_id=actor(request).id, reason=reason, since=now - age
        )


def _remove(request: HttpRequest, sweep: Sweep) -> None:
    """Remove, and count what was removed even if the store fails meanwhile."""
    moderator, sweeps, done = actor(request), repository().sweeps, list[bool]()
    steps = sweeps.remove(sweep.member_id, sweep.since.timestamp(), sweep.mark, moderator, sweep.reason)
    is_complete = False
    try:
        is_complete = acts.take(steps, done.append)
    finally:
        count = F("removed") + sum(done)
        Sweep.objects.filter(pk=sweep.pk).update(removed=count, is_complete=is_complete)
    acts.tell(request, _("%(num)s removed.") % {"num": grouped(sum(done))}, is_complete=is_complete)


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Continue"))
@needs(REMOVE_ARTICLES)
def go_on(request: HttpRequest, name: str, sweep_id: int) -> HttpResponse:
    """Continue a sweep that took too long for one request, or was interrupted."""
    sweep = get_object_or_404(Sweep, pk=sweep_id, member=member_named(name), restored_at=None)
    _remove(request, sweep)
    return redirect(acts.page_of(request, name))


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Restore everything"))
@needs(REMOVE_ARTICLES)
def restore(request: HttpRequest, name: str, sweep_id: int) -> HttpResponse:
    """Restore what a sweep removed. A form that arrives twice succeeds."""
    sweep = get_object_or_404(Sweep, pk=sweep_id, member=member_named(name))
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect(acts.page_of(request, name))
    moderator, reason, done = actor(request), form.cleaned_data["reason"], list[bool]()
    sweeps = repository().sweeps
    steps = sweeps.restore(sweep.member_id, sweep.since.timestamp(), sweep.mark, moderator, reason)
    is_complete = acts.take(steps, done.append)
    if is_complete:
        Sweep.objects.filter(pk=sweep.pk, restored_at=None).update(restored_at=timezone.now())
    acts.tell(request, _("%(num)s restored.") % {"num": grouped(sum(done))}, is_complete=is_complete)
    return redirect(acts.page_of(request, name))
