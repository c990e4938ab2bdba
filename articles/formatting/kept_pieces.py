"""Pieces of pages, and whole pages, that hardly differ between readers: rendered once, and kept in memory.

A piece is a pure function of the values that its template sees, and of the language; a value that was not passed
is an error. Where content differs between readers, or changes often, the template gets a gap, which is filled for
each reader. So no piece contains anything about another reader.
"""

import re
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.template import engines
from django.template.loader import render_to_string
from django.utils.translation import get_language
from markupsafe import Markup, escape

MOST_PIECES = 1_000
"""Pieces that a process keeps, up to 5 KB each; the least recently shown ones are dropped."""

MOST_PAGES = 300
"""Pages that a process keeps, about 20 KB each, likewise."""

_LONGEST_VALUE = 500
"""Characters of a value, such as the address of a page, with which a piece is kept."""

_GAP = re.compile(r"<!--gap (\w+)-->")

_TOKEN = "form_token"  # nosec B105 # noqa: S105 - the name of a gap

T = TypeVar("T")

_Parts = tuple[str, ...]
"""Text and names of gaps in turn, text first and last."""


def gap(name: str) -> Markup:
    """Return a placeholder that is filled in later. No text of a reader contains one, for they are escaped."""
    return Markup(f"<!--gap {name}-->")  # nosec B704 # noqa: S704 - our own names


class Outline(Hashable, Protocol):
    """All that a kept page depends on, except for the language and what is in its gaps."""

    @property
    def is_kept(self) -> bool:
        """Whether the page is small enough to be kept."""

    def context(self) -> Mapping[str, Any]:
        """Return what the template sees."""


def kept_page(template: str, outline: Outline, fillings: Mapping[str, object]) -> str:
    """Return the page that the template renders of an outline, with its gaps filled."""
    render = _kept(_page) if outline.is_kept else _page.__wrapped__
    return "".join(_filled(render(template, get_language(), outline), fillings.__getitem__))


def kept_piece(template: str, /, token: object = "", **values: Hashable) -> Markup:
    """Return the rendered template, which sees `values`, and `token` as `form_token`. Gaps in them stay gaps."""
    is_long = any(isinstance(value, str) and len(value) > _LONGEST_VALUE for value in values.values())
    render = _piece.__wrapped__ if is_long else _kept(_piece)
    parts = render(template, get_language(), bool(token), *values.items())
    filled = _filled(parts, lambda name: token if name == _TOKEN else gap(name))
    return Markup("".join(filled))  # nosec B704 # noqa: S704 - templates escape


def kept_macro(template: str, macro: str, *values: Hashable) -> Markup:
    """Return what a macro of the template draws of short `values`."""
    return _kept(_macro)(template, macro, get_language(), *values)


def drawn(template: str, context: dict[str, Any], request: HttpRequest | None = None) -> Markup:
    """Return a part of a page that is not kept, to be put into a gap."""
    return Markup(render_to_string(template, context, request, using="jinja2"))  # nosec B704 # noqa: S704 - it escapes


def _kept(render: Callable[..., T]) -> Callable[..., T]:
    """Return the function that keeps, or with DEBUG the plain one, so that a changed template shows."""
    return render.__wrapped__ if settings.DEBUG else render  # type: ignore[attr-defined]


@lru_cache(MOST_PIECES)
def _piece(template: str, _language: str | None, has_token: bool, *values: tuple[str, Hashable]) -> _Parts:
    return _rendered(template, dict(values) | {_TOKEN: gap(_TOKEN) if has_token else ""})


@lru_cache(MOST_PIECES)
def _macro(template: str, macro: str, _language: str | None, *values: Hashable) -> Markup:
    environment = engines["jinja2"].env  # type: ignore[attr-defined]
    drawn: Markup = getattr(environment.get_template(template).module, macro)(*values)
    return drawn


@lru_cache(MOST_PAGES)
def _page(template: str, _language: str | None, outline: Outline) -> _Parts:
    return _rendered(template, outline.context())


def _rendered(template: str, context: Mapping[str, Any]) -> _Parts:
    environment = engines["jinja2"].env  # type: ignore[attr-defined]
    return tuple(_GAP.split(environment.get_template(template).render(context)))


def _filled(parts: _Parts, filling: Callable[[str], object]) -> list[str]:
    """Return the text, with `filling` of each gap, escaped."""
    filled = list(parts)
    filled[1::2] = [escape(filling(name)) for name in parts[1::2]]
    return filled
