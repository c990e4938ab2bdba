"""The member whom an operation of moderators is about."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from ninja import P, PathEx

from accounts.models import User
from articles.api.protocol.auth import require
from articles.web.identity import member_named
from articles.web.moderation.subjects import subject_named

SubjectName = PathEx[
    str,
    P(
        description=gettext_noop("The member's name, or ~ and the number of a deleted account."),
        examples=["alice"],
    ),
]

MOST_DAYS = 3650
"""Longest time that moderators can give: of a ban, or of what a sweep removes."""


def member_for(request: HttpRequest, name: str, *permissions: str) -> User:
    """Return the member. Raises PermissionDenied for readers without any of the permissions, and Http404."""
    require(request, *permissions)
    member: User = member_named(name)
    return member


def subject_for(request: HttpRequest, name: str, *permissions: str) -> User:
    """Return the member, or the deleted account while it is known. Raises like `member_for`."""
    require(request, *permissions)
    return subject_named(name)
