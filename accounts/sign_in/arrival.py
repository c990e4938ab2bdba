"""The second half of every way to sign in: who still has to take a second step, and what happens on arrival.

A password, an account elsewhere, a passkey or an operator's link names a member. `arrive` logs the member in, or
leads to the second step, and keeps what waited for the login in the session meanwhile.
"""

import time
from dataclasses import asdict
from typing import NamedTuple

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from accounts import sessions
from accounts.mail import is_dropped, send_verification
from accounts.models import User
from accounts.passwords import password_confirmed
from accounts.web import sent_forms
from accounts.web.backend import MemberBackend, needs_second_factor
from accounts.web.login_intent import LoginIntent, member_arrived
from articles.configuration.choices import chosen

PASSWORD, ELSEWHERE, PASSKEY, LINK = "password", "elsewhere", "passkey", "link"
"""Ways to sign in. A passkey is a second factor as well, and an operator's link is the way in without one."""

WITH_SECOND_STEP = (PASSWORD, ELSEWHERE)

SECONDS_FOR_SECOND_STEP = 600

_BACKEND = f"{MemberBackend.__module__}.{MemberBackend.__name__}"
_IN_SESSION = "arriving"


class Arriving(NamedTuple):
    """A member who has given a password or come from elsewhere, and has to take the second step."""

    member: User
    intent: LoginIntent
    way: str


def arrive(request: HttpRequest, member: User, intent: LoginIntent, way: str) -> HttpResponse:
    """Log the member in and carry out what waited for it; lead to the second step first if there is one.

    A session of a member who lacks a factor that the site demands would not count, so all set it up first.
    """
    is_missing = not member.second_factor and needs_second_factor(member)
    if is_missing or (way in WITH_SECOND_STEP and member.second_factor):
        if request.user.is_authenticated and request.user != member:
            request.session.flush()
        request.session[_IN_SESSION] = {
            "member": member.pk,
            "hash": member.get_session_auth_hash(),
            "until": time.time() + SECONDS_FOR_SECOND_STEP,
            "intent": asdict(intent),
            "way": way,
        }
        password_confirmed.send(sender=__name__, request=request)
        return redirect("accounts:second_step")
    return finish(request, member, intent)


def welcome_if_approved(request: HttpRequest, member: User) -> None:
    """Greet a member whom a moderator had to approve, at the first login."""
    if chosen.SIGN_UP == "approval" and member.last_login is None:
        _welcome(request, member, _("Welcome, %(name)s!"))


def _welcome(request: HttpRequest, member: User, text: str) -> None:
    """Greet a new member. The first time, send the link that verifies the address: the inbox can send it again."""
    lines = [text % {"name": member.username}]
    if member.email and not member.has_verified_email and member.last_login is None:
        send_verification(request, member)
        if not is_dropped():
            text = _("We’ve sent a link to %(email)s. Open it to verify the address.")
            lines.append(text % {"email": member.email})
    messages.success(request, "\n".join(lines), "joined")


def join(request: HttpRequest, member: User, intent: LoginIntent, way: str) -> HttpResponse:
    """Log a new member in, or say that a moderator has to approve the account first: see `arrive`.

    Call it after the commit: receivers of the login signal may act for the member.
    """
    if not member.is_active:
        sent_forms.keep(request, intent.typed, waiting=member.pk)
        messages.success(request, _("Your account has been created. A moderator has to approve it first."))
        return redirect("accounts:login")
    _welcome(request, member, _("Welcome, %(name)s! Your account has been created."))
    return arrive(request, member, intent, way)


def find_arriving(request: HttpRequest) -> Arriving | None:
    """Return the member who takes the second step in this session; None if there is none, or it took too long."""
    kept = request.session.get(_IN_SESSION)
    if not kept or kept["until"] < time.time():
        return None
    member = User.objects.filter(pk=kept["member"], is_active=True).first()
    if member is None or not constant_time_compare(member.get_session_auth_hash(), kept["hash"]):
        return None
    return Arriving(member, LoginIntent(**kept["intent"]), kept["way"])


def finish(request: HttpRequest, member: User, intent: LoginIntent) -> HttpResponse:
    """Log the member in, carry out what was waiting for it, and redirect to the page the member came for."""
    request.session.pop(_IN_SESSION, None)
    login(request, member, backend=_BACKEND)
    return carry_out(request, member, intent)


def carry_out(request: HttpRequest, member: User, intent: LoginIntent) -> HttpResponse:
    """Carry out what was waiting for the login, and redirect to the page the member came for."""
    member_arrived.send(sender=LoginIntent, request=request, user=member, intent=intent)
    sent_forms.keep(request, intent.typed)
    return redirect(sent_forms.page_after_approval(request) or intent.destination)


def confirmed(request: HttpRequest, intent: LoginIntent) -> HttpResponse:
    """Note the fresh proof that a page demanded, and return to that page with what was typed there."""
    sessions.note_proof(request)
    sent_forms.keep(request, intent.typed)
    messages.success(
        request, _("Confirmed. For ten minutes, you can change your account without confirming again.")
    )
    return redirect(intent.destination)
