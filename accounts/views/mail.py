"""Verify the address for mail, choose what is mailed, and unsubscribe. None of these pages is cached."""

import time
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts.forms import MailForm
from accounts.mail import DIGEST, WAITING, member_verifying, read_unsubscribe_token, send_verification
from accounts.models import User
from accounts.views.settings import address_of_section
from accounts.web import unsent_form
from accounts.web.form_pages import MemberRequest, form_action, members_only, page_with_form


def _settings_address(_request: HttpRequest) -> str:
    return address_of_section("mail")


@form_action(page=_settings_address, button=gettext_lazy("Send verification link"))
@members_only()
def send_link(request: MemberRequest) -> HttpResponse:
    """Send a link that verifies the member's address."""
    if request.user.email and not request.user.has_verified_email:
        send_verification(request, request.user)
        messages.success(request, _("We've sent a link to your email address. Open it to verify the address."))
    return redirect(_settings_address(request))


@never_cache
@page_with_form
def verify(request: HttpRequest, token: str) -> HttpResponse:
    """Verify the address that the link was sent to. A button does it: programs that check mails open links."""
    member = member_verifying(token)
    if member and request.method == "POST":
        User.objects.filter(pk=member.pk, email=member.email).update(verified_email=member.email)
        messages.success(request, _("Your email address is verified."))
        return redirect(_settings_address(request))
    unsent_form.refill(request)
    return render(request, "accounts/verify.html", {"member": member}, status=200 if member else 404)


@form_action(page=_settings_address, button=gettext_lazy("Save"))
@members_only()
def choose(request: MemberRequest) -> HttpResponse:
    """Save what is mailed.

    Notices from before mail was turned on are not mailed; the first digest is due a week later.
    """
    form = MailForm(request.POST, member=request.user)
    if form.is_valid():
        with transaction.atomic():
            member = User.objects.select_for_update().get(pk=request.user.pk)
            if not member.mail_kinds:
                member.mailed_until = time.time()
            if not member.digest:
                member.digested_at = time.time()
            member.mail_kinds = ",".join(form.cleaned_data["kinds"]) if member.has_verified_email else ""
            member.digest = form.cleaned_data["digest"] and member.has_verified_email
            member.waiting_mail = form.cleaned_data.get("waiting", member.waiting_mail)
            member.save(update_fields=["mail_kinds", "mailed_until", "digest", "digested_at", "waiting_mail"])
        messages.success(request, _("Your choice of emails has been saved."))
    return redirect(_settings_address(request))


@never_cache
@csrf_exempt  # mail programs send the form (RFC 8058): the token of the address shows who asks
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End mail about notices, the digest, or mail to moderators. Idempotent; a GET only asks."""
    found = read_unsubscribe_token(token)
    if found is None:
        return render(request, "accounts/unsubscribe.html", {"what": ""}, status=404)
    member, what = found
    is_done = request.method == "POST"
    if is_done:
        off: dict[str, dict[str, Any]] = {DIGEST: {"digest": False}, WAITING: {"waiting_mail": ""}}
        User.objects.filter(pk=member.pk).update(**off.get(what, {"mail_kinds": ""}))
    return render(request, "accounts/unsubscribe.html", {"what": what, "is_done": is_done})
