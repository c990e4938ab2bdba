"""Logging in from an app: a password, and a second step if there is one, for a token of the site.

The token is named after the app and does not allow moderating. It is in the settings, where it can be revoked.
Limits, log lines and messages are those of the login page.
"""

from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import Field

from accounts.forms import LoginForm
from accounts.models import POST, READ, VOTE, Token, TokenLimitError, User
from accounts.passwords import password_confirmed
from accounts.sign_in import codes
from accounts.web.backend import needs_second_factor
from articles.api.protocol.problems import Problem
from articles.configuration.choices import site_address
from articles.web import limits
from articles.web.forms.fields import clean_token_label
from extras.lemmy.operations import Json, operation
from extras.lemmy.shapes import when
from extras.lemmy.words import as_jwt

LIFE = timedelta(days=365)  # time for which the token of an app works, as a session does at most

_LONGEST_APP = 40  # characters
_NAMELESS = ("", "Mozilla")  # what programs say they are whose address says more


@operation("POST", "user/login", is_open=True, word="incorrect_login")
def log_in(
    request: HttpRequest,
    username_or_email: Annotated[str, Field(max_length=320)],
    password: str,
    totp_2fa_token: Annotated[str, Field(max_length=codes.LONGEST_CODE)] | None = None,
) -> Json:
    if not settings.PASSWORDS:
        raise Problem(401, "incorrect_login", _("This site takes no passwords. Use a token from your settings."))
    member = _named(request, username_or_email, password)
    if member.second_factor:
        _take_second_step(request, member, totp_2fa_token)
    elif needs_second_factor(member):
        raise Problem(403, "missing_totp_secret", _("Log in on the site first, and set up a second step."))
    try:
        scopes, expires_at = (READ, VOTE, POST), timezone.now() + LIFE
        token, plaintext = Token.objects.issue(member, app_of(request), scopes=scopes, expires_at=expires_at)
    except TokenLimitError:
        message = _("You have reached the limit of tokens. Revoke one first.")
        raise Problem(409, "system_err_login", message) from None
    password_confirmed.send(sender=__name__, request=request)
    return {
        "jwt": as_jwt(token, plaintext, urlsplit(site_address(request)).netloc),
        "registration_created": False,
        "verify_email_sent": False,
    }


def _named(request: HttpRequest, name: str, password: str) -> User:
    """Return the member with this name and password, as the login page does. Raises Problem, LimitReached."""
    sent: Any = QueryDict(mutable=True)
    sent.update({"username": name, "password": password})
    request.POST = sent
    limits.take_password(request)
    form = LoginForm(request, sent)
    if form.is_valid():
        member: User = form.get_user()
        return member
    (first, *_others) = form.errors.as_data().get(
        "__all__", [ValidationError(_("Incorrect username or password."))]
    )
    word = "registration_application_is_pending" if first.code == "waiting" else "incorrect_login"
    raise Problem(401, word, first.messages[0])


def _take_second_step(request: HttpRequest, member: User, code: str | None) -> None:
    """Check a code of the member's app, or a recovery code. Raises Problem."""
    if not code:
        password_confirmed.send(sender=__name__, request=request)  # as the page that asks for the code
        raise Problem(401, "missing_totp_token", _("Enter a code of your authenticator app, or a recovery code."))
    if not codes.accept(member, code):
        credentials = {"username": member.get_username()}
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)
        raise Problem(401, "incorrect_totp_token", _("This code is wrong, expired or used."))


def app_of(request: HttpRequest) -> str:
    """Return the name of the app that asks: what its User-Agent begins with, or the host of a web app."""
    product = request.headers.get("User-Agent", "").partition("/")[0].strip()
    if product in _NAMELESS:
        product = _host_of(request.headers.get("Origin", ""))
    try:
        return clean_token_label(product[:_LONGEST_APP])
    except ValidationError:
        return "Lemmy"


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


@operation("POST", "user/logout", scope=READ)
def log_out(request: HttpRequest) -> Json:
    """Revoke the token with which the app asks."""
    token: Token = vars(request)["token"]
    token.delete()
    return {"success": True}


@operation("GET", "user/list_logins", scope=READ)
def list_logins(request: Any) -> Any:
    """List the member's tokens, with their names."""
    return [
        {"user_id": request.user.pk, "published": when(token.created_at), "user_agent": token.name}
        for token in request.user.tokens.all()
    ]
