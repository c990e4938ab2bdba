"""What a visitor came for: where to go after the login, and a vote that waits for it."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from django.conf import settings
from django.dispatch import Signal
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.web import unsent_form

_CHOICES = ("vote", "oppose", "none")
_ARTICLE_ID = re.compile(r"\A[1-9][0-9]{0,18}\Z")
_DOORS = ("accounts:login", "accounts:signup", "accounts:logout")


member_arrived = Signal()
"""Sent with `request`, `user` and `errand` when a member has logged in or signed up by a form."""


def view_at(address: str) -> Callable[..., Any] | None:
    """The view at a local address; None if there is none."""
    try:
        return resolve(unquote(urlsplit(address).path)).func
    except Resolver404:
        return None


def local_path(target: str) -> str:
    """`target` if it is a path of this site a browser cannot read as anything else, otherwise ''.

    Addresses that only take forms are nowhere to go either.
    """
    if not target.startswith("/") or "\\" in target or not target.isprintable():
        return ""
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        return ""
    is_door = urlsplit(target).path in map(reverse, _DOORS)
    return "" if is_door or hasattr(view_at(target), "form_page") else target


@dataclass(frozen=True, slots=True)
class LoginIntent:
    """Every field is checked, and empty where the visitor brought nothing or nonsense."""

    next: str = ""
    article: str = ""
    choice: str = ""
    typed: str = ""
    """What was typed into the form of the page at `next`, sealed by `accounts.web.unsent_form`."""

    @classmethod
    def of(cls, request: HttpRequest) -> "LoginIntent":
        """The errand in the address or, once the form is sent, in its hidden fields alone.

        So no vote is ever cast by a link to a login form that does not announce it.
        """
        is_sent = request.method == "POST" or unsent_form.is_stale(request)
        values = unsent_form.sent(request) if is_sent else request.GET
        article, choice = values.get("article", ""), values.get("choice", "")
        if not _ARTICLE_ID.match(article) or choice not in _CHOICES:
            article = choice = ""
        return cls(local_path(values.get("next", "")), article, choice, values.get("typed", "") if is_sent else "")

    @property
    def destination(self) -> str:
        """Where to go when the visitor is logged in."""
        return self.next or resolve_url(settings.LOGIN_REDIRECT_URL)

    @property
    def fields(self) -> dict[str, str]:
        """What there is to carry, by the name of its field."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def query(self) -> str:
        """The same for an address: `?next=…`, or ''. What was typed stays out of it."""
        fields = {name: value for name, value in self.fields.items() if name != "typed"}
        return "?" + urlencode(fields) if fields else ""
