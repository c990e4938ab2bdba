"""What templates know beside what a view tells them."""

from typing import Any

from django.http import HttpRequest
from django.template.backends.utils import csrf_input
from django.utils.functional import SimpleLazyObject

from articles.preferences import preferences_of


def form_token(request: HttpRequest) -> dict[str, Any]:
    """The hidden input of `csrf_input`, the same in all forms of a page, so that fifty compress to one.

    Made when first used: a page without forms sets no cookie, and can be cached.
    """
    return {"form_token": SimpleLazyObject(lambda: csrf_input(request))}


def preferences(request: HttpRequest) -> dict[str, Any]:
    """How the reader wants the page: `preferences.theme` and the others."""
    return {"preferences": SimpleLazyObject(lambda: preferences_of(request))}
