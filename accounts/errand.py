"""What a visitor came for: where to go after the login, and a vote that waits for it."""

import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

_CHOICES = ("vote", "oppose", "none")
_ARTICLE_ID = re.compile(r"\A[1-9][0-9]{0,18}\Z")
_DOORS = ("accounts:login", "accounts:signup", "accounts:logout")


def local_path(target: str) -> str:
    """`target` if it is a path of this site a browser cannot read as anything else, otherwise ''."""
    if not target.startswith("/") or "\\" in target or not target.isprintable():
        return ""
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        return ""
    return "" if urlsplit(target).path in map(reverse, _DOORS) else target


@dataclass(frozen=True, slots=True)
class Errand:
    """Every field is checked, and empty where the visitor brought nothing or nonsense."""

    next: str = ""
    article: str = ""
    choice: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> "Errand":
        """The errand in the address or, once the form is sent, in its hidden fields alone.

        So no vote is ever cast by a link to a login form that does not announce it.
        """
        values = request.POST if request.method == "POST" else request.GET
        article, choice = values.get("article", ""), values.get("choice", "")
        if not _ARTICLE_ID.match(article) or choice not in _CHOICES:
            article = choice = ""
        return cls(local_path(values.get("next", "")), article, choice)

    @property
    def destination(self) -> str:
        """Where to go when the visitor is logged in."""
        return self.next or resolve_url(settings.LOGIN_REDIRECT_URL)

    @property
    def fields(self) -> dict[str, str]:
        """What there is to carry, by the name of its field."""
        every = {"next": self.next, "article": self.article, "choice": self.choice}
        return {name: value for name, value in every.items() if value}

    @property
    def query(self) -> str:
        """The same for an address: `?next=…`, or ''."""
        return "?" + urlencode(self.fields) if self.fields else ""
