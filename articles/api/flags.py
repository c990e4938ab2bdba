"""Flag articles and comments, and take flags back."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from pydantic import BaseModel, Field

from articles.api.protocol.auth import AUTHORS
from articles.api.protocol.operations import CommentNumber, OthersArticleNumber, failing, router
from articles.domain.discussion.comments import CommentId, article_of, is_root, root_of
from articles.domain.errors import CommentNotFound
from articles.domain.moderation.flags import FlagReason, FlagState, SubjectId
from articles.text.lines import InvalidInput, clean_reason
from articles.web import limits
from articles.web.identity import actor
from articles.wiring import repository


class NewFlag(BaseModel):
    __doc__ = gettext_noop("What is wrong with an article or a comment.")

    reason: FlagReason = Field(examples=["against-rules"])
    words: str = Field(
        "",
        description=gettext_noop("For moderators; at most 500 characters. Required for against-rules."),
        examples=["It insults another member."],
    )


class Flag(BaseModel):
    __doc__ = gettext_noop("Your flag. Only you and moderators can see it.")

    article_id: int
    comment_id: int | None = Field(description=gettext_noop("null if the article itself is flagged."))
    reason: FlagReason | None = Field(description=gettext_noop("null if there is no flag."))
    words: str
    state: FlagState | None = Field(description=gettext_noop("Whether moderators have decided, and how."))


_SETS = gettext_noop(
    "Flags it for the moderators, or changes your flag. The moderators decide; "
    "the author can't see who flagged it."
)


@router.put(
    "articles/{article_id:article_id}/flag",
    summary=gettext_noop("Flag an article"),
    description=_SETS,
    response={200: Flag} | failing(409),
    auth=AUTHORS,
)
def flag_article(request: HttpRequest, article_id: OthersArticleNumber, flag: NewFlag) -> Flag:
    return _set(request, root_of(article_id), flag)


@router.delete(
    "articles/{article_id:article_id}/flag",
    summary=gettext_noop("Take back your flag on an article"),
    description=gettext_noop("Idempotent, until moderators have decided."),
    response={200: Flag} | failing(409),
    auth=AUTHORS,
)
def take_back_article_flag(request: HttpRequest, article_id: OthersArticleNumber) -> Flag:
    return _take_back(request, root_of(article_id))


@router.put(
    "comments/{comment_id:comment_id}/flag",
    summary=gettext_noop("Flag a comment"),
    description=_SETS,
    response={200: Flag} | failing(409),
    auth=AUTHORS,
)
def flag_comment(request: HttpRequest, comment_id: CommentNumber, flag: NewFlag) -> Flag:
    return _set(request, _comment(comment_id), flag)


@router.delete(
    "comments/{comment_id:comment_id}/flag",
    summary=gettext_noop("Take back your flag on a comment"),
    description=gettext_noop("Idempotent, until moderators have decided."),
    response={200: Flag} | failing(409),
    auth=AUTHORS,
)
def take_back_comment_flag(request: HttpRequest, comment_id: CommentNumber) -> Flag:
    return _take_back(request, _comment(comment_id))


def _comment(comment_id: CommentId) -> SubjectId:
    """Return the id of a comment. Raises CommentNotFound for one that stands for an article."""
    if is_root(comment_id):
        raise CommentNotFound(comment_id)
    return comment_id


def _set(request: HttpRequest, subject: SubjectId, flag: NewFlag) -> Flag:
    words = clean_reason(flag.words) if flag.words else ""
    if flag.reason.needs_words and not words:
        raise InvalidInput("reason-empty")
    limits.take(request, "flags")
    repository().flags.set(subject, actor(request).id, flag.reason, words)
    return _current(request, subject)


def _take_back(request: HttpRequest, subject: SubjectId) -> Flag:
    repository().flags.take_back(subject, actor(request).id)
    return _current(request, subject)


def _current(request: HttpRequest, subject: SubjectId) -> Flag:
    flag = repository().flags.get(subject, actor(request).id)
    return Flag(
        article_id=article_of(subject),
        comment_id=None if is_root(subject) else subject,
        reason=flag.reason if flag else None,
        words=flag.words if flag else "",
        state=flag.state if flag else None,
    )
