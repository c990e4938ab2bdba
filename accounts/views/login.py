"""Login, logout and sign-up, and a member's invitations to it. None of these pages is cached."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, logout
from django.core.exceptions import PermissionDenied
from django.forms import BaseForm, Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts import names
from accounts.forms import ConfirmForm, LoginForm, SignUpForm
from accounts.models import Invitation, InvitationLimitError
from accounts.models.sign_up import INVITATION_DAYS
from accounts.passwords import note_password
from accounts.sign_in.arrival import LINK, PASSWORD, arrive, carry_out, confirmed, join, welcome_if_approved
from accounts.sign_in.ways import leaving, member_of_link
from accounts.web import sent_forms
from accounts.web.form_pages import (
    MemberRequest,
    confirmation,
    form_action,
    is_for_members,
    login_page,
    members_only,
    page_with_form,
    private_act,
    private_form,
    show_next,
)
from accounts.web.login_intent import LoginIntent, local_path, view_at
from articles.configuration.choices import chosen, site_address


@sensitive_post_parameters()
@never_cache
@page_with_form
def log_in(request: HttpRequest) -> HttpResponse:
    """Log in the member that the form names, even if another member is logged in."""
    intent = LoginIntent.from_request(request)
    if _is_logged_in_already(request, "password"):
        return _finish_login(request, intent)
    form = LoginForm(request, _sent_form(request))
    if request.method == "POST" and form.is_valid():
        welcome_if_approved(request, form.get_user())
        return arrive(request, form.get_user(), intent, PASSWORD)
    _refill(request, form)
    return login_page(request, form, intent)


@sensitive_post_parameters()
@private_form(members_only())
def confirm(request: MemberRequest) -> HttpResponse:
    """Ask the member for a fresh proof, and return to the page that demands it."""
    intent = LoginIntent.from_request(request)
    form = ConfirmForm(request.POST or None, member=request.user)
    is_right = form.is_valid()
    if form.is_bound:
        note_password(request, form)
    if is_right:
        return confirmed(request, intent)
    sent_forms.refill(request)
    return confirmation(request, intent, form)


def _sent_form(request: HttpRequest) -> QueryDict | None:
    """Return the form data; None if it comes from another page, to carry what was typed, or has no use here."""
    return None if "other" in request.POST or not settings.PASSWORDS else request.POST or None


def _is_logged_in_already(request: HttpRequest, password: str) -> bool:
    """Return whether the form is unnecessary: on GET, whether a member is logged in.

    A form with a stale token, from a page opened before the login, must name that member and have the right
    password in the field `password`, because the intent is carried out without a valid token.
    """
    if not request.user.is_authenticated or not sent_forms.is_stale(request):
        return request.user.is_authenticated and request.method != "POST"
    if sent_forms.is_refused(request):
        return False
    form, name = sent_forms.sent(request), request.user.get_username()
    if names.canonical(form.get("username", "").strip()) != names.canonical(name):
        return False
    return authenticate(request, username=name, password=form.get(password, "")) == request.user


def _refill(request: HttpRequest, form: BaseForm) -> None:
    text = _("This page was out of date. Please enter your password again.")
    if request.user.is_authenticated:
        text = _("You are logged in as %(name)s. Enter your password again to use another account.") % {
            "name": request.user.get_username()
        }
    sent_forms.refill(request, form, stale_text=text)


def _finish_login(request: HttpRequest, intent: LoginIntent) -> HttpResponse:
    """Redirect a member who is logged in already, and carry out what a sent form had waiting."""
    if request.method == "POST" or sent_forms.is_stale(request):
        return carry_out(request, request.user, intent)  # type: ignore[arg-type]
    return redirect(sent_forms.page_after_approval(request) or intent.destination)


def _return_path(request: HttpRequest) -> str:
    return local_path(sent_forms.sent(request).get("next", ""))


@form_action(page=lambda request: _return_path(request) or "/", button=gettext_lazy("Log out"))
def log_out(request: HttpRequest) -> HttpResponse:
    """Log out; lead to the page the member came from, or to where the session began."""
    answers: list[tuple[Any, Any]] = leaving.send(log_out, request=request)
    logout(request)
    for _receiver, elsewhere in answers:
        if elsewhere is not None:
            return elsewhere  # type: ignore[no-any-return]
    page = _return_path(request)
    return redirect(page if page and not is_for_members(view_at(page)) else settings.LOGOUT_REDIRECT_URL)


@sensitive_post_parameters()
@never_cache
@page_with_form
def sign_up(request: HttpRequest) -> HttpResponse:
    intent = LoginIntent.from_request(request)
    if _is_logged_in_already(request, "password1"):
        return _finish_login(request, intent)
    how, code = chosen.SIGN_UP, sent_forms.sent(request).get("invitation") or request.GET.get("invitation", "")
    invitation = Invitation.objects.find(code) if how != "closed" and code else None
    is_used = invitation is not None and invitation.invited_id is not None
    if is_used and how != "invitation":
        invitation = None  # the site is open without one
    if how == "closed" or (how == "invitation" and (invitation is None or (is_used and request.method != "POST"))):
        status = 403 if request.method == "POST" else 200
        return render(request, "accounts/no_signup.html", {"how": how, "intent": intent}, status=status)
    form, waits = SignUpForm(_sent_form(request)), how == "approval"
    user = form.create(invitation, waits=waits) if request.method == "POST" and form.is_valid() else None
    if newcomer := user or form.created_before(request):
        return join(request, newcomer, intent, PASSWORD)
    _refill(request, form)
    context = {"form": form, "intent": intent, "how": how, "invitation": invitation}
    context |= {"days": settings.SESSION_COOKIE_AGE // 86400, "passwords": settings.PASSWORDS}
    context["tree_readers"] = chosen.INVITATION_TREE
    return render(request, "accounts/signup.html", context)


@never_cache
@page_with_form
def follow_link(request: HttpRequest, token: str) -> HttpResponse:
    """Log in an administrator by a link from the command line, when the button on its page is pressed."""
    member = member_of_link(token)
    if member is not None and request.method == "POST":
        return arrive(request, member, LoginIntent(), LINK)
    sent_forms.refill(request)
    return render(request, "accounts/login_link.html", {"member": member}, status=200 if member else 403)


@private_form(members_only())
def invitations(request: MemberRequest) -> HttpResponse:
    """Show the member's invitations, and create one. Raises PermissionDenied if no one can sign up."""
    if chosen.SIGN_UP == "closed":
        raise PermissionDenied("sign-up is closed")
    if request.method == "POST":
        try:
            Invitation.objects.issue(request.user)
        except InvitationLimitError:
            messages.error(request, _("You have no invitations left."))
        return redirect("accounts:invitations")
    form = Form()
    sent_forms.refill(request, form)
    mine = Invitation.objects.filter(inviter=request.user).select_related("invited")
    left = Invitation.objects.left(request.user)
    context = {
        "form": form,
        "site": f"{site_address(request)}{reverse('accounts:signup')}?invitation=",
        "open": [one for one in mine if one.invited is None and one.expires_at > timezone.now()],
        "invited": [one.invited for one in mine if one.invited is not None],
        "left": left,
        "no_form": left < 1,
        "days": INVITATION_DAYS,
        "tree_readers": chosen.INVITATION_TREE,
    }
    return render(request, "accounts/invitations.html", context)


@private_act(members_only(), page="accounts:invitations", button=gettext_lazy("Take back"))
def revoke_invitation(request: MemberRequest, invitation_id: int) -> HttpResponse:
    """Take back an invitation that no one has used. Idempotent."""
    Invitation.objects.filter(pk=invitation_id, inviter=request.user, invited=None).delete()
    return show_next(request, _("The invitation has been taken back."), "accounts:invitations")
