"""Hosts whose links cannot be posted: moderators block and unblock them, with a reason in the log."""

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy
from pydantic import BaseModel, Field

from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import private_act, private_form, show_form, show_next
from articles import site
from articles.api import schemas
from articles.api.protocol.operations import MODERATORS, require, router
from articles.domain.moderation_log import Action, Actor
from articles.models import BlockedHost
from articles.text.lines import clean_reason
from articles.text.links import clean_host
from articles.web.forms.fields import CleanedField, reason_field
from articles.web.identity import actor, needs
from articles.web.wiring import repository


class HostForm(forms.Form):
    """A host, or any link to it, and why it is blocked or no longer blocked."""

    host = CleanedField(
        clean_host,
        label=gettext_lazy("Host"),
        help_text=gettext_lazy("For example, example.org or a link to it. Its subdomains are blocked too."),
    )
    reason = reason_field()


def block(host: str, reason: str, moderator: Actor) -> None:
    """Block a clean host, or change its reason. Idempotent. Raises StoreError; then nothing is changed."""
    with transaction.atomic():
        if site.block_host(host, reason):
            repository().moderation_log.note(Action.BLOCK_HOST, moderator, host, reason)


def unblock(host: str, reason: str, moderator: Actor) -> None:
    """Stop blocking a clean host. Idempotent. Raises StoreError; then nothing is changed."""
    with transaction.atomic():
        if site.unblock_host(host):
            repository().moderation_log.note(Action.UNBLOCK_HOST, moderator, host, reason)


@private_form(needs(REMOVE_ARTICLES, carries=["host", "reason"]))
def index(request: HttpRequest) -> HttpResponse:
    """Show the blocked hosts; block one, or change its reason. A form that arrives twice succeeds."""
    form = HostForm(request.POST or None, initial={"host": request.GET.get("host", "")})
    if request.method == "POST" and form.is_valid():
        host, reason = form.cleaned_data["host"], form.cleaned_data["reason"]
        block(host, reason, actor(request))
        messages.success(request, _("Links to %(host)s can no longer be posted.") % {"host": host})
        return redirect("articles:blocked_hosts")
    return show_form(request, "moderation/hosts.html", form, hosts=list(BlockedHost.objects.all()))


@private_act(needs(REMOVE_ARTICLES), page="articles:blocked_hosts", button=gettext_lazy("Unblock"))
def unblock_by_form(request: HttpRequest) -> HttpResponse:
    """Unblock a host. A form that arrives twice succeeds."""
    form = HostForm(request.POST)
    if not form.is_valid():
        return show_next(request, _("Enter a reason."), "articles:blocked_hosts", is_error=True)
    host, reason = form.cleaned_data["host"], form.cleaned_data["reason"]
    unblock(host, reason, actor(request))
    messages.success(request, _("Links to %(host)s can be posted again.") % {"host": host})
    return redirect("articles:blocked_hosts")


class HostBlock(BaseModel):
    """A host whose links cannot be posted."""

    host: str
    reason: str = Field(description="Members read it when they post a link.")


class HostBlocks(BaseModel):
    """All blocked hosts."""

    hosts: list[HostBlock]


class HostBlocking(schemas.Model):
    """Whether to block a host, and why."""

    host: str = Field(examples=["spam.example"])
    """For example, example.org or a link to it. Its subdomains are blocked too."""

    blocked: bool = Field(description="False unblocks it.", examples=[True])
    reason: schemas.PublicReason = Field(examples=["It sells pills."])


@router.get("blocked-hosts", auth=MODERATORS)
def list_blocked_hosts(request: HttpRequest) -> HostBlocks:
    """Blocked hosts. Moderators only."""
    require(request, REMOVE_ARTICLES)
    return HostBlocks(hosts=[HostBlock(host=one.host, reason=one.reason) for one in BlockedHost.objects.all()])


@router.put("blocked-hosts", auth=MODERATORS)
def block_host(request: HttpRequest, blocking: HostBlocking) -> HostBlocks:
    """Block a host, or unblock it.

    Moderators only. Idempotent; another reason replaces the first. The response has all blocked hosts.
    """
    require(request, REMOVE_ARTICLES)
    change = block if blocking.blocked else unblock
    change(clean_host(blocking.host), clean_reason(blocking.reason), actor(request))
    return list_blocked_hosts(request)
