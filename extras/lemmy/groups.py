"""Groups as Lemmy's communities: the list, one of them, following and hiding."""

from typing import Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import VOTE
from articles.api.protocol.problems import Problem
from articles.domain.lists import Group, Order
from articles.site import site_text
from articles.text.searching import Kind
from articles.web import hiding
from articles.web.identity import actor
from articles.web.preferences import set_followed
from articles.web.wiring import repository
from extras.lemmy.operations import MOST_LISTED, Json, Limit, Number, Page, operation
from extras.lemmy.shapes import WHOLE_SITE, Shapes, slug_of


def whole_site() -> Group:
    """Return what stands for the whole site. One round trip."""
    text = site_text("welcome")
    page = repository().lists.get_page(Order.TIME, size=1)
    return Group(WHOLE_SITE, "", page.total, text.text if text else "")


def community_response(shapes: Shapes, slug: str) -> Json:
    """Return a group with its description and moderators. Two round trips."""
    if slug == WHOLE_SITE:
        group = whole_site()
    else:
        groups = repository().groups
        counted = groups.get(slug)
        description = groups.get_descriptions([slug]).get(slug, "")
        group = Group(slug, counted.title, counted.articles, description)
    return {
        "community_view": shapes.community_view(group),
        "moderators": shapes.moderators_of(slug),
        "discussion_languages": [0],
    }


@operation("GET", "community", word="couldnt_find_community")
def get_community(request: HttpRequest, id: Number | None = None, name: str | None = None) -> Json:
    if id is None and name is None:
        raise Problem(400, "no_id_given", _("Send an id or a name."))
    return community_response(Shapes(request), slug_of(id, name))


@operation("GET", "community/list", word="couldnt_find_community")
def list_communities(
    request: HttpRequest,
    type_: Literal["All", "Local", "Subscribed", "ModeratorView"] = "All",
    page: Page = 1,
    limit: Limit = 10,
) -> Json:
    """List groups, the largest first, whatever the sort, after the community of the whole site."""
    shapes, size = Shapes(request), min(limit, MOST_LISTED)
    groups = sorted(repository().groups.list_all(with_descriptions=True), key=lambda group: group.sort_key)
    if type_ == "ModeratorView":
        groups = [group for group in groups if group.slug in getattr(request.user, "moderated", ())]
    elif type_ == "Subscribed":
        groups = [group for group in groups if group.slug in shapes.followed]
    else:
        groups.insert(0, whole_site())
    shown = groups[(page - 1) * size : page * size]
    return {"communities": [shapes.community_view(group) for group in shown]}


@operation("POST", "community/follow", scope=VOTE, word="couldnt_update_community")
def follow_community(request: HttpRequest, community_id: Number, follow: bool) -> Json:
    slug = _choosable(community_id)
    set_followed(actor(request).id, slug, wanted=follow)
    view = community_response(Shapes(request), slug)["community_view"]
    view["subscribed"] = "Subscribed" if follow else "NotSubscribed"
    return {"community_view": view, "discussion_languages": [0]}


@operation("POST", "community/block", scope=VOTE, word="couldnt_update_community")
def block_community(request: HttpRequest, community_id: Number, block: bool) -> Json:
    slug = _choosable(community_id)
    hiding.change(actor(request).id, Kind.GROUP, slug, hidden=block)
    view = community_response(Shapes(request), slug)["community_view"]
    return {"community_view": view | {"blocked": block}, "blocked": block}


def _choosable(number: int) -> str:
    """Return the slug of a group that members can follow or hide. Raises Problem, GroupNotFound."""
    if (slug := slug_of(number)) == WHOLE_SITE:
        raise Problem(409, "couldnt_update_community", _("This stands for the whole site: choose a group."))
    return slug
