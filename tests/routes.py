"""The addresses of the site, read from its URL configuration."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from tests import extras

SAMPLES = {
    "comment_id": "1000001",
    "slug": "python",
    "slugs": "python",
    "host": "example.org",
    "name": "alice",
    "uidb64": "MQ",
    "identity": "1",
    "token": "x-y",
    "kind": "atom",
    "period": "day",
    "number": "1",
    "app_label": "accounts",
}


def sample(name: str) -> str:
    """Return a value of a parameter of addresses; those with numbers end in `_id`."""
    return SAMPLES.get(name, "1" if name.endswith("_id") else "x")


_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


class Route(NamedTuple):
    """One address, with its parameters as `<converter:name>`."""

    pattern: str
    view: Callable[..., Any]
    name: str = ""  # its name with its namespace

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.pattern)

    def path(self, **values: str) -> str:
        """Return the address with these values, and samples for the other parameters."""
        return _PARAMETER.sub(lambda name: values.get(name[1], sample(name[1])), self.pattern)


def routes() -> list[Route]:
    return list(_routes(get_resolver().url_patterns))


FOR_PROGRAMS = [path for paths in extras.all_of("FOR_PROGRAMS") for path in paths]
"""Addresses among those of pages to which programs post, without a session and its token."""


def routes_of_pages() -> list[Route]:
    """Return the site's own pages: not the administration's addresses and not the API's."""
    return [route for route in routes() if not route.pattern.startswith(("/admin/", "/api/"))]


def _routes(patterns: list[Any], prefix: str = "/", namespace: str = "") -> Iterator[Route]:
    for found in patterns:
        route = prefix + re.sub(r"[\^$\\]|\(\?P?.*?\)", "", str(found.pattern))
        if isinstance(found, URLResolver):
            yield from _routes(found.url_patterns, route, found.namespace or namespace)
        elif isinstance(found, URLPattern):
            yield Route(route, found.callback, f"{namespace}:{found.name}".removeprefix(":") if found.name else "")
