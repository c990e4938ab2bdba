"""What to do after a login: the page to return to, and a pending vote."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from django.conf import settings
from django.dispatch import Signal
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.web import sent_forms
from articles.domain import extras

_CHOICES = ("vote", "oppose", "none")
_ID = re.compile(r"\A[1-9][0-9]{0,18}\Z")
_TOKEN = re.compile(r"\A[A-Za-z0-9_-]{22}\Z")


member_arrived = Signal()  # sent with `request`, `user` and `intent` after a login or sign-up by a form


LOGIN_PAGES = frozenset(
    (
        *(f"accounts:{page}" for page in ("login", "signup", "logout", "confirm", "second_step")),
        *(view.name for view in extras.views() if view.is_login_page),
    )
)
"""Names of the pages to which no login leads back."""


def match_at(address: str) -> ResolverMatch | None:
    """Return the route of a local address; None if none matches."""
    try:
        return resolve(unquote(urlsplit(address).path))
    except Resolver404:
        return None


def view_at(address: str) -> Callable[..., Any] | None:
    """Return the view at a local address; None if no route matches."""
    match = match_at(address)
    return match.func if match else None


def local_path(target: str) -> str:
    """Return `target` if it is a path of this site in every browser, and no login page or POST; else ''."""
    return _local_path(target) if len(target) <= _KEPT_LENGTH else _local_path.__wrapped__(target)


_KEPT_LENGTH = 200
"""Characters of the longest address whose answer is kept: most forms of a page name the same short one."""


@lru_cache(500)
def _local_path(target: str) -> str:
    if not target.startswith("/") or "\\" in target or not target.isprintable():
        return ""
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        return ""
    match = match_at(target)
    return "" if match and (match.view_name in LOGIN_PAGES or hasattr(match.func, "form_page")) else target


@dataclass(frozen=True, slots=True)
class LoginIntent:
    """What a reader intends to do after the login. Every field is validated; invalid values become empty."""

    next: str = ""
    article: str = ""  # the article that the pending vote is on
    comment: str = ""  # the comment that it is on instead
    choice: str = ""
    typed: str = ""  # content of the unsent form on the page `next`, signed by `accounts.web.sent_forms`
    connect: str = ""
    """Token of what a receiver of `member_arrived` connects to the account, such as one elsewhere."""

    @classmethod
    def from_request(cls, request: HttpRequest) -> "LoginIntent":
        """Return the intent in the URL or, for a sent form, in its hidden fields only.

        A pending vote is thus cast only by a form that announced it, never by a crafted URL.
        """
        is_sent = request.method == "POST" or sent_forms.is_stale(request)
        values = sent_forms.sent(request) if is_sent else request.GET
        article, comment, choice = (values.get(name, "") for name in ("article", "comment", "choice"))
        if not _ID.match(article or comment) or (article and comment) or choice not in _CHOICES:
            article = comment = choice = ""
        typed, connect = (values.get(name, "") if is_sent else "" for name in ("typed", "connect"))
        connect = connect if _TOKEN.match(connect) else ""
        return cls(local_path(values.get("next", "")), article, comment, choice, typed, connect)

    @property
    def destination(self) -> str:
        """Address to redirect to after the login."""
        return self.next or resolve_url(settings.LOGIN_REDIRECT_URL)

    @property
    def fields(self) -> dict[str, str]:
        """Values of the hidden fields, by name."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def query(self) -> str:
        """The fields as a query string, `?next=…`, or ''. What only a form may carry never enters a URL."""
        fields = {name: value for name, value in self.fields.items() if name not in ("typed", "connect")}
        return "?" + urlencode(fields) if fields else ""
