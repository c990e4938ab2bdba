"""Drawings that are kept in memory: pages, and parts of pages, that hardly differ between readers.

A drawing is a pure function of the values that its template sees, of the language, and of the owner's choices.
Where readers differ, or what is shown changes often, the template has a hole: `{{ hole.member }}` is the place of
the reader's name. Holes are left open in what is kept, and filled for each reader. So no drawing needs
invalidation, and none contains a reader's name, token or messages. A page that is not kept uses the same templates
with its own `hole`: see `articles.web.context`.
"""

import re
import secrets
from collections.abc import Hashable, Mapping
from functools import cache, lru_cache, partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.template import engines
from django.template.loader import render_to_string
from django.utils.translation import get_language
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from articles.configuration import choices

MOST_KEPT: Mapping[str, int] = {
    "articles/article.html": 200,  # 20 KB each
    "lists/list.html": 200,  # 10 KB
}
"""Drawings that a process keeps of a template; the least recently shown ones are dropped."""

MOST_KEPT_OF_OTHERS = 1_000  # 3 KB each, or less
LONGEST_VALUE = 500  # characters of a value, such as the address of a page, with which a piece is kept
_MARK = secrets.token_hex(8)
_HOLE = re.compile(f"<!--{_MARK} ([^>]+)-->")

_UNSAFE = re.compile("""[&<>"']""")

Parts = tuple[str, ...]  # text and names of holes in turn, text first and last


class _OpenHoles:
    """What a template sees as `hole` while it is drawn to be kept: the marks of the places, by name."""

    def __getitem__(self, name: str) -> Markup:
        return Markup(f"<!--{_MARK} {name}-->")  # nosec B704 # noqa: S704 - names are our own, or slugs


OPEN = _OpenHoles()

Holes = Mapping[str, object] | _OpenHoles  # contents of holes by name, which are escaped when they are filled in


def filled(parts: Parts, holes: Holes) -> Markup:
    """Return the text with the contents of its holes. Raises KeyError for a hole without content."""
    texts, contents = list(parts), {name: _escaped(holes[name]) for name in dict.fromkeys(parts[1::2])}
    texts[1::2] = [contents[name] for name in parts[1::2]]
    return Markup("".join(texts))  # nosec B704 # noqa: S704 - templates escape


def _escaped(content: object) -> str:
    """Escape a content as `markupsafe` does, which is not called where nothing is to be escaped."""
    is_safe = type(content) is Markup or (type(content) is str and _UNSAFE.search(content) is None)
    return content if is_safe else escape(content)  # type: ignore[return-value]


def piece(template: str, holes: Holes, /, **values: Hashable) -> Markup:
    """Return the drawing of a template that sees these values, with its holes filled; raises as `filled`.

    One with a very long value is not kept.
    """
    is_short = all(not isinstance(value, str) or len(value) <= LONGEST_VALUE for value in values.values())
    return filled(drawing_of(template, values, keep=is_short), holes)


@pass_context
def kept_piece(context: Context, template: str, /, **values: Hashable) -> Markup:
    """Return a part of the page with the page's own holes: open ones if the page is being kept."""
    return piece(template, context["hole"], **values)


def drawing_of(template: str, values: Mapping[str, Hashable], *, keep: bool = True) -> Parts:
    """Return the drawing in the active language, with open holes. `keep`: whether to keep it.

    `values`: what the template sees beside `hole`, and all that the drawing depends on.
    """
    draw = keeper(template)
    if settings.DEBUG or not keep:  # a changed template shows
        draw = draw.__wrapped__
    version = choices.in_force.value.version  # each request loads them first
    parts: Parts = draw(get_language(), version, tuple(values.items()))
    return parts


@cache
def keeper(template: str) -> Any:
    """Return the function that draws the template, and keeps what it drew, an `lru_cache`."""
    return lru_cache(MOST_KEPT.get(template, MOST_KEPT_OF_OTHERS))(partial(_drawn, template))


def _drawn(template: str, _language: str | None, _choices: int, values: tuple[tuple[str, Hashable], ...]) -> Parts:
    found = engines["jinja2"].env.get_template(template)  # type: ignore[attr-defined]
    return tuple(_HOLE.split(found.render(values, hole=OPEN)))


def drawn(template: str, context: dict[str, Any], request: HttpRequest | None = None) -> Markup:
    """Return a part of a page that is not kept, to be put into a hole."""
    return Markup(render_to_string(template, context, request, using="jinja2"))  # nosec B704 # noqa: S704 - it escapes
