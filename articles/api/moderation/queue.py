"""Read the moderators' queue, and keep what is flagged. Articles and comments have operations to remove them."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from ninja import Query
from pydantic import BaseModel, Field

from accounts.moderators import REMOVE_ARTICLES
from articles.api import schemas
from articles.api.comments import Comment
from articles.api.protocol import cursors
from articles.api.protocol.auth import MODERATORS, require
from articles.api.protocol.operations import CommentNumber, OthersArticleNumber, failing, possible_page, router
from articles.domain.discussion.comments import article_of, is_root, root_of
from articles.domain.errors import CommentNotFound
from articles.domain.moderation import flags as domain
from articles.domain.moderation.flags import FlagReason, SubjectId
from articles.text.lines import clean_reason
from articles.web.identity import actor, names_of
from articles.web.moderation.conflicts import author_of_flagged
from articles.wiring import repository


class QueuedFlag(BaseModel):
    __doc__ = gettext_noop("A flag that is waiting for a decision.")

    by: str = Field(description=gettext_noop("Name of the member; empty if the account is deleted."))
    reason: FlagReason
    words: str
    time: float = Field(description=gettext_noop("In Unix seconds."))
    weight: float = Field(description=gettext_noop("Less for members whose flags were rarely right."))


class QueueEntry(BaseModel):
    __doc__ = gettext_noop("An article or a comment that is flagged.")

    article: schemas.Article
    comment: Comment | None = Field(description=gettext_noop("null if the article itself is flagged."))
    author: str = Field(description=gettext_noop("Name of the member who posted it; empty if it is not known."))
    weight: float = Field(description=gettext_noop("Total weight of its flags."))
    flags: list[QueuedFlag]

    @classmethod
    def of(cls, entry: domain.QueueEntry, names: dict[int, str]) -> "QueueEntry":
        comment = entry.comment
        return cls(
            article=schemas.Article.of(entry.article),
            comment=Comment.of(comment, comment.replies) if comment else None,
            author=entry.author_name,
            weight=entry.weight,
            flags=[
                QueuedFlag(
                    by=names.get(flag.member, ""),
                    reason=flag.reason,
                    words=flag.words,
                    time=flag.at,
                    weight=flag.weight,
                )
                for flag in entry.flags
            ],
        )


class Queue(BaseModel):
    __doc__ = gettext_noop("One page of the moderators' queue, highest weight first.")

    entries: list[QueueEntry]
    page: schemas.NumberOfPage
    has_next: bool = Field(description=gettext_noop("Whether there is a next page."))
    next_after: schemas.NextAfter


class Keeping(BaseModel):
    __doc__ = gettext_noop("The decision to keep what is flagged.")

    reason: str = Field(
        "", description=gettext_noop("For the members who flagged it; can be empty."), examples=["It is on topic."]
    )
    seen: float | None = Field(
        None,
        ge=0,
        description=gettext_noop(
            "When the queue was read, in Unix seconds: later flags stay open. Without it, all flags are decided."
        ),
    )


class Kept(BaseModel):
    __doc__ = gettext_noop("What was kept.")

    article_id: int
    comment_id: int | None = Field(description=gettext_noop("null if the article itself was flagged."))


_KEEPS = gettext_noop(
    "Moderators only. Decides its open flags; the members who set them can read the reason. To remove it, which "
    "decides them too, use its removed operation. Idempotent."
)


@router.get(
    "queue",
    summary=gettext_noop("What members have flagged"),
    description=gettext_noop("Moderators only: articles and comments that wait for a decision."),
    response={200: Queue} | failing(404),
    auth=MODERATORS,
)
def read_queue(request: HttpRequest, query: Query[schemas.PageQuery]) -> Queue:
    require(request, REMOVE_ARTICLES)
    seen = cursors.seen_in(request)
    page = repository().flags.get_page(possible_page(query.page), seen=seen)
    names = names_of(flag.member for one in page.entries for flag in one.flags)
    return Queue(
        entries=[QueueEntry.of(entry, names) for entry in page.entries],
        page=query.number,
        has_next=page.has_next,
        next_after=cursors.next_unseen(request, seen, page.subjects) if page.has_next else None,
    )


@router.put(
    "articles/{article_id:article_id}/kept",
    summary=gettext_noop("Keep a flagged article"),
    description=_KEEPS,
    response=Kept,
    auth=MODERATORS,
)
def keep_article(request: HttpRequest, article_id: OthersArticleNumber, keeping: Keeping) -> Kept:
    require(request, REMOVE_ARTICLES)
    return _keep(request, root_of(article_id), keeping)


@router.put(
    "comments/{comment_id:comment_id}/kept",
    summary=gettext_noop("Keep a flagged comment"),
    description=_KEEPS,
    response=Kept,
    auth=MODERATORS,
)
def keep_comment(request: HttpRequest, comment_id: CommentNumber, keeping: Keeping) -> Kept:
    require(request, REMOVE_ARTICLES)
    if is_root(comment_id):
        raise CommentNotFound(comment_id)
    return _keep(request, comment_id, keeping)


def _keep(request: HttpRequest, subject: SubjectId, keeping: Keeping) -> Kept:
    author_of_flagged(subject, actor(request).id)
    reason, now = clean_reason(keeping.reason) if keeping.reason else "", repository().store.now()
    repository().flags.keep(subject, now if keeping.seen is None else min(keeping.seen, now), reason)
    return Kept(article_id=article_of(subject), comment_id=None if is_root(subject) else subject)
