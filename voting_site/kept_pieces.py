"""Pieces of pages that hardly differ between readers: rendered once, and kept in memory.

A piece is a pure function of the values that the page passes to its template, and of the language. The template
sees nothing else, and a missing value is an error: so no piece contains anything of another reader.
"""

from collections.abc import Hashable
from functools import lru_cache

from django.conf import settings
from django.template import engines
from django.utils.translation import get_language
from markupsafe import Markup, escape

MOST_PIECES = 1_000
"""Pieces that a process keeps, up to 5 KB each; those that were not shown for longest are dropped."""

_LONGEST_VALUE = 500
"""Characters of a value, such as the address of a page, with which a piece is kept."""

_TOKEN = Markup("<!--form-token-->")
"""Where the token of the reader's forms goes into a piece, which is kept without it."""


def kept_piece(template: str, /, token: object = "", **values: Hashable) -> Markup:
    """Return the rendered template, which sees `values`, and `token` as `form_token`."""
    is_long = any(isinstance(value, str) and len(value) > _LONGEST_VALUE for value in values.values())
    # With DEBUG, none is kept, so that a changed template shows.
    render = _rendered.__wrapped__ if is_long or settings.DEBUG else _rendered
    piece = render(template, get_language(), bool(token), *values.items())
    return piece.replace(_TOKEN, escape(token)) if token else piece


@lru_cache(MOST_PIECES)
def _rendered(template: str, _language: str | None, has_token: bool, *values: tuple[str, Hashable]) -> Markup:
    environment = engines["jinja2"].env  # type: ignore[attr-defined]
    form_token = _TOKEN if has_token else ""
    drawn = environment.get_template(template).render(values, form_token=form_token)
    return Markup(drawn)  # nosec B704 # noqa: S704 - templates escape
