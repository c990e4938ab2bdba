"""Context processors: template variables beyond those that a view passes."""

from contextlib import suppress
from typing import Any

from django.http import HttpRequest
from django.template.backends.utils import csrf_input
from django.utils.functional import SimpleLazyObject

from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.domain.lists import Group
from articles.web.preferences import preferences_of
from articles.wiring import repository


def form_token(request: HttpRequest) -> dict[str, Any]:
    """Provide the hidden input of `csrf_input`, identical in all forms of a page, so that fifty compress to one.

    Created on first use: a page without forms sets no cookie, and can be cached.
    """
    return {"form_token": SimpleLazyObject(lambda: csrf_input(request))}


def groups(_request: HttpRequest) -> dict[str, Any]:
    """Provide all groups, sorted by title; none while the store is unavailable. Read on first use, in one call."""
    return {"all_groups": SimpleLazyObject(_groups)}


def _groups() -> list[Group]:
    with suppress(StoreUnavailable, StoreDamaged):
        return sorted(repository().groups.list_all(), key=lambda group: group.title.casefold())
    return []


def preferences(request: HttpRequest) -> dict[str, Any]:
    """Provide the reader's preferences, such as `preferences.theme`."""
    return {"preferences": SimpleLazyObject(lambda: preferences_of(request))}
