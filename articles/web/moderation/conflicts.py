"""What moderators cannot decide: about themselves, what they posted, and acts against members who may do the same.

They may act against themselves, such as by removing their own article, but not reverse such an act.
"""

from accounts.models import User
from articles.domain.discussion.comments import is_root
from articles.domain.errors import ArticleNotFound, CommentNotFound, FellowModerator, OwnMatter
from articles.domain.members import UserId
from articles.domain.moderation.flags import SubjectId
from articles.wiring import repository


def check_not_own(member: UserId, moderator: UserId) -> None:
    """Raise OwnMatter if a decision concerns the moderator, or what the moderator posted."""
    if member == moderator:
        raise OwnMatter


def check_target(member: User, permission: str, moderator: UserId) -> None:
    """Raise OwnMatter, or FellowModerator for a member with the permission that an act against members needs."""
    check_not_own(member.pk, moderator)
    if member.has_perm(permission):
        raise FellowModerator


def author_of_flagged(subject: SubjectId, moderator: UserId) -> UserId:
    """Return who posted what is flagged, even if it is removed. One round trip.

    Raises OwnMatter, ArticleNotFound, CommentNotFound.
    """
    author = repository().flags.get_author(subject)
    if author is None:
        raise ArticleNotFound(subject) if is_root(subject) else CommentNotFound(subject)
    check_not_own(author, moderator)
    return author
