"""A member's settings, mail and tokens, and the deletion of the account. None of these pages is cached."""

import time
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth import logout
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts import account_deletion
from accounts.forms import DeleteAccountForm, EmailForm, MailForm, TokenForm
from accounts.mail import DIGEST, WAITING, is_dropped, member_verifying, read_unsubscribe_token, send_verification
from accounts.models import Token, TokenLimitError, User
from accounts.sign_in.changes import Change, tell_change
from accounts.web import sent_forms
from accounts.web.form_pages import (
    MemberRequest,
    View,
    members_only,
    page_with_form,
    private_act,
    private_form,
    private_page,
    show_form,
    show_next,
)
from accounts.web.login_intent import local_path
from articles.configuration.choices import site_address
from articles.domain.other_apis import OTHER_APIS


def _page(template: str) -> View:
    """Return the view of a page that has links, or forms of other views."""
    return private_page(members_only())(lambda request: render(request, template))


member_settings = _page("accounts/settings.html")
reading = _page("accounts/reading.html")
data = _page("accounts/data.html")

_MAIL, _PROGRAMS = "accounts:choose_mail", "accounts:programs"


@private_form(members_only(carries=["email"], proof=True))
def change_email(request: MemberRequest) -> HttpResponse:
    """Change the address, which leads to a new password."""
    typed = request.POST if request.method == "POST" else None
    form = EmailForm(typed, instance=User.objects.get(pk=request.user.pk))
    if not form.is_valid():
        return show_form(request, "accounts/email.html", form)
    member = form.save()
    if not member.email or member.has_verified_email or "email" not in form.changed_data:
        return show_next(request, _("Your email address has been saved."), _MAIL)
    send_verification(request, member)
    sent = _("Your email address has been saved. Open the link that we’ve sent to it.")
    return show_next(request, _("Your email address has been saved.") if is_dropped() else sent, _MAIL)


@private_act(members_only(), page=_MAIL, button=gettext_lazy("Send verification link"))
def send_link(request: MemberRequest) -> HttpResponse:
    """Send a link that verifies the member's address, and return to the settings, or to the page that asked."""
    if request.user.email and not request.user.has_verified_email:
        send_verification(request, request.user)
        if is_dropped():
            messages.warning(request, _("This site doesn’t send emails yet."))
        else:
            messages.success(request, _("We’ve sent a link to your email address. Open it to verify the address."))
    return redirect(local_path(request.POST.get("next", "")) or _MAIL)


@never_cache
@page_with_form
def verify(request: HttpRequest, token: str) -> HttpResponse:
    """Verify the address that the link was sent to. A button does it: programs that check mails open links."""
    member = member_verifying(token)
    if member and request.method == "POST":
        User.objects.filter(pk=member.pk, email=member.email).update(verified_email=member.email)
        return show_next(request, _("Your email address is verified."), _MAIL)
    sent_forms.refill(request)
    return render(request, "accounts/verify.html", {"member": member}, status=200 if member else 404)


@private_form(members_only())
def choose(request: MemberRequest) -> HttpResponse:
    """Show the address and what is mailed there, and save the choice.

    Notices from before mail was turned on are not mailed; the first digest is due a week later.
    """
    form = MailForm(request.POST if request.method == "POST" else None, member=request.user)
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
        return show_next(request, _("Your choice of emails has been saved."), _MAIL)
    return show_form(request, "accounts/mail_choice.html", form)


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


@private_page(members_only())
def programs(request: MemberRequest) -> HttpResponse:
    """Show the tokens and apps, and the form of a new token."""
    return _programs(request, TokenForm())


def _programs(request: MemberRequest, form: TokenForm) -> HttpResponse:
    context = {
        "tokens": list(Token.objects.typed(request.user)),
        "tokens_per_user": Token.objects.PER_USER,
    }
    return show_form(request, "accounts/programs.html", form, **context)


def _issue_button(request: HttpRequest) -> str:
    return _("Create the token “%(name)s”") % {"name": sent_forms.sent(request).get("name", "")[:50]}


@private_act(members_only(carries=["name", "scopes", "days"], proof=True), page=_PROGRAMS, button=_issue_button)
def issue_token(request: MemberRequest) -> HttpResponse:
    """Create a token. Only this response shows it: it is not stored and never part of a URL."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            token, plaintext = Token.objects.issue(
                request.user,
                form.cleaned_data["name"],
                once=True,
                scopes=form.cleaned_data["scopes"],
                expires_at=form.expires_at,
            )
        except TokenLimitError:
            form.add_error(None, _("You have reached the limit of tokens. Revoke one first."))
        else:
            tell_change(request.user, Change.TOKEN_ADDED, token.name)
            site = site_address(request)
            host, others = urlsplit(site).netloc, [other for other in OTHER_APIS if other.is_on()]
            forms = [(other.token_label, other.token_in_its_form(token, plaintext, host)) for other in others]
            context = {"token": token, "plaintext": plaintext, "forms": forms, "api": f"{site}/api/me"}
            return render(request, "accounts/token.html", context)
    return _programs(request, form)


def _revoke_button(request: HttpRequest, token_id: int) -> str:
    token = Token.objects.filter(pk=token_id, user=request.user.pk).first()
    return _("Revoke the token “%(name)s”") % {"name": token.name} if token else _("Revoke")


@private_act(members_only(), page=_PROGRAMS, button=_revoke_button)
def revoke_token(request: MemberRequest, token_id: int) -> HttpResponse:
    token = Token.objects.filter(pk=token_id, user=request.user).first()
    if token is None:
        messages.info(request, _("You don’t have this token. It may already have been revoked."))
        return redirect(_PROGRAMS)
    token.delete()
    return show_next(request, _("The token “%(name)s” has been revoked.") % {"name": token.name}, _PROGRAMS)


@never_cache
@page_with_form
def delete_account(request: HttpRequest) -> HttpResponse:
    is_sent_twice = request.method == "POST" and not request.user.is_authenticated
    if is_sent_twice and sent_forms.has_just_left(request.POST.get("name", "")):
        return _farewell(request)
    response: HttpResponse = _delete_account(request)
    return response


@members_only(proof=True)
def _delete_account(request: HttpRequest) -> HttpResponse:
    form = DeleteAccountForm(request.POST if request.method == "POST" else None, member=request.user)
    if form.is_valid():
        try:
            account_deletion.begin(int(request.user.pk or 0))
        except account_deletion.LastAdministratorError:
            form.add_error(
                None,
                _("You are the only administrator. Make another member an administrator first, then come back."),
            )
        else:
            return _farewell(request)
    return show_form(request, "accounts/delete.html", form)


def _farewell(request: HttpRequest) -> HttpResponse:
    account_deletion.advance_briefly()
    logout(request)
    return show_next(request, _("Your account has been deleted. Thanks for being part of this community."), "/")
