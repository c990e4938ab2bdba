"""Whom moderators act against: members and, for a while, deleted accounts by number; and what they posted."""

from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.http import Http404, HttpRequest

from accounts.account_deletion import KEPT, find_deleted
from accounts.models import User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.names import deleted_id, deleted_username
from articles.domain.articles import Article
from articles.domain.discussion.comments import Comment
from articles.domain.members import UserId
from articles.domain.moderation.flags import SubjectId
from articles.web.identity import member_named
from articles.wiring import repository

MOST_SHOWN = 100
"""Articles, and comments, that are shown of what an account posted."""


class Post(NamedTuple):
    """A posted article, or a comment on it."""

    article: Article
    comment: Comment | None = None

    @property
    def posted_at(self) -> float:
        """When it was posted, in Unix seconds."""
        return (self.comment or self.article).posted_at

    @property
    def removed(self) -> str | None:
        """Why it was removed; None if it is not."""
        return (self.comment or self.article).removed


class Posted(NamedTuple):
    """What an account posted. Removed articles and comments are included."""

    articles: int
    comments: int
    newest: list[Post]
    """At most `MOST_SHOWN` articles and as many comments, newest first."""


def subject_named(name: str) -> User:
    """Return the member with this name, or a deleted account by `~` and its number. Raises Http404."""
    number = deleted_id(name)
    member = find_deleted(number) if number else member_named(name)
    if member is None:
        raise Http404(name)
    return member


def address_of(member: User) -> str:
    """Return what `subject_named` knows the account by."""
    return member.get_username() if member.left_at is None else deleted_username(member.pk)


def subject_who_posted(posted: SubjectId) -> User:
    """Return who posted an article or a comment, even a removed one. Raises Http404 if that is not known."""
    number = repository().flags.get_author(posted)
    member = number and (User.objects.filter(pk=number, left_at=None).first() or find_deleted(number))
    if not member:
        raise Http404(posted)
    return member


def known_until(member: User) -> datetime | None:
    """Return until when moderators see what a deleted account posted; None for a member."""
    return member.left_at and member.left_at + KEPT


def may_see_subjects(request: HttpRequest) -> bool:
    """Return whether the reader may see the moderators' page about members and deleted accounts."""
    return any(map(request.user.has_perm, (BAN_MEMBERS, REMOVE_ARTICLES)))


def posted_by(user: UserId) -> Posted:
    """Return what an account posted. Raises StoreError."""
    repo = repository()
    comments = list(islice(repo.comments.list_by(user), MOST_SHOWN))
    own = [article_id for article_id, _ in islice(repo.members.iterate_posted(user), MOST_SHOWN)]
    about = [comment.article for comment in comments]
    found = {article.id: article for article in repo.articles.get_many(list(dict.fromkeys(own + about)))}
    posts = [Post(found[article_id]) for article_id in own if article_id in found]
    posts += [Post(found[one.article], one) for one in comments if one.article in found]
    return Posted(*repo.members.count_posted(user), sorted(posts, key=lambda post: -post.posted_at))
