"""What members write about themselves, and what their pages show of them."""

from typing import Any

from django.http import HttpRequest
from pydantic import Field

from accounts.models.members import current_name
from accounts.web.form_pages import MemberRequest
from articles.api import schemas
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import AUTHORS, router
from articles.web import profiles
from articles.web.identity import member_named
from articles.web.wiring import repository

_MOST_INVITED = 1000
_MARKDOWN = "Profile text, in Markdown; empty if there is none."


class Member(schemas.Model):
    """A member, as their page shows them."""

    name: str
    joined: float = Field(description="When the account was created, in Unix seconds.")
    points: int = Field(description="From other members, for the newest 100 articles.")
    about: str = Field(description=_MARKDOWN)
    invited_by: str | None
    """Who invited the member; empty if that account is deleted, null for no one or if you cannot see it."""

    invited: list[str]
    """Whom the member invited, at most 1,000; empty for a deleted account. No one if you cannot see it."""

    vouched_for_by: list[str]
    """Who vouched for the member; empty for a deleted account. No one if you cannot see who invited whom."""


class About(schemas.Model):
    """Your profile text."""

    about: str = Field(examples=["Gardener in Lyon. I read about *soil*."])
    """In Markdown, at most 500 characters; empty to remove it."""


@router.get("users/{name}")
def read_member(request: HttpRequest, name: MemberName) -> Member:
    """A member. What the member's page shows at the top."""
    return _described(request, member_named(name))


def _described(request: HttpRequest, member: Any) -> Member:
    shown = profiles.invitations(member, request, _MOST_INVITED)
    return Member(
        name=member.get_username(),
        joined=member.date_joined.timestamp(),
        points=repository().members.get_points(member.pk),
        about=member.about if profiles.is_about_visible(member, request) else "",
        invited_by=current_name(shown.inviter) if shown.inviter else None,
        invited=[current_name(one) for one in shown.invited],
        vouched_for_by=[one.by_name for one in profiles.vouches(member, request).given],
    )


@router.put("me/about", auth=AUTHORS)
def change_about(request: MemberRequest, about: About) -> Member:
    """Change your profile text.

    Everyone can read it on your profile. New members cannot put links into it. Idempotent.
    """
    profiles.change_about(request, about.about)
    return _described(request, member_named(request.user.get_username()))
