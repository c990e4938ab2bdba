"""The search, and what an address of the site leads to."""

from typing import Any, Literal
from urllib.parse import urlsplit

from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from articles.api.protocol.problems import Problem
from articles.domain.lists import Group, SearchOrder
from articles.text.lines import InvalidInput
from articles.text.links import clean_link
from articles.text.searching import read_query
from articles.web import articles, hiding
from articles.web.identity import reader_id
from articles.web.wiring import finder, group_titles, repository
from extras.lemmy.articles import shown_articles
from extras.lemmy.comments import comment_response
from extras.lemmy.groups import community_response
from extras.lemmy.members import member_of
from extras.lemmy.operations import Json, Number, Page, beyond, operation
from extras.lemmy.shapes import WHOLE_SITE, Shapes, slug_of

_MOST = 25  # communities, persons and articles of a link that one page has, as of articles and comments

Kind = Literal["All", "Comments", "Posts", "Communities", "Users", "Url"]


@operation("GET", "search", limited=("search",), word="invalid_query")
def search(
    request: HttpRequest,
    q: str,
    type_: Kind = "All",
    sort: str = "TopAll",
    community_id: Number | None = None,
    community_name: str | None = None,
    creator_id: Number | None = None,
    page: Page = 1,
) -> Json:
    """Search as the site does, 25 of each kind a page. A creator is searched as the site's `by:name`."""
    slug = slug_of(community_id, community_name) if community_id or community_name else WHOLE_SITE
    words = f"{q} by:{member_of(creator_id).get_username()}" if creator_id else q
    shapes, found = Shapes(request), dict[str, list[Json]](comments=[], posts=[], communities=[], users=[])
    place: dict[str, Any] = {"slug": None if slug == WHOLE_SITE else slug}
    place["hidden"] = hiding.applied(request, () if slug == WHOLE_SITE else [slug]).hidden
    if type_ in ("All", "Posts"):
        found["posts"] = shapes.post_views(_articles(request, words, sort, page, place))
    if type_ == "Url" and page == 1:
        found["posts"] = shapes.post_views(_of_link(request, q))
    if type_ in ("All", "Comments"):
        found["comments"] = _comments(request, shapes, words, page, place)
    if type_ in ("All", "Communities"):
        found["communities"] = _communities(shapes, q, page)
    if type_ in ("All", "Users") and page == 1:
        members = _members(q)
        found["users"] = [shapes.person_view(member_of(None, name)) for name in members]
    return {"type_": type_, **found}


def _articles(request: HttpRequest, words: str, sort: str, page: int, place: dict[str, Any]) -> Any:
    order = SearchOrder.TIME if sort == "New" else SearchOrder.RELEVANCE
    query, reader = read_query(words), reader_id(request)
    read = finder().get_page
    return beyond(lambda: read(repository(), query, order, page, reader=reader, **place).articles, ())


def _of_link(request: HttpRequest, raw: str) -> Any:
    try:
        return articles.posted_before(clean_link(raw), _MOST, reader_id(request)).articles
    except InvalidInput:
        return ()


def _comments(request: HttpRequest, shapes: Shapes, words: str, page: int, place: dict[str, Any]) -> list[Json]:
    query = read_query(words)
    comments = beyond(lambda: finder().get_comments(repository(), query, page, **place).comments, ())
    return shapes.comment_views(comments, shown_articles([one.article for one in comments], reader_id(request)))


def _communities(shapes: Shapes, text: str, page: int) -> list[Json]:
    """Return groups whose name or title has the text. Their articles are not counted here."""
    folded = text.strip().casefold()
    named = [
        Group(slug, title)
        for slug, title in sorted(group_titles().items())
        if folded and (folded in slug or folded in title.casefold())
    ]
    return [shapes.community_view(group) for group in named[(page - 1) * _MOST : page * _MOST]]


def _members(text: str) -> list[str]:
    return get_user_model().objects.beginning_with(text.strip().removeprefix("@"), _MOST) if text.strip() else []


def _place_at(address: str, host: str) -> tuple[str, dict[str, Any]]:
    """Return the route of a page of this host, and what it names; those of Lemmy's own pages have the same."""
    try:
        parts = urlsplit(address)
        path = parts.path.rstrip("/")
        place = resolve(f"{path}/") if parts.netloc.lower() == host.lower() else None
    except (ValueError, Resolver404):
        place = None
    if place is None or parts.scheme not in ("http", "https"):
        return "", {}
    route = place.kwargs.get("route", place.view_name)
    return ("articles:group", {"slug": WHOLE_SITE}) if route == "articles:front" else (route, place.kwargs)


@operation("GET", "resolve_object", limited=("search",), word="couldnt_find_object")
def resolve_object(request: HttpRequest, q: str) -> Json:
    """Find what an address of the site, `!group` or `@member` stands for."""
    shapes = Shapes(request)
    if q.startswith("!"):
        return {"community": community_response(shapes, slug_of(None, q[1:]))["community_view"]}
    if q.startswith("@"):
        return {"person": shapes.person_view(member_of(None, q[1:]))}
    route, named = _place_at(q, urlsplit(shapes.site).netloc)
    match route, named:
        case "articles:article", {"article_id": int(number)}:
            article = repository().articles.get(number, reader_id(request))
            return {"post": shapes.post_views([article])[0]}
        case "articles:comment", {"comment_id": int(number)}:
            return {"comment": comment_response(request, number)["comment_view"]}
        case "articles:group", {"slug": str(slug)}:
            return {"community": community_response(shapes, slug_of(None, slug))["community_view"]}
        case "articles:profile", {"name": str(name)}:
            return {"person": shapes.person_view(member_of(None, name))}
    raise Problem(404, "couldnt_find_object", _("There is nothing at this address."))
