"""What moderators may see, and what they cannot decide: about themselves, and against each other.

They may act against themselves, such as by removing their own article, but not reverse such an act. The core asks
here; all else of moderation stands above it.
"""

from contextlib import suppress
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Q
from django.http import HttpRequest

from accounts.models import AboutFlag, Ban, User
from accounts.moderators import ASSIGN_GROUPS, BAN_MEMBERS, EDIT_ANY_ARTICLE, REMOVE_ARTICLES
from articles.domain.articles import Article
from articles.domain.comments import is_root
from articles.domain.errors import (
    ArticleNotFound,
    CommentNotFound,
    FellowModerator,
    OwnMatter,
    StoreDamaged,
    StoreUnavailable,
)
from articles.domain.flags import SubjectId
from articles.domain.members import UserId
from articles.domain.moderation_log import REDACTED, Action, LogEntry
from articles.domain.suggestions import SuggestionKind
from articles.site import count_sign_ups
from articles.wiring import repository
from owner.choices import Recent, chosen


def check_not_own(member: UserId, moderator: UserId) -> None:
    """Raise OwnMatter if a decision concerns the moderator, or what the moderator posted."""
    if member == moderator:
        raise OwnMatter


def check_target(member: User, permission: str, moderator: UserId) -> None:
    """Raise OwnMatter, or FellowModerator for a member with the permission that an act against members needs."""
    check_not_own(member.pk, moderator)
    if member.has_perm(permission):
        raise FellowModerator


def have_any(*permissions: str) -> Q:
    """Return the condition on members that they have one of these permissions.

    It begins with those who have permissions: `with_perm` would ask of every member.
    """
    names = [name.partition(".")[2] for name in permissions]
    rows = Permission.objects.filter(content_type__app_label="articles", codename__in=names)
    in_groups = User.groups.through.objects.filter(group__permissions__in=rows).values("user")
    by_hand = User.user_permissions.through.objects.filter(permission__in=rows).values("user")
    return Q(is_superuser=True) | Q(pk__in=in_groups) | Q(pk__in=by_hand)


def author_of_flagged(subject: SubjectId, moderator: UserId) -> UserId:
    """Return who posted what is flagged, even if it is removed. One round trip.

    Raises OwnMatter, ArticleNotFound, CommentNotFound.
    """
    author = repository().flags.get_author(subject)
    if author is None:
        raise ArticleNotFound(subject) if is_root(subject) else CommentNotFound(subject)
    check_not_own(author, moderator)
    return author


RING_PERMISSIONS = (REMOVE_ARTICLES, ASSIGN_GROUPS)
"""Permissions, any of which lets a member see voting rings."""


def may_decide(request: HttpRequest, article: Article, kind: SuggestionKind) -> bool:
    """Return whether the reader decides on suggestions of this kind for an article: its poster, and moderators."""
    user = request.user
    permission = EDIT_ANY_ARTICLE if kind is SuggestionKind.TITLE else ASSIGN_GROUPS
    return user.is_authenticated and (article.poster == user.pk or user.has_perm(permission))


def undoable(entry: LogEntry, article: Article) -> SuggestionKind | None:
    """Return what an entry of the article's log changed, if it is a suggestion whose change is still there."""
    if entry.action is not Action.APPLY_SUGGESTION:
        return None
    if title := entry.details.get("old_title"):
        return SuggestionKind.TITLE if article.title == entry.title and title != REDACTED else None
    added, removed = (set(filter(None, entry.details.get(name, "").split(","))) for name in ("added", "removed"))
    is_there = added <= {*article.groups} and removed.isdisjoint(article.groups)
    return SuggestionKind.GROUPS if is_there else None


class VotingRingsLink:
    """What the navigation of moderators shows of voting rings. Reads the store only when the number is drawn."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def is_shown(self) -> bool:
        return any(map(self._request.user.has_perm, RING_PERMISSIONS))

    @property
    def flagged(self) -> int:
        """The number of flagged articles; 0 while the store is unavailable."""
        with suppress(StoreUnavailable, StoreDamaged):
            return repository().voting_rings.count()
        return 0


class QueueLink:
    """What the navigation of moderators shows of the queue. Reads the store only when the number is drawn."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def is_shown(self) -> bool:
        return any(map(self._request.user.has_perm, (REMOVE_ARTICLES, BAN_MEMBERS)))

    @property
    def waiting(self) -> int:
        """The number of entries in the queue, with appeals; without flags while the store is unavailable."""
        return _count_flagged() + (_count_appeals() if self._request.user.has_perm(BAN_MEMBERS) else 0)


def _count_flagged() -> int:
    with suppress(StoreUnavailable, StoreDamaged):
        return repository().flags.count() + AboutFlag.objects.count_waiting()
    return 0


def _count_appeals() -> int:
    return Ban.objects.with_open_appeals().count()


def _load_waiting() -> tuple[int, int, int]:
    """Return the numbers of flagged subjects, open appeals and sign-ups. Three queries, one round trip."""
    return _count_flagged(), _count_appeals(), count_sign_ups()


_waiting: Recent[tuple[int, int, int]] = Recent(_load_waiting, (0, 0, 0))
forget_waiting = _waiting.forget


def count_waiting(user: Any, *, now: bool = False) -> int:
    """Return how much waits for a decision of this member. Every process counts once in some seconds, or `now`."""
    removes: bool = user.has_perm(REMOVE_ARTICLES)
    bans: bool = user.has_perm(BAN_MEMBERS)
    if not (removes or bans):
        return 0
    if now:
        forget_waiting()
    flags, appeals, sign_ups = _waiting.get()
    return flags + bans * appeals + removes * sign_ups


def may_see_subjects(request: HttpRequest) -> bool:
    """Return whether the reader may see the moderators' page about members and deleted accounts."""
    user = request.user
    return user.is_authenticated and any(map(user.has_perm, (BAN_MEMBERS, REMOVE_ARTICLES)))


def may_see_inviters(request: HttpRequest) -> bool:
    """Return whether the reader may see who invited whom, as INVITATION_TREE says."""
    readers = chosen.INVITATION_TREE
    return readers == "public" or (readers == "moderators" and may_see_subjects(request))
