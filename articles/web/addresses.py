"""Addresses of the site: redirects to them, and path converters, which importing this module registers."""

from functools import lru_cache

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.urls import Resolver404, register_converter, resolve, reverse
from django.urls.converters import IntConverter, StringConverter
from django.utils.cache import patch_cache_control
from markupsafe import Markup

from articles.domain.lists import PAGES, TOP_PERIODS, Order

_ANY_NUMBER = 123454321


@lru_cache(maxsize=8192)
def path_of(route: str, *args: object, **kwargs: object) -> str:
    """Return the path of a named route, like `reverse`. Cached, because it depends on nothing else.

    The number in a path can be a hole, see `articles.formatting.kept`.
    """
    is_hole = bool(args) and isinstance(args[0], Markup)
    if is_hole or (args and type(args[0]) is int and args[0] > 0):
        before, after = _around_number(route, *args[1:])
        path = f"{before}{args[0]}{after}"
        return Markup(path) if is_hole else path  # nosec B704 # noqa: S704 - a route of the site
    return reverse(route, args=args or None, kwargs=kwargs or None)


@lru_cache
def _around_number(route: str, *others: object) -> tuple[str, str]:
    """Return what is around the first number in the path of a route. Django takes 40 µs for each path."""
    before, _, after = reverse(route, args=[_ANY_NUMBER, *others]).partition(str(_ANY_NUMBER))
    return before, after


def redirect_to_path(request: HttpRequest, path: str) -> HttpResponse:
    """Return a permanent redirect to `path`, with the query of the request."""
    query = request.META.get("QUERY_STRING", "")
    return HttpResponsePermanentRedirect(path + (f"?{query}" if query else ""))


def redirect_without_slash(request: HttpRequest) -> HttpResponse | None:
    """Return a permanent redirect to the address without its trailing slash; None if that is no page either.

    For addresses such as `/healthz/`. Django itself redirects from `/newest` to `/newest/`.
    """
    if not request.path_info.endswith("/"):
        return None
    try:
        match = resolve(request.path_info[:-1])
    except Resolver404:
        return None
    if match.url_name is None:  # the catch-all pattern of the API
        return None
    return redirect_to_path(request, request.get_full_path().partition("?")[0][:-1])


def moved(path: str, query: str = "") -> HttpResponse:
    """Return a redirect that browsers do not keep; `query` is without its question mark.

    For names whose meaning can change again: the slug of a merged group can be reused, and an operator can change
    the spelling of a member's name. Browsers keep a permanent redirect.
    """
    response = HttpResponseRedirect(f"{path}?{query}" if query else path)
    patch_cache_control(response, private=True, no_cache=True)
    return response


class ArticleIdConverter(IntConverter):
    """An article's id in its canonical spelling: ASCII digits, no sign, no leading zero."""

    regex = "[1-9][0-9]{0,14}"


class CommentIdConverter(ArticleIdConverter):
    """A comment's id, spelled like an article's. It has at least seven digits."""

    regex = "[1-9][0-9]{6,14}"


class FeedListConverter(StringConverter):
    """A list of all articles that has one feed; that of the most points has one for each period."""

    regex = "|".join(name for order, name in PAGES.items() if order is not Order.POINTS)


class FeedPeriodConverter(StringConverter):
    """Period of a feed of the articles with the most points."""

    regex = "|".join(TOP_PERIODS)


class FeedKindConverter(StringConverter):
    """Format of a feed, the suffix of its address."""

    regex = "atom|rss|json"


register_converter(ArticleIdConverter, "article_id")
register_converter(CommentIdConverter, "comment_id")
register_converter(FeedListConverter, "feed_list")
register_converter(FeedPeriodConverter, "feed_period")
register_converter(FeedKindConverter, "feed_kind")
