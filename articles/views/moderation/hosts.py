"""Hosts whose links cannot be posted: moderators block and unblock them, with a reason in the log."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.moderators import REMOVE_ARTICLES
from accounts.web import unsent_form
from accounts.web.form_pages import form_action, page_with_form
from articles.forms.hosts import HostForm
from articles.models import BlockedHost
from articles.web.identity import actor, needs
from articles.web.moderation import hosts


@never_cache
@page_with_form
@needs(REMOVE_ARTICLES, carries=["host", "reason"])
def index(request: HttpRequest) -> HttpResponse:
    """Show the blocked hosts; block one, or change its reason. A form that arrives twice succeeds."""
    form = HostForm(request.POST or None, initial={"host": request.GET.get("host", "")})
    if request.method == "POST" and form.is_valid():
        host, reason = form.cleaned_data["host"], form.cleaned_data["reason"]
        hosts.block(host, reason, actor(request))
        messages.success(request, _("Links to %(host)s can no longer be posted.") % {"host": host})
        return redirect("articles:blocked_hosts")
    unsent_form.refill(request, form)
    context = {"form": form, "hosts": list(BlockedHost.objects.all())}
    return render(request, "moderation/hosts.html", context, status=400 if form.errors else 200)


def _page(_request: HttpRequest) -> str:
    return reverse("articles:blocked_hosts")


@never_cache
@form_action(page=_page, button=lambda _request: _("Unblock"))
@needs(REMOVE_ARTICLES)
def unblock(request: HttpRequest) -> HttpResponse:
    """Unblock a host. A form that arrives twice succeeds."""
    form = HostForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
        return redirect("articles:blocked_hosts")
    host, reason = form.cleaned_data["host"], form.cleaned_data["reason"]
    hosts.unblock(host, reason, actor(request))
    messages.success(request, _("Links to %(host)s can be posted again.") % {"host": host})
    return redirect("articles:blocked_hosts")
