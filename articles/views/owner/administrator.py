"""The first administrator, whom the person with the terminal creates: by a command, or in the browser by a code.

Each start of a site without an administrator prints a new code. It is valid once, for a day, and only while there
is no administrator. It is typed into a form, or follows the `#` of an address, so it is in no access log.
"""

import secrets
import time
from base64 import b32encode
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.forms import SignUpForm
from accounts.mail import send_verification
from accounts.models import User
from accounts.sign_in.arrival import PASSWORD, arrive
from accounts.web.form_pages import members_only, page_with_form, show_form
from accounts.web.login_intent import LoginIntent
from articles.models import SiteSetting

VALID_SECONDS = 86400
PATH = "administration/first/"
"""Where the code is used. The launcher prints it, and does not import all views, which takes a second."""

_ROW = "first administrator"
_BYTES, _GROUP = 15, 6  # a code has 120 random bits: 24 letters and digits, in groups

View = Callable[..., HttpResponse]


def administrators_only(view: View) -> View:
    """Restrict a view to administrators: logged-out readers see the login page, members get 403.

    Other staff, whom an administrator permitted something in Django's admin site, are led there.
    """

    @wraps(view)
    @members_only(carries=("text",))
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_staff and not request.user.is_superuser:
            return redirect("admin:index")
        if not request.user.is_superuser:
            raise PermissionDenied("for administrators")
        return view(request, *args, **kwargs)

    return guarded


def is_missing() -> bool:
    """Return whether the site has no administrator. One query."""
    return not User.objects.filter(is_superuser=True, is_active=True).exists()


def issue_code() -> str:
    """Return a new code, which replaces the former one; "" if there is an administrator. Keeps only its digest."""
    if not is_missing():
        return ""
    letters = b32encode(secrets.token_bytes(_BYTES)).decode()
    expires = int(time.time()) + VALID_SECONDS
    SiteSetting.objects.update_or_create(name=_ROW, defaults={"text": f"{_digest(letters)} {expires}"})
    return "-".join(letters[start : start + _GROUP] for start in range(0, len(letters), _GROUP))


def _digest(letters: str) -> str:
    return sha256(letters.encode()).hexdigest()


def _is_valid(code: str) -> bool:
    """Return whether this is the code, and still valid. Locks it until the end of a transaction."""
    row = SiteSetting.objects.select_for_update().filter(name=_ROW).first()
    digest, _space, expires = row.text.partition(" ") if row else ("", "", "0")
    letters = "".join(code.upper().replace("-", " ").split())
    return is_missing() and time.time() < int(expires) and constant_time_compare(digest, _digest(letters))


_WRONG_CODE = gettext_lazy("This code is wrong, used or expired. The site prints another when it is restarted.")


class FirstAdministratorForm(SignUpForm):
    """Create the first administrator. Accepts reserved names: this account represents the site."""

    accepts_reserved = True
    code = forms.CharField(
        max_length=100,
        label=gettext_lazy("Code"),
        help_text=gettext_lazy("The site prints it where it was started."),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )
    field_order = ("code", "username", "email", "password1", "password2")

    def clean_code(self) -> str:
        """Check the code before the password, whose hash takes a fifth of a second."""
        code: str = self.cleaned_data["code"]
        with transaction.atomic():
            if not _is_valid(code):
                raise ValidationError(_WRONG_CODE, code="wrong")
        return code

    def save(self, commit: bool = True) -> Any:
        user = super().save(commit)
        user.is_staff = user.is_superuser = True
        return user

    def create_administrator(self) -> User | None:
        """Create the account, which uses up the code; return None, with an error, if another form was faster."""
        with transaction.atomic():
            if not _is_valid(self.cleaned_data["code"]):
                self.add_error("code", ValidationError(_WRONG_CODE, code="wrong"))
                return None
            user = self.create()
            if user:
                SiteSetting.objects.filter(name=_ROW).delete()
            return user


@sensitive_post_parameters()
@never_cache
@page_with_form
def create_first(request: HttpRequest) -> HttpResponse:
    """Create the first administrator with the code; while there is one, lead to the administration."""
    if not is_missing():
        return redirect("articles:administration")
    form = FirstAdministratorForm(request.POST or None)
    if form.is_valid() and (user := form.create_administrator()):
        if user.email:
            send_verification(request, user)
        welcome = _("Welcome, %(name)s! You are this site’s administrator.")
        messages.success(request, welcome % {"name": user.username})
        return arrive(request, user, LoginIntent(next=reverse("articles:administration")), PASSWORD)
    return show_form(request, "owner/first_administrator.html", form)
