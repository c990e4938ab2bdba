"""Read what a member posted, or a deleted account while it is known, for moderators."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from pydantic import BaseModel, Field

from accounts.models import User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from articles.api.moderation.members import SubjectName, subject_for
from articles.api.protocol.auth import MODERATORS, require
from articles.api.protocol.operations import ArticleNumber, CommentNumber, router
from articles.domain.discussion.comments import root_of
from articles.web.moderation import subjects


class Post(BaseModel):
    __doc__ = gettext_noop("An article that a member posted, or a comment.")

    article: int
    comment: int | None = Field(description=gettext_noop("Number of the comment; null for an article."))
    title: str = Field(description=gettext_noop("Title of the article."))
    time: float = Field(description=gettext_noop("When it was posted, in Unix seconds."))
    removed: str | None = Field(description=gettext_noop("Why it was removed; null while it is shown."))


class Posted(BaseModel):
    __doc__ = gettext_noop("What a member posted, including what is removed.")

    name: str = Field(description=gettext_noop("The member's name, or ~ and the number of a deleted account."))
    deleted_at: float | None = Field(
        description=gettext_noop("When the account was deleted, in Unix seconds; null for a member.")
    )
    known_until: float | None = Field(
        description=gettext_noop(
            "Until when moderators can see what a deleted account posted, in Unix seconds; null for a member."
        )
    )
    articles: int
    comments: int
    newest: list[Post] = Field(description=gettext_noop("At most 100 articles and 100 comments, newest first."))

    @classmethod
    def by(cls, member: User) -> "Posted":
        posted, until = subjects.posted_by(member.pk), subjects.known_until(member)
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
            name=subjects.address_of(member),
            deleted_at=member.left_at.timestamp() if member.left_at else None,
            known_until=until.timestamp() if until else None,
            articles=posted.articles,
            comments=posted.comments,
            newest=newest,
        )


_WHO_POSTED = gettext_noop(
    "Moderators only. Not found if the account is not known, or was deleted more than 30 days ago."
)


@router.get(
    "users/{name}/posted",
    summary=gettext_noop("What a member posted, or a deleted account"),
    description=gettext_noop("Moderators only. A deleted account is known by its number for 30 days."),
    response=Posted,
    auth=MODERATORS,
)
def read_posted(request: HttpRequest, name: SubjectName) -> Posted:
    return Posted.by(subject_for(request, name, BAN_MEMBERS, REMOVE_ARTICLES))


@router.get(
    "articles/{article_id:article_id}/poster",
    summary=gettext_noop("Who posted an article, and what else"),
    description=_WHO_POSTED,
    response=Posted,
    auth=MODERATORS,
)
def read_poster(request: HttpRequest, article_id: ArticleNumber) -> Posted:
    require(request, BAN_MEMBERS, REMOVE_ARTICLES)
    return Posted.by(subjects.subject_who_posted(root_of(article_id)))


@router.get(
    "comments/{comment_id:comment_id}/author",
    summary=gettext_noop("Who wrote a comment, and what else"),
    description=_WHO_POSTED,
    response=Posted,
    auth=MODERATORS,
)
def read_author(request: HttpRequest, comment_id: CommentNumber) -> Posted:
    require(request, BAN_MEMBERS, REMOVE_ARTICLES)
    return Posted.by(subjects.subject_who_posted(comment_id))
