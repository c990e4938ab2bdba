"""The member whom an operation of moderators is about."""

from django.http import HttpRequest

from accounts.models import User
from articles.api.protocol.auth import require
from articles.web.identity import member_named

MOST_DAYS = 3650
"""Longest time that moderators can give: of a ban, or of what a sweep removes."""


def member_for(request: HttpRequest, name: str, *permissions: str) -> User:
    """Return the member. Raises PermissionDenied for readers without any of the permissions, and Http404."""
    require(request, *permissions)
    member: User = member_named(name)
    return member
