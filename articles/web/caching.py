"""Cache headers of each view, for browsers, proxies and feed readers. docs/caching.md explains them.

They are set inside compression, and outside everything that makes a response vary (session, language, cookies).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers

from articles.configuration.choices import chosen
from articles.domain import extras
from articles.domain.lists import PAGES

SHARED_SECONDS = 10  # time for which a proxy may serve a list to readers without an account before it revalidates
FEED_SECONDS = 300
CRAWLER_SECONDS = 3600

PERSONAL_COOKIES = (settings.SESSION_COOKIE_NAME, "messages")

_ENCODINGS = ("br", "gzip")
_LONGEST_ENCODINGS = 500  # characters of Accept-Encoding that are read; a longer one accepts no encoding
_WEIGHT = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


@lru_cache(512)
def accepted_encodings(header: str) -> str:
    """Return which of `br` and `gzip` an Accept-Encoding accepts (RFC 9110, 12.5.3), separated by commas.

    A client that gives `identity` a higher weight wants neither. A malformed weight counts as 0.
    """
    weights: dict[str, float] = {}
    for part in header.lower().split(",") if len(header) <= _LONGEST_ENCODINGS else ():
        name, sign, parameter = (text.strip(" \t") for text in part.partition(";"))
        name = "gzip" if name == "x-gzip" else name
        match = _WEIGHT.fullmatch(parameter if sign else "q=1")
        weights[name] = min(weights.get(name, 1.0), float(match[1]) if match else 0.0)
    of_others, of_identity = weights.get("*", 0.0), weights.get("identity", 0.0)
    return ",".join(one for one in _ENCODINGS if 0.0 < weights.get(one, of_others) >= of_identity)


Response = TypeVar("Response", bound=HttpResponseBase)
Rule = Callable[[HttpRequest, HttpResponse], HttpResponse]


def _list(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let proxies share a page among readers without an account who send the same cookies and language."""
    _vary_by_reader(response)
    if _is_personal(request, response):
        patch_cache_control(response, private=True, no_cache=True)
        return response
    patch_cache_control(response, public=True, max_age=0, s_maxage=SHARED_SECONDS)
    return unless_known(request, response)


def _counted(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Make caches revalidate every request, because each one may count as a view."""
    _vary_by_reader(response)
    patch_cache_control(response, private=True, no_cache=True)
    return response if settings.SESSION_COOKIE_NAME in request.COOKIES else unless_known(request, response)


def _public(
    request: HttpRequest, response: HttpResponse, *, seconds: int, is_for_all: bool = True
) -> HttpResponse:
    """Let caches share a response that depends on no cookie and is always in the site's language.

    Unless it `is_for_all`, only the client's own cache may keep it on a site for members.
    """
    del response.headers["Vary"]
    response.headers["Content-Language"] = chosen.language
    response.cookies.clear()
    patch_vary_headers(response, ("Accept-Encoding",))
    is_private = chosen.is_for_members and not is_for_all
    patch_cache_control(response, **{"private" if is_private else "public": True}, max_age=seconds)
    return unless_known(request, response)


_feed = partial(_public, seconds=FEED_SECONDS, is_for_all=False)
_for_crawlers = partial(_public, seconds=CRAWLER_SECONDS)

_VIEWS: Mapping[Rule, Iterable[str]] = {
    _list: (
        *PAGES.values(),
        "search", "about", "rules", "host", "groups", "group", "profile", "member_comments", "log", "why",
        "comment",
    ),
    _counted: ("article",),
    _feed: (
        "feed", "comments_feed", "article_comments_feed", "member_comments_feed", "top_feed", "group_feed",
        "host_feed", "user_feed", "search_feed",
    ),
    _for_crawlers: (
        "manifest", "worker", "robots", "security_txt", "nodeinfo_links", "nodeinfo",
        "sitemap", "sitemap_lists", "sitemap_articles",
    ),
}  # fmt: skip
RULES: Mapping[str, Rule] = {
    **{f"articles:{view}": rule for rule, views in _VIEWS.items() for view in views},
    **{view.name: _list if view.cache == "list" else _feed for view in extras.views() if view.cache},
}
"""Rules by view name. Views not listed set their own Cache-Control; other responses to members are private."""

FEEDS = frozenset(view for view, rule in RULES.items() if rule is _feed)
"""Views of feeds that are the same for everyone."""


def with_cache_headers(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Set cache headers; return 304 if the client has the current version. The view has run in any case."""
    rule = RULES.get(request.resolver_match.view_name) if request.resolver_match else None
    is_read = request.method in ("GET", "HEAD") and response.status_code in (200, 304)
    if rule and is_read and not getattr(response, "is_outage", False):
        return rule(request, response)
    # Errors, forms and redirects: caches may store even a 404, which shows a member's name.
    if "Cache-Control" not in response.headers and _is_personal(request, response):
        patch_cache_control(response, private=True, no_cache=True)
    return response


def unlisted(response: Response) -> Response:
    """Return the response, which search engines are not to list."""
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _vary_by_reader(response: HttpResponse) -> None:
    patch_vary_headers(response, ("Accept-Encoding", "Accept-Language", "Cookie"))


def _is_personal(request: HttpRequest, response: HttpResponse) -> bool:
    """Return whether the response may depend on the reader: by a session, a message, or a cookie that it sets."""
    return bool(response.cookies) or not request.COOKIES.keys().isdisjoint(PERSONAL_COOKIES)


def unless_known(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the response with a weak ETag, or 304 with its headers and cookies."""
    if response.status_code == 304:
        return response
    if "ETag" not in response.headers:
        response.headers["ETag"] = f'W/"{blake2b(response.content, digest_size=16).hexdigest()}"'
    return get_conditional_response(request, etag=response.headers["ETag"], response=response) or response
