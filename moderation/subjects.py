"""Whom moderators act against: members and, for a while, deleted accounts by number; and what they posted.

Also what acts on a member share: they can take many steps, of which each request takes some, and their forms lead
back to the moderators' page about the member.
"""

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.account_deletion import KEPT, find_deleted
from accounts.models import User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.names import deleted_id, deleted_username
from articles.api import schemas
from articles.api.protocol.operations import MODERATORS, ArticleNumber, CommentNumber, require, router
from articles.domain.articles import Article
from articles.domain.comments import Comment, root_of
from articles.domain.flags import SubjectId
from articles.domain.members import UserId
from articles.web.forms.articles import ReasonForm
from articles.web.identity import member_named
from articles.web.wiring import repository

Step = TypeVar("Step")

BUDGET_SECONDS = 5.0  # time that one request spends on an act


def take(steps: Iterator[Step], note: Callable[[Step], object] = bool, seconds: float | None = None) -> bool:
    """Take steps while time allows, passing each to `note`; return whether all are done."""
    deadline = time.monotonic() + (BUDGET_SECONDS if seconds is None else seconds)
    for step in steps:
        note(step)
        if time.monotonic() > deadline:
            return False
    return True


MOST_SHOWN = 100  # articles, and comments, that are shown of what an account posted


class Contribution(NamedTuple):
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


class Contributions(NamedTuple):
    """What an account posted. Removed articles and comments are included."""

    articles: int
    comments: int
    newest: list[Contribution]  # at most `MOST_SHOWN` articles and as many comments, newest first


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


def posted_by(user: UserId) -> Contributions:
    """Return what an account posted. Raises StoreError."""
    repo = repository()
    comments = list(islice(repo.comments.list_by(user), MOST_SHOWN))
    own = [article_id for article_id, _ in islice(repo.members.iterate_posted(user), MOST_SHOWN)]
    about = [comment.article for comment in comments]
    found = {article.id: article for article in repo.articles.get_many(list(dict.fromkeys(own + about)))}
    posts = [Contribution(found[article_id]) for article_id in own if article_id in found]
    posts += [Contribution(found[one.article], one) for one in comments if one.article in found]
    return Contributions(*repo.members.count_posted(user), sorted(posts, key=lambda post: -post.posted_at))


def page_of(_request: HttpRequest, name: str, **_address: Any) -> str:
    """Return the address of the moderators' page about a member, to which their forms lead back."""
    return reverse("articles:member_moderation", args=[name])


def tell(request: HttpRequest, sentence: str, *, is_complete: bool) -> None:
    """Show the moderator what was done, and whether more remains."""
    messages.success(request, sentence)
    if not is_complete:
        messages.warning(request, _("This is not finished yet: continue below."))


def reason_in(request: HttpRequest) -> str:
    """Return the reason in a form of one button. Without one, show the moderator an error and return ""."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
    return str(form.cleaned_data.get("reason", ""))


SubjectName = PathEx[
    str, P(description="The member's name, or ~ and the number of a deleted account.", examples=["alice"])
]

MOST_DAYS = 3650  # longest time that moderators can give: of a ban, or of what a sweep removes


def member_for(request: HttpRequest, name: str, *permissions: str) -> User:
    """Return the member. Raises PermissionDenied for readers without any of the permissions, and Http404."""
    require(request, *permissions)
    member: User = member_named(name)
    return member


def subject_for(request: HttpRequest, name: str, *permissions: str) -> User:
    """Return the member, or the deleted account while it is known. Raises like `member_for`."""
    require(request, *permissions)
    return subject_named(name)


class Post(BaseModel):
    """An article that a member posted, or a comment."""

    article: int
    comment: int | None = Field(description="Number of the comment; null for an article.")
    title: str = Field(description="Title of the article.")
    time: float = Field(description="When it was posted, in Unix seconds.")
    removed: str | None = Field(description="Why it was removed; null while it is shown.")


class Posted(schemas.Model):
    """What a member posted, including what is removed."""

    name: str = Field(description="The member's name, or ~ and the number of a deleted account.")
    deleted_at: float | None = Field(
        description="When the account was deleted, in Unix seconds; null for a member."
    )
    known_until: float | None
    """Until when moderators can see what a deleted account posted, in Unix seconds; null for a member."""

    articles: int
    comments: int
    newest: list[Post] = Field(description="At most 100 articles and 100 comments, newest first.")

    @classmethod
    def by(cls, member: User) -> "Posted":
        posted, until = posted_by(member.pk), known_until(member)
        newest = [
            Post(
                article=post.article.id,
                comment=post.comment.id if post.comment else None,
                title=post.article.title,
                time=post.posted_at,
                removed=post.removed,
            )
            for post in posted.newest
        ]
        return cls(
            name=address_of(member),
            deleted_at=member.left_at.timestamp() if member.left_at else None,
            known_until=until.timestamp() if until else None,
            articles=posted.articles,
            comments=posted.comments,
            newest=newest,
        )


_WHO_POSTED = "Moderators only. Not found if the account is not known, or was deleted more than 30 days ago."


@router.get("users/{name}/posted", auth=MODERATORS)
def read_posted(request: HttpRequest, name: SubjectName) -> Posted:
    """What a member posted, or a deleted account.

    Moderators only. A deleted account is known by its number for 30 days.
    """
    return Posted.by(subject_for(request, name, BAN_MEMBERS, REMOVE_ARTICLES))


@router.get("articles/{article_id:article_id}/poster", description=_WHO_POSTED, auth=MODERATORS)
def read_poster(request: HttpRequest, article_id: ArticleNumber) -> Posted:
    """Who posted an article, and what else."""
    require(request, BAN_MEMBERS, REMOVE_ARTICLES)
    return Posted.by(subject_who_posted(root_of(article_id)))


@router.get("comments/{comment_id:comment_id}/author", description=_WHO_POSTED, auth=MODERATORS)
def read_author(request: HttpRequest, comment_id: CommentNumber) -> Posted:
    """Who wrote a comment, and what else."""
    require(request, BAN_MEMBERS, REMOVE_ARTICLES)
    return Posted.by(subject_who_posted(comment_id))
