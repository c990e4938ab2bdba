"""The member's own name and permissions, articles posted, voted for, opposed and saved, and followed groups."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from ninja import P, PathEx, Query
from pydantic import BaseModel, Field

from articles.api import schemas
from articles.api.groups import GroupName
from articles.api.lists import read_list
from articles.api.protocol import cursors
from articles.api.protocol.operations import MEMBERS, SAVERS, ArticleNumber, failing, possible_page, router
from articles.domain import lists
from articles.domain.lists import Order
from articles.models import ArticlePermissions
from articles.text.slugs import requested_slug
from articles.web.identity import actor, may_be_untrusted, member_named, reader_id
from articles.web.preferences import current_groups, preferences_of, set_followed
from articles.web.wiring import repository

MemberName = PathEx[str, P(description="The member's name.", examples=["alice"])]


class OwnList(schemas.NumberedPage):
    """One page of a member's articles, newest first, or of those of the groups you follow."""

    articles: list[schemas.Article]
    hidden: schemas.Hidden

    @classmethod
    def of(
        cls, query: schemas.PageQuery, page: lists.MemberPage | lists.ArticlePage, next_after: str | None
    ) -> "OwnList":
        articles = [schemas.Article.of(article) for article in page.articles]
        hidden = page.hidden if isinstance(page, lists.ArticlePage) else 0
        return cls(
            articles=articles, page=query.number, has_next=page.has_next, next_after=next_after, hidden=hidden
        )


class FollowingQuery(schemas.PageQuery):
    """Which page of the articles in followed groups."""

    hidden: schemas.ShowHidden = None


class Saving(BaseModel):
    """Whether to save an article."""

    saved: bool = Field(examples=[True])


class Saved(BaseModel):
    """Whether an article is saved."""

    id: int
    saved: bool


class Following(BaseModel):
    """Whether to follow a group."""

    followed: bool = Field(examples=[True])


class Followed(BaseModel):
    """The groups you follow."""

    groups: list[str] = Field(description="Their names, in the order in which you followed them.")


class OwnLists(BaseModel):
    """Paths of your lists in this API."""

    voted: str
    opposed: str
    saved: str
    following: str
    posted: str


_PERMISSIONS = [name for name, _text in ArticlePermissions._meta.permissions]


class Me(schemas.Model):
    """Your name and your permissions."""

    name: str
    moderator: bool = Field(description="Whether you can edit or remove any article, or change its groups.")
    permissions: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": _PERMISSIONS}})
    """Your permissions beyond those of other members."""

    lists: OwnLists
    votes_wait: bool = Field(description="True while you are new, and your votes do not affect ranking yet.")


_MODERATING = {"assign_groups", "edit_any_article", "remove_articles"}

_OWN: dict[str, Any] = {
    "description": "Only you can see this list. Removed articles are left out.",
    "auth": MEMBERS,
}


@router.get("me", auth=MEMBERS)
def read_me(request: HttpRequest) -> Me:
    """Who you are. Your name, your permissions and the paths of your own lists."""
    prefix = f"{ArticlePermissions._meta.app_label}."
    permissions = sorted(
        name.removeprefix(prefix) for name in request.user.get_all_permissions() if name.startswith(prefix)
    )
    name = request.user.get_username()
    lists = {tab: reverse(f"api:list_{tab}") for tab in ("voted", "opposed", "saved", "following")}
    return Me(
        name=name,
        moderator=not _MODERATING.isdisjoint(permissions),
        permissions=permissions,
        lists=OwnLists(posted=reverse("api:list_posted", args=[name]), **lists),
        votes_wait=may_be_untrusted(request.user) and repository().left_out.get_state(actor(request).id).waits,
    )


@router.get("users/{name}/articles")
def list_posted(request: HttpRequest, name: MemberName, query: Query[schemas.PageQuery]) -> OwnList:
    """Articles of a member. Newest first, as on the member's page. Removed articles are left out."""
    poster, reader = member_named(name).pk, reader_id(request)
    return _by_time(request, query, partial(repository().members.get_posted, poster, reader=reader))


@router.get("me/voted", **_OWN)
def list_voted(request: HttpRequest, query: Query[schemas.PageQuery]) -> OwnList:
    """Articles you voted for."""
    return _by_time(request, query, partial(repository().members.get_voted, actor(request).id))


@router.get("me/opposed", **_OWN)
def list_opposed(request: HttpRequest, query: Query[schemas.PageQuery]) -> OwnList:
    """Articles you opposed."""
    return _by_time(request, query, partial(repository().members.get_opposed, actor(request).id))


@router.get("me/saved", **_OWN)
def list_saved(request: HttpRequest, query: Query[schemas.PageQuery]) -> OwnList:
    """Articles you saved."""
    return _by_time(request, query, partial(repository().members.get_saved, actor(request).id))


@router.get("me/following", auth=MEMBERS)
def list_following(request: HttpRequest, query: Query[FollowingQuery]) -> OwnList:
    """Articles of the groups you follow.

    Your personal front page: the articles of the groups you follow, each group with its share, without what you
    hide. Only you can see this list.
    """
    groups = current_groups(preferences_of(request).followed_groups)
    return OwnList.of(query, *read_list(request, Order.SCORE, query.page, groups, is_followed=True))


@router.get("me/groups", auth=MEMBERS)
def list_followed_groups(request: HttpRequest) -> Followed:
    """Groups you follow. Only you can see this list. A group that was merged is replaced by its target."""
    return Followed(groups=list(current_groups(preferences_of(request).followed_groups)))


@router.put("groups/{slug}/followed", response=failing(409), auth=SAVERS)
def follow_group(request: HttpRequest, slug: GroupName, following: Following) -> Followed:
    """Follow or unfollow a group.

    At most 50 groups. Idempotent. The response has all groups that you then follow.
    """
    groups = set_followed(actor(request).id, requested_slug(slug), wanted=following.followed)
    return Followed(groups=list(groups))


@router.put("articles/{article_id:article_id}/saved", response=failing(409), auth=SAVERS)
def save_article(request: HttpRequest, article_id: ArticleNumber, saving: Saving) -> Saved:
    """Save or unsave an article.

    Saves an article for later, or removes it from your saved articles. Idempotent.
    """
    repository().members.save(actor(request).id, article_id, wanted=saving.saved)
    return Saved(id=article_id, saved=saving.saved)


def _by_time(request: HttpRequest, query: schemas.PageQuery, read: Callable[..., lists.MemberPage]) -> OwnList:
    page = read(number=possible_page(query.page), after=cursors.position_in(request))
    return OwnList.of(query, page, cursors.next_after(request, page.last) if page.has_next else None)
