"""Pages of members: login, sign-up, settings. None of them is ever cached."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.errand import Errand, local_path
from accounts.forms import (
    EmailForm,
    LoginForm,
    SignUpForm,
    TokenForm,
)
from accounts.models import Token, TokenLimitError, User

_BACKEND = "django.contrib.auth.backends.ModelBackend"
_page_with_form = require_http_methods(["GET", "HEAD", "POST"])


class MemberRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User


@sensitive_post_parameters()
@never_cache
@_page_with_form
def log_in(request: HttpRequest) -> HttpResponse:
    errand = Errand.of(request)
    if request.user.is_authenticated:
        return redirect(errand.destination)
    form = LoginForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(errand.destination)
    return render(request, "accounts/login.html", {"form": form, "errand": errand})


@never_cache
@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect(local_path(request.POST.get("next", "")) or settings.LOGOUT_REDIRECT_URL)


@sensitive_post_parameters()
@never_cache
@_page_with_form
def sign_up(request: HttpRequest) -> HttpResponse:
    errand = Errand.of(request)
    if request.user.is_authenticated:
        return redirect(errand.destination)
    form = SignUpForm(request.POST or None)
    user = form.create() if request.method == "POST" and form.is_valid() else None
    if user := user or form.created_before(request):
        # After the account is committed: listeners to the login may act in the new member's name.
        login(request, user, backend=_BACKEND)
        return redirect(errand.destination)
    return render(request, "accounts/signup.html", {"form": form, "errand": errand})


@never_cache
@_page_with_form
@login_required
def member_settings(request: MemberRequest) -> HttpResponse:
    member = User.objects.get(pk=request.user.pk)
    form = EmailForm(request.POST or None, instance=member)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Your e-mail address has been saved."))
        return redirect("accounts:settings")
    return _settings_page(request, form, TokenForm())


def _settings_page(request: MemberRequest, email_form: EmailForm, token_form: TokenForm) -> HttpResponse:
    context = {
        "email_form": email_form,
        "token_form": token_form,
        "tokens": list(request.user.tokens.all()),
        "tokens_per_user": Token.objects.PER_USER,
    }
    return render(request, "accounts/settings.html", context)


@never_cache
@require_POST
@login_required
def issue_token(request: MemberRequest) -> HttpResponse:
    """The only page that ever shows the token: it is nowhere in an address, and not stored."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            token, plaintext = Token.objects.issue(request.user, form.cleaned_data["name"], once=True)
        except TokenLimitError:
            form.add_error(None, _("You have as many tokens as one may have. Revoke one first."))
        else:
            return render(request, "accounts/token.html", {"token": token, "plaintext": plaintext})
    return _settings_page(request, EmailForm(instance=request.user), form)


@never_cache
@require_POST
@login_required
def revoke_token(request: MemberRequest, token_id: int) -> HttpResponse:
    token = Token.objects.filter(pk=token_id, user=request.user).first()
    if token is None:
        messages.info(request, _("You have no such token: it may have been revoked already."))
        return redirect("accounts:settings")
    token.delete()
    messages.success(request, _("The token “%(name)s” has been revoked.") % {"name": token.name})
    return redirect("accounts:settings")
