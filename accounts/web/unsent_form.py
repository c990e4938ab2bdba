"""Keep what a member typed into a form that was not processed, and put it back into the form.

A form is not processed if its token is stale or the session has ended. In the first case the response is the
form's page again. In the second case the login form carries the content, signed, until the page can show it.
Nothing is stored before the login, except for an account that waits for approval: the session keeps the content
until that member logs in. It never enters a URL.
"""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

MOST_CHARACTERS = 45_000
"""Maximum number of characters that a login form carries; more than any form accepts."""

_KEPT_SECONDS = 86400
_SALT = "accounts.typed"
_IN_SESSION = "typed"
_TOKEN_FIELD = "csrfmiddlewaretoken"  # noqa: S105 - a field's name


def make_stale(request: HttpRequest, why: str = "") -> None:
    """Turn a POST that must not be processed into a GET of the same address, which changes nothing.

    `why`: a sentence, unless the page was out of date.
    """
    vars(request).update(stale=request.POST, why_stale=why)
    request.method = "GET"
    request.POST = QueryDict()


def is_stale(request: HttpRequest) -> bool:
    """Return whether the request was a POST with a stale token."""
    return "stale" in vars(request)


def sent(request: HttpRequest) -> QueryDict:
    """Return the form data of a request, including that of a stale form."""
    data: QueryDict = vars(request).get("stale") or request.POST
    return data


def fields_of(request: HttpRequest) -> list[tuple[str, str]]:
    """Return names and values of the form data, without the token."""
    return [
        (name, str(value)) for name, values in sent(request).lists() for value in values if name != _TOKEN_FIELD
    ]


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
            if form.add_prefix(name) in typed and not isinstance(field.widget, forms.PasswordInput):
                form.initial[name] = _value(form, name, typed)


def _value(form: forms.BaseForm, name: str, typed: QueryDict) -> Any:
    return form.fields[name].widget.value_from_datadict(typed, form.files, form.add_prefix(name))
