"""List groups, and change them as a moderator. The rules are those of the forms."""

from collections.abc import Collection, Sequence
from typing import Literal, TypeVar

from django import forms
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import P, PathEx, Status
from pydantic import BaseModel, Field

from accounts.moderators import ASSIGN_GROUPS
from articles.api import schemas
from articles.api.protocol.operations import MODERATORS, failing, require, router
from articles.api.protocol.problems import Problem
from articles.domain import lists
from articles.domain.errors import GroupExists
from articles.domain.lists import MEMBERS
from articles.text.lines import clean_group_description, clean_reason
from articles.text.slugs import clean_slug, requested_slug
from articles.web.forms import fields
from articles.web.forms.groups import EditForm, GroupForm
from articles.web.groups import liveliness, merge, set_visibility, visibility_of
from articles.web.identity import actor
from articles.web.rights import acting, may_in_groups
from articles.web.wiring import repository

Form = TypeVar("Form", bound=forms.Form)

GroupName = PathEx[str, P(description="The group's name, as in its address.", examples=["python"])]


class Group(BaseModel):
    """A named set of articles."""

    slug: str = Field(description="Its name in URLs and parameters.")
    title: str
    articles: int = Field(description="Number of articles in the group, without removed ones.")
    description: str = Field(description="What belongs in it, in Markdown; empty for none.")
    visible: Literal["everyone", "members"] = Field(description="Who sees it and its articles.")
    followers: int = Field(description="Members who follow it; some seconds old.")
    moderators: list[str] = Field(description="Names of the members who moderate it; some seconds old.")
    latest: float | None = Field(
        description="When its latest article was posted, in Unix seconds; null for none. Some seconds old."
    )

    @classmethod
    def of(cls, group: lists.Group, description: str) -> "Group":
        lively = liveliness()
        return schemas.made(
            cls,
            group,
            description=description,
            visible=visibility_of(group.slug),
            followers=lively.followers.get(group.slug, 0),
            moderators=list(lively.moderators.get(group.slug, ())),
            latest=lively.latest.get(group.slug),
        )


class GroupList(BaseModel):
    """All groups, the largest first."""

    groups: list[Group]


class NewGroup(schemas.Model):
    """A group to create."""

    title: str = Field(examples=["Machine Learning"])
    """At most 60 characters; the name in URLs is derived from it."""


class Renaming(schemas.Model):
    """A new title for a group, a new description, or both."""

    title: str | None = Field(None, examples=["Python and friends"])
    """At most 60 characters; if omitted, the title stays the same."""

    description: str | None = None
    """Markdown, at most 2,000 characters; if omitted, the description stays the same. Empty for none."""

    visible: Literal["everyone", "members"] | None = Field(
        None, description="Who sees it and its articles; if omitted, that stays the same."
    )
    reason: schemas.PublicReason = ""


class Merging(BaseModel):
    """The group to merge into."""

    into: str = Field(description="Name of the other group.", examples=["redis"])
    reason: schemas.PublicReason = ""


class Merged(BaseModel):
    """Result of merging a group."""

    into: str = Field(description="Name of the group that now has its articles.")
    moved: int = Field(description="Number of articles moved, including removed ones.")


_LOCATION = {"Location": {"description": "The group's address in the API.", "schema": {"type": "string"}}}


@router.get("groups")
def list_groups(request: HttpRequest) -> GroupList:  # noqa: ARG001 - ninja's
    """All groups. Every group with its title, size and description, the largest first."""
    groups = sorted(repository().groups.list_all(with_descriptions=True), key=lambda group: group.sort_key)
    return GroupList(groups=[Group.of(group, group.description) for group in groups])


@router.post(
    "groups", response=failing(409), openapi_extra={"responses": {201: {"headers": _LOCATION}}}, auth=MODERATORS
)
def create_group(request: HttpRequest, response: HttpResponse, group: NewGroup) -> Status[Group]:
    """Create a group. Moderators only. The name in URLs is derived from the title."""
    require(request, ASSIGN_GROUPS)
    groups = repository().groups
    form = _checked(GroupForm({"title": group.title}, known=groups.get_titles()))
    groups.create(form.slug, form.cleaned_data["title"], actor(request))
    response["Location"] = reverse("api:read_group", args=[form.slug])
    return Status(201, _group(form.slug))


@router.get("groups/{slug}")
def read_group(request: HttpRequest, slug: GroupName) -> Group:  # noqa: ARG001 - ninja's
    """One group.

    If the group was merged, the response is 404 with the code group-moved and the name of the other group.
    """
    return _group(slug)


@router.patch("groups/{slug}", response=failing(409), auth=MODERATORS)
def rename_group(request: HttpRequest, slug: GroupName, change: Renaming) -> Group:
    """Rename or describe a group.

    Moderators only. The name in URLs stays the same. Moderators of the group cannot change who sees it.
    Idempotent.
    """
    if not may_in_groups(request.user, ASSIGN_GROUPS):
        raise PermissionDenied
    group, groups, reason = _group(slug), repository().groups, _reason(change.reason)
    moderator = acting(request, ASSIGN_GROUPS, [group.slug])
    if change.visible is not None:
        require(request, ASSIGN_GROUPS)
    if change.title is None and change.description is None and change.visible is None:
        raise Problem(400, "invalid", _("Send a title, a description, or who sees the group."))
    description = None
    if change.description is not None:
        description = fields.check_links(clean_group_description(change.description), current=group.description)
    if change.title is not None:
        renamed = lists.Group(group.slug, group.title)
        form = _checked(EditForm({"title": change.title}, group=renamed, groups=groups.list_all()))
        groups.rename(group.slug, form.cleaned_data["title"], moderator, reason)
    if description is not None:
        groups.describe(group.slug, description, moderator, reason)
    if change.visible is not None:
        set_visibility(group.slug, moderator, reason, is_closed=change.visible == MEMBERS)
    return _group(group.slug)


@router.post("groups/{slug}/merge", auth=MODERATORS)
def merge_group(request: HttpRequest, slug: GroupName, merging: Merging) -> Merged:
    """Merge a group into another.

    Moderators only. Moves all articles into the other group and closes this one: its page then redirects to the
    other. This cannot be undone.
    """
    require(request, ASSIGN_GROUPS)
    group, into = _group(slug), clean_slug(merging.into)
    check_groups([into], repository().groups.get_titles())
    if group.slug == into:
        raise Problem(400, "invalid", _("A group cannot be merged into itself."))
    moved = merge(group.slug, into, actor(request), _reason(merging.reason))
    return Merged(into=into, moved=moved)


def _group(name: str) -> Group:
    """Return the group with this name, in any spelling. Raises GroupNotFound."""
    groups = repository().groups
    group = groups.get(requested_slug(name))
    return Group.of(group, groups.get_descriptions([group.slug]).get(group.slug, ""))


def _checked(form: Form) -> Form:
    """Return the form if it is valid. Raises GroupExists, or Problem for any other error."""
    if not form.is_valid():
        refusal = next(iter(form.errors.as_data().values()))[0]
        if refusal.code == "taken":
            raise GroupExists
        raise Problem(400, refusal.code or "group-title-no-address", refusal.messages[0])
    return form


def _reason(raw: str) -> str:
    return clean_reason(raw) if raw else ""


def slugs_of(names: Sequence[str]) -> list[str]:
    """Return the slugs of these names of groups, each once. Raises InvalidInput."""
    return list(dict.fromkeys(map(clean_slug, names)))


def check_groups(slugs: Sequence[str], known: Collection[str], at_most: int | None = None) -> None:
    """Raise Problem for groups that are not `known`, or more than `at_most`."""
    try:
        fields.check_groups(slugs, known, at_most)
    except ValidationError as refused:
        raise Problem(400, refused.code or "", refused.messages[0]) from None
