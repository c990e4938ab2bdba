"""Pages of members: login, sign-up, settings. None of them is ever cached."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts import names
from accounts.forms import (
    LoginForm,
    SignUpForm,
)
from accounts.web import unsent_form
from accounts.web.form_pages import form_action, is_for_members, page_with_form
from accounts.web.login_intent import LoginIntent, local_path, member_arrived, view_at

_BACKEND = "django.contrib.auth.backends.ModelBackend"


@sensitive_post_parameters()
@never_cache
@page_with_form
def log_in(request: HttpRequest) -> HttpResponse:
    """A form that is sent logs in the member it names, also in place of another one."""
    errand = LoginIntent.of(request)
    if _is_at_home(request, "password"):
        return _arrived(request, errand)
    form = LoginForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return _arrived(request, errand)
    _show_again(request, form)
    return render(request, "accounts/login.html", {"form": form, "errand": errand})


def _is_at_home(request: HttpRequest, password: str) -> bool:
    """Whether who asks for a login form, or sends one from a page that was open before the login, needs none.

    The second must be the member the form names, and know the password, for the errand is done without a token.
    """
    if not request.user.is_authenticated or not unsent_form.is_stale(request):
        return request.user.is_authenticated and request.method != "POST"
    form, name = unsent_form.sent(request), request.user.get_username()
    if names.canonical(form.get("username", "").strip()) != names.canonical(name):
        return False
    return authenticate(request, username=name, password=form.get(password, "")) == request.user


def _show_again(request: HttpRequest, form: BaseForm) -> None:
    text = _("This page was out of date. Please enter your password again.")
    if request.user.is_authenticated:
        text = _("You are logged in as %(name)s. Enter your password again to use another account.") % {
            "name": request.user.get_username()
        }
    unsent_form.refill(request, form, stale_text=text)


def _arrived(request: HttpRequest, errand: LoginIntent) -> HttpResponse:
    """Do what waited for the login, and go where the member wanted to."""
    if request.method == "POST" or unsent_form.is_stale(request):
        member_arrived.send(sender=LoginIntent, request=request, user=request.user, errand=errand)
        unsent_form.keep(request, errand.typed)
    return redirect(errand.destination)


def _came_from(request: HttpRequest) -> str:
    return local_path(unsent_form.sent(request).get("next", ""))


@never_cache
@form_action(page=lambda request: _came_from(request) or "/", button=lambda _request: _("Log out"))
def log_out(request: HttpRequest) -> HttpResponse:
    """Back to the page, if readers without account may see it."""
    logout(request)
    page = _came_from(request)
    return redirect(page if page and not is_for_members(view_at(page)) else settings.LOGOUT_REDIRECT_URL)


@sensitive_post_parameters()
@never_cache
@page_with_form
def sign_up(request: HttpRequest) -> HttpResponse:
    errand = LoginIntent.of(request)
    if _is_at_home(request, "password1"):
        return _arrived(request, errand)
    form = SignUpForm(request.POST or None)
    user = form.create() if request.method == "POST" and form.is_valid() else None
    if user := user or form.created_before(request):
        # After the account is committed: listeners to the login may act in the new member's name.
        login(request, user, backend=_BACKEND)
        messages.success(request, _("Welcome, %(name)s! Your account has been created.") % {"name": user.username})
        return _arrived(request, errand)
    _show_again(request, form)
    return render(request, "accounts/signup.html", {"form": form, "errand": errand})
