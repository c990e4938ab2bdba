"""Change a password, or reset it by a link from a mail. None of these pages is cached."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import sessions
from accounts.forms import NewPasswordForm, PasswordChangeForm, PasswordResetForm
from accounts.models import User
from accounts.passwords import note_password, password_confirmed
from accounts.sign_in.arrival import PASSWORD, arrive
from accounts.web import sent_forms
from accounts.web.form_pages import members_only, page_with_form
from accounts.web.login_intent import LoginIntent


def _where_there_are(view: Callable[..., Any]) -> Callable[..., Any]:
    """Lead to the login, or a member to the ways to sign in, while the site takes no passwords."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if settings.PASSWORDS:
            return view(request, *args, **kwargs)
        return redirect("accounts:security" if request.user.is_authenticated else "accounts:login")

    return guarded


@method_decorator([never_cache, page_with_form, _where_there_are], name="dispatch")
class ChangePassword(SuccessMessageMixin, auth_views.PasswordChangeView):  # type: ignore[type-arg]
    """Change the password. Keeps this session and ends the member's other sessions."""

    template_name = "accounts/password_change.html"
    success_url = reverse_lazy("accounts:security")
    success_message = gettext_lazy("Your password has been changed.")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Accept a form that arrives twice: the first changed the session key, so the second has no session."""
        if request.method == "POST" and not request.user.is_authenticated and (owner := self._member_if_done()):
            messages.success(request, str(self.success_message))
            return arrive(request, owner, LoginIntent(next=str(self.success_url)), PASSWORD)
        guard = members_only(proof=not self._has_password())  # a member without one sets one
        response: HttpResponseBase = guard(super().dispatch)(request, *args, **kwargs)
        return response

    def _has_password(self) -> bool:
        return isinstance(self.request.user, User) and self.request.user.has_usable_password()

    def get_form_class(self) -> Any:
        return PasswordChangeForm if self._has_password() else NewPasswordForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        sent_forms.refill(self.request)
        return super().get_context_data(**kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        note_password(self.request, form, "old_password")
        former = self.request.session.session_key
        response: HttpResponse = super().form_valid(form)
        sessions.record_new_key(former, self.request.session.session_key)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        if set(form.errors) == {"old_password"} and self._member_if_done():
            password_confirmed.send(sender=type(form), request=self.request)
            messages.success(self.request, str(self.success_message))
            return redirect(str(self.success_url))
        note_password(self.request, form, "old_password")
        return super().form_invalid(form)

    def _member_if_done(self) -> User | None:
        """Return the member whose password is the new one already, as name and password show; None otherwise."""
        posted, member = self.request.POST, self.request.user
        name = member.get_username() if member.is_authenticated else posted.get("username", "")
        if posted.get("new_password1") != posted.get("new_password2"):
            return None
        return sent_forms.already_has_password(self.request, name, posted.get("new_password1", ""))


@never_cache
@page_with_form
@_where_there_are
def reset_password(request: HttpRequest) -> HttpResponse:
    form = PasswordResetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.send_links(request)
        return redirect("accounts:password_reset_sent")
    sent_forms.refill(request, form)
    return render(request, "accounts/password_reset.html", {"form": form})


@never_cache
@require_safe
def reset_sent(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/password_reset_sent.html")


@method_decorator([page_with_form, _where_there_are], name="dispatch")
class ConfirmReset(SuccessMessageMixin, auth_views.PasswordResetConfirmView):  # type: ignore[type-arg]
    """Set a new password by the link from a mail. The link expires with its use, a login or a new password."""

    _JUST_SET = "password_just_set"
    """Where the session keeps whose password it has set: of no one else does the form check a password."""

    form_class = NewPasswordForm
    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:login")
    success_message = gettext_lazy("Your password has been changed. Log in with the new one.")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a form that arrives twice as the first time, although its link has expired."""
        response = super().dispatch(*args, **kwargs)
        posted = self.request.POST
        password = posted.get("new_password1", "")
        if self.validlink or self.user is None or password != posted.get("new_password2"):
            return response
        if self.request.session.get(self._JUST_SET) != self.user.pk:
            return response
        if not sent_forms.already_has_password(self.request, self.user.get_username(), password):
            return response
        messages.success(self.request, str(self.success_message))
        return redirect(str(self.success_url))

    def form_valid(self, form: Any) -> HttpResponse:
        self.request.session[self._JUST_SET] = form.user.pk
        return super().form_valid(form)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        if self.validlink:
            sent_forms.refill(self.request)
        return super().get_context_data(**kwargs)
