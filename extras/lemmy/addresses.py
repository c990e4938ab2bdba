"""Addresses that apps build from ids and names, as Lemmy's own pages and feeds have them.

They redirect to those of the site, and look nothing up: the page itself decides what exists for its reader.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from articles.configuration.choices import chosen
from articles.web.addresses import moved
from extras.lemmy.shapes import WHOLE_SITE, local_name

_OF_SITE = {"articles:group": ["articles:front"], "articles:group_feed": ["articles:feed", "front"]}
"""Where the community of the whole site leads, instead of to a group."""


@require_safe
def lead(_request: HttpRequest, route: str, **named: Any) -> HttpResponse:
    """Redirect to a page, or to a feed. Raises Http404 without `LEMMY_API`, and for a name of another site."""
    if not chosen.LEMMY_API:
        raise Http404("no addresses of Lemmy")
    *_article, value = named.values()
    name = local_name(value) if isinstance(value, str) else value
    if name is None:
        raise Http404("of another site")
    target, *args = _OF_SITE.get(route, [route, name]) if name == WHOLE_SITE else [route, name]
    return moved(reverse(target, args=[*args, *(["rss"] if target.endswith("feed") else ())]))


_ADDRESSES = {
    "post/<article_id:article_id>": "articles:article",
    "post/<article_id:article_id>/<comment_id:comment_id>": "articles:comment",
    "comment/<comment_id:comment_id>": "articles:comment",
    "c/<str:slug>": "articles:group",
    "u/<str:name>": "articles:profile",
    "feeds/c/<str:slug>.xml": "articles:group_feed",
    "feeds/u/<str:name>.xml": "articles:user_feed",
}
"""The site's routes, by Lemmy's addresses. What they name has the same name there."""

app_name = "lemmy_pages"
urlpatterns = [
    path(f"{address}{end}", lead, {"route": route}, name=route.partition(":")[2])
    for address, route in _ADDRESSES.items()
    for end in ("/", "")
]
