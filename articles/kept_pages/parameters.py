"""Parameters in the addresses of public pages: those that each view reads. Others change nothing that it shows."""

from collections.abc import Collection, Mapping

from django.http import HttpRequest

from articles.domain.discussion.comments import CommentOrder

AFTER = "after"
"""The articles or comments that one reader has seen: no other reader has the same page."""

FILTER = ("min_points", "hide")
"""Parameters of feeds, which `articles.feeds.query` reads."""

_PLACE = ("page", AFTER)
_PLACE_IN_THREAD = ("comments", "start", AFTER)

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "articles:front": _PLACE,
    "articles:newest": _PLACE,
    "articles:hot": ("range", *_PLACE),
    "articles:active": _PLACE,
    "articles:top": ("range", *_PLACE),
    "articles:group": ("order", *_PLACE),
    "articles:host": ("order", "page"),
    "articles:groups": ("any",),
    "articles:article": _PLACE_IN_THREAD,
    "articles:comment": _PLACE_IN_THREAD,
    "articles:profile": ("page",),
    "articles:member_comments": ("page",),
    "articles:log": ("page",),
    "articles:search": ("q", "group", "order", "kind", "page"),
    "articles:feed": FILTER,
    "articles:top_feed": FILTER,
    "articles:group_feed": FILTER,
    "articles:host_feed": FILTER,
    "articles:user_feed": FILTER,
    "articles:search_feed": ("q", "group", *FILTER),
}
"""Parameters by view name. Public pages that are not listed read none."""


_LINKED: Mapping[str, Collection[str]] = {
    "comments": [order.value for order in CommentOrder],
    **dict.fromkeys(("start", "any", AFTER), ()),
}
"""Values with which the site links to a page that many readers see. Views check the parameters not listed."""


def known_parameters(request: HttpRequest, view: str) -> dict[str, str]:
    """Return the parameters that make it a page of many readers, in the order of the table, with their values."""
    read = [name for name in PARAMETERS.get(view, ()) if name in request.GET]
    return {name: request.GET[name] for name in read if _is_linked(name, request.GET[name])}


def _is_linked(name: str, value: str) -> bool:
    return name not in _LINKED or value in _LINKED[name]


def takes_filter(view: str) -> bool:
    """Return whether the view is of a feed that reads FILTER."""
    return set(FILTER) <= set(PARAMETERS.get(view, ()))


def is_exact(request: HttpRequest, view: str) -> bool:
    """Return whether the address has only parameters of `known_parameters`, each once."""
    return {name: [value] for name, value in known_parameters(request, view).items()} == dict(request.GET.lists())
