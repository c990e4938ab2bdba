"""Forms as browsers send them: their token, those that were not processed, and those that arrive twice.

A token gets a new mask for each page, like Django's, in a tenth of the time. What was typed into a form that was
not processed is kept. A double click sends the same form again before the first response is shown.
"""

import secrets
from collections.abc import Collection
from datetime import timedelta
from operator import add
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate
from django.core import signing
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError
from django.middleware.csrf import (
    CSRF_ALLOWED_CHARS,
    CSRF_SECRET_LENGTH,
    REASON_CSRF_TOKEN_MISSING,
    REASON_NO_CSRF_COOKIE,
    CsrfViewMiddleware,
    get_token,
)
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.translation import gettext as _
from markupsafe import Markup

from accounts import names
from accounts.models import User

_COOKIE = "CSRF_COOKIE"
_LETTERS = CSRF_ALLOWED_CHARS.encode()
_MANY = len(_LETTERS)

_NUMBERS = bytes(max(0, _LETTERS.find(byte)) for byte in range(256))  # translates letters to their numbers

_CYCLE = bytes(_LETTERS[byte % _MANY] for byte in range(256))
"""Translates numbers, and sums of two of them, to letters."""

_UNEVEN = bytes(range(256 // _MANY * _MANY, 256))
"""Random bytes that are left out, so that each letter is equally likely."""

_DRAWN = 2 * CSRF_SECRET_LENGTH


def form_token_input(request: HttpRequest) -> Markup:
    """Return the hidden input of `csrf_input`."""
    # A token is made of letters and digits.
    field = f'<input type="hidden" name="csrfmiddlewaretoken" value="{form_token(request)}">'
    return Markup(field)  # nosec B704 # noqa: S704


def form_token(request: HttpRequest) -> str:
    """Return the token as Django's `get_token` does; the response then sets or renews its cookie."""
    secret = request.META.get(_COOKIE)
    if secret is None or len(secret) != CSRF_SECRET_LENGTH:
        return str(get_token(request))
    request.META["CSRF_COOKIE_NEEDS_UPDATE"] = True
    return masked(secret)


def masked(secret: str) -> str:
    """Return a random mask, and the secret shifted by it."""
    mask = b""
    while len(mask) < CSRF_SECRET_LENGTH:
        mask += secrets.token_bytes(_DRAWN).translate(_CYCLE, _UNEVEN)
    mask = mask[:CSRF_SECRET_LENGTH]
    shifted = bytes(map(add, mask.translate(_NUMBERS), secret.encode().translate(_NUMBERS)))
    return (mask + shifted.translate(_CYCLE)).decode()


def comes_from_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser reports that the form is on another origin, including other subdomains.

    Browsers without Sec-Fetch-Site report it by the Origin header only.
    """
    if site := request.headers.get("Sec-Fetch-Site"):
        return site not in ("same-origin", "none")
    if (origin := request.headers.get("Origin")) is None:
        return False
    own = {request.get_host(), urlsplit(settings.SITE_URL).netloc} - {""}
    return origin.partition("://")[2] not in own


def is_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser reports that a page of another origin sent the request. Its host may be any."""
    if "HTTP_ORIGIN" not in request.META and "HTTP_SEC_FETCH_SITE" not in request.META:
        return False
    try:
        return comes_from_elsewhere(request)
    except DisallowedHost:  # refused further inside
        return True


MOST_CHARACTERS = 45_000  # maximum number of characters that a login form carries; more than any form accepts

_KEPT_SECONDS = 86400
_SALT = "accounts.typed"
_IN_SESSION = "typed"
_TOKEN_FIELD = "csrfmiddlewaretoken"  # noqa: S105 - a field's name


def make_stale(request: HttpRequest, why: str = "") -> None:
    """Turn a POST that must not be processed into a GET. `why`: a sentence; by default, it is out of date."""
    vars(request).update(stale=request.POST, why_stale=why)
    request.method = "GET"
    request.POST = QueryDict()


def is_stale(request: HttpRequest) -> bool:
    """Return whether the request was a POST with a stale token."""
    return "stale" in vars(request)


def is_refused(request: HttpRequest) -> bool:
    """Return whether a limit has refused the form, which must not be read for more than to show it again."""
    return bool(vars(request).get("why_stale"))


def sent(request: HttpRequest) -> QueryDict:
    """Return the form data of a request, including that of a stale form."""
    data: QueryDict = vars(request).get("stale") or request.POST
    return data


def has_typed(request: HttpRequest) -> bool:
    """Return whether the request brings what was typed into a form: now, before a login, or into a stale one."""
    return request.method == "POST" or not vars(request).keys().isdisjoint(("stale", "kept"))


def fields_of(request: HttpRequest) -> list[tuple[str, str]]:
    """Return names and values of the form data, without the token."""
    return [
        (name, str(value)) for name, values in sent(request).lists() for value in values if name != _TOKEN_FIELD
    ]


_STALE = (REASON_NO_CSRF_COOKIE, REASON_CSRF_TOKEN_MISSING, "CSRF token from POST", "CSRF cookie ")
"""Prefixes of the rejection reasons after which a form may be sent again; none of them means a foreign origin."""


class FormTokenMiddleware(CsrfViewMiddleware):
    """Django's CSRF check, except that a form of this site with a stale token is returned to the reader.

    Tokens change with each login, so forms in other tabs become stale. Such a POST is turned into a GET before
    the view runs, so it changes nothing. Views opt in by `form_pages.page_with_form` or `form_pages.form_action`.
    Other views answer 403, and so does every view to a form sent from another site.
    """

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse | None:
        gives_back = request.resolver_match and hasattr(request.resolver_match.func, "gives_back")
        is_stale = request.method == "POST" and reason.startswith(_STALE) and not comes_from_elsewhere(request)
        if gives_back and is_stale:
            make_stale(request)
            return None
        rejection: HttpResponse = super()._reject(request, reason)  # type: ignore[misc]
        return rejection

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Answer a stale form with 403, because nothing was changed, and restore the request's method.

        A member's browser keeps the cookie that it has, for a year. After that, the next page sets another one.
        """
        if is_stale(request):
            request.method = "POST"
            if response.status_code == 200:
                response.status_code = 403
        cookies, secret = request.COOKIES, request.META.get(_COOKIE)
        if settings.SESSION_COOKIE_NAME in cookies and cookies.get(settings.CSRF_COOKIE_NAME) == secret:
            request.META["CSRF_COOKIE_NEEDS_UPDATE"] = False
        return super().process_response(request, response)


def page_of(request: HttpRequest) -> str:
    """Return the address of the page a request belongs to: its own, or that of the form for POST-only views."""
    match = request.resolver_match
    form_page = getattr(match.func, "form_page", None) if match else None
    try:
        if match and form_page:
            if callable(form_page):
                return str(form_page(request, *match.args, **match.kwargs))
            return resolve_url(form_page)
    except (SuspiciousOperation, UnreadablePostError):  # the form itself is unreadable
        return settings.LOGIN_REDIRECT_URL
    is_a_page = match or request.method in ("GET", "HEAD")
    return request.get_full_path() if is_a_page else settings.LOGIN_REDIRECT_URL


def sealed(request: HttpRequest, page: str, names: Collection[str]) -> str:
    """Return the named fields of the form data, signed, for the page at this address; '' if empty or too large."""
    fields = {name: values for name, values in sent(request).lists() if name in names}
    size = sum(len(value) for values in fields.values() for value in values)
    if not 0 < size <= MOST_CHARACTERS:
        return ""
    return signing.dumps({"page": urlsplit(page).path, "fields": fields}, salt=_SALT, compress=True)


def keep(request: HttpRequest, seal: str, waiting: int | None = None) -> None:
    """Store the content that a login form carried in the session. Ignore a forged or expired signature.

    `waiting`: id of an account that waits for approval. The session then has no member yet, and the content is for
    this account only.
    """
    try:
        content = signing.loads(seal, salt=_SALT, max_age=_KEPT_SECONDS)
    except signing.BadSignature:
        return
    request.session[_IN_SESSION] = content | {"waiting": waiting}


def _kept(request: HttpRequest) -> dict[str, Any]:
    """Return what the session keeps for this member; {} if there is nothing."""
    kept: dict[str, Any] = request.session.get(_IN_SESSION) or {}
    return kept if kept.get("waiting") in (None, request.user.pk) else {}


def page_after_approval(request: HttpRequest) -> str:
    """Return the address of the page for what this member typed before the approval; '' if there is nothing."""
    kept = _kept(request)
    return str(kept["page"]) if kept.get("waiting") else ""


def take_out(request: HttpRequest) -> None:
    """Move the content stored for this page from the session to the request, so that it is shown once."""
    kept = _kept(request) if request.method == "GET" else None
    if not kept or kept["page"] != request.path:
        return
    del request.session[_IN_SESSION]
    typed = QueryDict(mutable=True)
    for name, values in kept["fields"].items():
        typed.setlist(name, values)
    vars(request)["kept"] = typed


def refill(request: HttpRequest, *forms_of_page: forms.BaseForm, stale_text: str = "") -> None:
    """Fill a page's forms with what was typed before, except passwords, and add a message that says why."""
    if is_stale(request):
        warning = (
            vars(request)["why_stale"]
            or stale_text
            or _("This page was out of date, so nothing has been changed yet. Please send it again.")
        )
        messages.warning(request, warning)
    elif "kept" in vars(request):
        messages.info(request, _("This is what you typed before you logged in. It has not been sent yet."))
    typed: QueryDict = vars(request).get("stale") or vars(request).get("kept") or QueryDict()
    for form in forms_of_page:
        for name, field in form.fields.items():
            if _is_in(typed, form.add_prefix(name), field.widget):
                form.initial[name] = _value(form, name, typed)


def _is_in(typed: QueryDict, name: str, widget: forms.Widget) -> bool:
    """Return whether a field was sent, by itself or in parts, and is no password."""
    if isinstance(widget, forms.MultiWidget):
        return not widget.value_omitted_from_data(typed, {}, name)  # type: ignore[arg-type]
    return name in typed and not isinstance(widget, forms.PasswordInput)


def _value(form: forms.BaseForm, name: str, typed: QueryDict) -> Any:
    return form.fields[name].widget.value_from_datadict(typed, form.files, form.add_prefix(name))


RESUBMISSION_WINDOW = timedelta(minutes=1)
"""Age of a change up to which a second identical form counts as the same submission."""


def just_signed_up(request: HttpRequest, username: str, password: str) -> User | None:
    """Return the account that an identical sign-up form created within `RESUBMISSION_WINDOW`, or None.

    The password is verified as in a login, so the form gives no access that a login would not.
    """
    canonical, oldest = names.canonical(username), timezone.now() - RESUBMISSION_WINDOW
    if not User.objects.filter(canonical_name=canonical, date_joined__gte=oldest).exists():
        return None
    return _authenticated(request, username, password)


def already_has_password(request: HttpRequest, username: str, password: str) -> User | None:
    """Return the member whose password is already the new one, verified as in a login, or None."""
    return _authenticated(request, username, password) if username and password else None


def has_just_left(name: str) -> bool:
    """Return whether the account with this name was deleted within `RESUBMISSION_WINDOW`."""
    canonical, oldest = names.canonical(name), timezone.now() - RESUBMISSION_WINDOW
    spellings = [canonical, names.former_name_digest(canonical)]
    return User.objects.filter(canonical_name__in=spellings, left_at__gte=oldest).exists()


def _authenticated(request: HttpRequest, username: str, password: str) -> User | None:
    member = authenticate(request, username=username, password=password)
    return member if isinstance(member, User) else None
