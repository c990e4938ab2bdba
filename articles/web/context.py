"""What templates know beside what a view tells them."""

from contextlib import suppress
from typing import Any

from django.http import HttpRequest
from django.template.backends.utils import csrf_input
from django.utils.functional import SimpleLazyObject

from articles.domain.errors import StoreUnavailable
from articles.domain.lists import Group
from articles.web.preferences import preferences_of
from articles.wiring import repository


def form_token(request: HttpRequest) -> dict[str, Any]:
    """The hidden input of `csrf_input`, the same in all forms of a page, so that fifty compress to one.

    Made when first used: a page without forms sets no cookie, and can be cached.
    """
    return {"form_token": SimpleLazyObject(lambda: csrf_input(request))}


def groups(_request: HttpRequest) -> dict[str, Any]:
    """All groups by their titles, none while the store is away; asked for where a page shows them."""
    return {"all_groups": SimpleLazyObject(_groups)}


def _groups() -> list[Group]:
    with suppress(StoreUnavailable):
        return sorted(repository().groups.list_all(), key=lambda group: group.title.casefold())
    return []


def preferences(request: HttpRequest) -> dict[str, Any]:
    """How the reader wants the page: `preferences.theme` and the others."""
    return {"preferences": SimpleLazyObject(lambda: preferences_of(request))}
