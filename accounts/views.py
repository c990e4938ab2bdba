"""Pages of members: login, sign-up, password, settings. None of them is ever cached."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.errand import Errand, local_path
from accounts.forms import (
    EmailForm,
    LoginForm,
    NewPasswordForm,
    PasswordChangeForm,
    PasswordResetForm,
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
    if request.method == "POST" and form.is_valid() and (user := form.create()):
        # After the account is committed: listeners to the login may act in the new member's name.
        login(request, user, backend=_BACKEND)
        return redirect(errand.destination)
    return render(request, "accounts/signup.html", {"form": form, "errand": errand})


@method_decorator(never_cache, name="dispatch")
class ChangePassword(SuccessMessageMixin, auth_views.PasswordChangeView):  # type: ignore[type-arg]
    """Keeps this session and ends the member's others."""

    form_class = PasswordChangeForm
    template_name = "accounts/password_change.html"
    success_url = reverse_lazy("accounts:settings")
    success_message = gettext_lazy("Your password has been changed.")


@never_cache
@_page_with_form
def reset_password(request: HttpRequest) -> HttpResponse:
    form = PasswordResetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.send_links(request)
        return redirect("accounts:password_reset_sent")
    return render(request, "accounts/password_reset.html", {"form": form})


@never_cache
def reset_sent(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/password_reset_sent.html")


class ConfirmReset(SuccessMessageMixin, auth_views.PasswordResetConfirmView):  # type: ignore[type-arg]
    """The page behind the link in a mail. The link works once, and not after a login or a new password."""

    form_class = NewPasswordForm
    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:login")
    success_message = gettext_lazy("Your password has been changed. Log in with the new one.")


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
            token, plaintext = Token.objects.issue(request.user, form.cleaned_data["name"])
        except TokenLimitError:
            form.add_error(None, _("You have as many tokens as one may have. Revoke one first."))
        else:
            return render(request, "accounts/token.html", {"token": token, "plaintext": plaintext})
    return _settings_page(request, EmailForm(instance=request.user), form)


@never_cache
@require_POST
@login_required
def revoke_token(request: MemberRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(Token, pk=token_id, user=request.user)
    token.delete()
    messages.success(request, _("The token “%(name)s” has been revoked.") % {"name": token.name})
    return redirect("accounts:settings")
