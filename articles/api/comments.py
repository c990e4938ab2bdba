"""Read, write and vote on comments."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Query, Status
from pydantic import BaseModel, Field

from articles.api import schemas
from articles.api.protocol import cursors
from articles.api.protocol.operations import (
    AUTHORS,
    VOTERS,
    ArticleNumber,
    CommentNumber,
    OwnCommentNumber,
    failing,
    router,
)
from articles.domain import comments as domain
from articles.domain.articles import Choice
from articles.domain.comments import COMMENTS_PER_ARTICLE, COMMENTS_PER_PAGE, CommentOrder
from articles.domain.errors import HeldForApproval
from articles.text.lines import clean_comment
from articles.web import comments, votes
from articles.web.forms.fields import check_links
from articles.web.identity import reader_id
from articles.web.wiring import repository


class ThreadQuery(schemas.AfterQuery):
    """Which part of the comments, in which order."""

    order: CommentOrder = Field(CommentOrder.BEST, examples=["newest"])
    """Order of comments with the same parent: best is by the lower bound of the Wilson interval at 80 percent,
    newest and oldest are by time."""

    start: schemas.PlainNumberOrZero = Field(0, ge=0, lt=COMMENTS_PER_ARTICLE)
    """Number of top-level comments to skip, with their replies: next_start of the previous part. If the order
    changes between two requests, comments can be repeated or skipped."""

    size: schemas.PlainNumber = Field(COMMENTS_PER_PAGE, ge=1, le=COMMENTS_PER_PAGE, examples=[50])
    """Maximum number of comments, from 1 to 200."""

    def part(self, request: HttpRequest) -> domain.ThreadPart:
        """Return the part of the comments to read. Raises Problem."""
        if self.order is CommentOrder.BEST:
            passed = tuple(cursors.seen_in(request))
            return domain.ThreadPart(self.start or len(passed), self.size, passed)
        state = cursors.state_in(request)
        if state is None:
            return domain.ThreadPart(self.start, self.size)
        start, at, comment_id = state
        return domain.ThreadPart(start, self.size, after=(at, comment_id))


class Comment(schemas.Model):
    """A comment on an article."""

    id: int
    article_id: int
    parent: int | None = Field(description="The comment it replies to; null at top level.")
    text: str | None = Field(description="Markdown, as typed; null if it is deleted, or removed by a moderator.")
    html: str | None = Field(description="The text as safe HTML; null like the text.")
    author: str = Field(description="Name of the member who wrote it; empty if the account is deleted.")
    time: float = Field(description="When it was posted, in Unix seconds.")
    votes: int
    opposes: int
    points: int = Field(description="Votes for minus votes against.")
    left_out_votes: int = Field(description="Votes for it that are excluded from ranking.")
    left_out_opposes: int = Field(description="Votes against it that are excluded from ranking.")
    choice: Choice = Field(description="Your own; none for readers without an account.")
    closes_at: float = Field(description="When voting closes, in Unix seconds.")
    depth: int = Field(description="Levels below the top-level comments of this response.")
    replies: int = Field(description="Number of direct replies, including those that are not in this response.")
    cut: int
    """Number of direct replies that are not in this response; request the replies of this comment to read them."""

    edited_at: float | None = Field(
        description="When it was last changed more than 15 minutes after posting; null if never."
    )
    removed: str | None = Field(description="Why a moderator removed it; null if it is not removed.")
    deleted: bool = Field(description="Whether its author deleted it; it stays while it has replies.")

    @classmethod
    def of(cls, comment: domain.Comment, cut: int = 0) -> "Comment":
        text = comment.text if comment.is_shown else None
        return schemas.made(
            cls,
            comment,
            article_id=comment.article,
            text=text,
            html=None if text is None else str(comment.html),
            author=comment.author_name,
            time=comment.posted_at,
            left_out_votes=comment.left_out.votes,
            left_out_opposes=comment.left_out.opposes,
            cut=cut,
            deleted=comment.is_deleted,
        )


class Thread(schemas.Continued):
    """A part of a discussion: comments, each followed by its replies."""

    comments: list[Comment]
    total: int = Field(description="Number of comments on the article, without removed and deleted ones.")
    order: CommentOrder
    start: int
    next_start: int | None = Field(description="start of the next part; null if this is the last.")
    locked: str | None = Field(description="Why a moderator locked the discussion; null if it is not locked.")

    @classmethod
    def of(cls, request: HttpRequest, thread: domain.Thread, part: domain.ThreadPart) -> "Thread":
        comments = [Comment.of(comment, thread.cut.get(comment.id, 0)) for comment in thread.comments]
        following = None if thread.next_start is None else _next_after(request, thread, part)
        return schemas.made(cls, thread, comments=comments, next_after=following)


def _next_after(request: HttpRequest, thread: domain.Thread, part: domain.ThreadPart) -> str | None:
    if thread.order is CommentOrder.BEST:
        is_known = len(part.passed) == part.start
        return cursors.next_unseen(request, frozenset(part.passed), thread.passed) if is_known else None
    times = {comment.id: comment.posted_at for comment in thread.comments}
    last = next((one for one in reversed(thread.passed) if one in times), None)
    return None if last is None else cursors.next_after(request, (thread.next_start, times[last], last))


class CommentText(BaseModel):
    """The text of a comment."""

    text: str = Field(description="Markdown; at most 20,000 characters.", examples=["I **agree**."])


class NewComment(CommentText):
    """A comment to post."""

    parent: int | None = Field(
        None, description="The comment to reply to; if omitted, the comment is at top level."
    )


class Deleted(BaseModel):
    """A deleted comment."""

    id: int


_LOCATION = {"Location": {"description": "The comment's address in the API.", "schema": {"type": "string"}}}


@router.get("articles/{article_id:article_id}/comments")
def list_comments(request: HttpRequest, article_id: ArticleNumber, query: Query[ThreadQuery]) -> Thread:
    """Comments on an article.

    Each comment is followed by its replies. cut and next_start say what did not fit into one response.
    """
    read, part = repository().comments.get_thread, query.part(request)
    return Thread.of(request, read(article_id, query.order, reader=reader_id(request), part=part), part)


@router.post(
    "articles/{article_id:article_id}/comments",
    response=failing(409) | {202: schemas.Waiting},
    auth=AUTHORS,
    openapi_extra={"responses": {201: {"headers": _LOCATION}}},
)
def post_comment(
    request: HttpRequest, response: HttpResponse, article_id: ArticleNumber, comment: NewComment
) -> Status[Comment]:
    """Write a comment.

    Comments on the article, or replies to one of its comments. If the same text is sent again within ten minutes,
    the response is the first comment, and nothing is added. If an automatic rule holds it for approval, the
    response is 202.
    """
    try:
        posted = comments.post(request, article_id, check_links(clean_comment(comment.text)), comment.parent)
    except HeldForApproval as held:
        waiting: Status[Comment] = schemas.Waiting.answer(held)
        return waiting
    response["Location"] = reverse("api:read_comment", args=[posted])
    return Status(201, Comment.of(repository().comments.get(posted, reader_id(request))))


@router.get("comments/{comment_id:comment_id}")
def read_comment(request: HttpRequest, comment_id: CommentNumber) -> Comment:
    """One comment. Removed comments stay available without their text, with the reason for their removal."""
    comment = repository().comments.get(comment_id, reader_id(request))
    return Comment.of(comment, comment.replies)


@router.get("comments/{comment_id:comment_id}/replies")
def list_replies(request: HttpRequest, comment_id: CommentNumber, query: Query[ThreadQuery]) -> Thread:
    """A comment and its replies. The comment comes first, at depth 0. start counts its direct replies."""
    read, part = repository().comments.get_branch, query.part(request)
    return Thread.of(request, read(comment_id, query.order, reader=reader_id(request), part=part), part)


@router.patch("comments/{comment_id:comment_id}", response=failing(409), auth=AUTHORS)
def edit_comment(request: HttpRequest, comment_id: OwnCommentNumber, edit: CommentText) -> Comment:
    """Edit your comment.

    If you edit it more than 15 minutes after posting, the comment is marked as edited. Idempotent.
    """
    before = repository().comments.get(comment_id, reader_id(request))
    comments.edit(request, before, check_links(clean_comment(edit.text), current=before.text))
    return read_comment(request, comment_id)


@router.delete("comments/{comment_id:comment_id}", auth=AUTHORS)
def delete_comment(request: HttpRequest, comment_id: OwnCommentNumber) -> Deleted:
    """Delete your comment.

    Its text and your name are permanently deleted. While it has replies, a note stays in its place; a second
    request gets 404. Members who were notified of it still see that you wrote it.
    """
    comments.delete(request, comment_id)
    return Deleted(id=comment_id)


@router.put("comments/{comment_id:comment_id}/vote", response=failing(409), auth=VOTERS)
def cast_comment_vote(request: HttpRequest, comment_id: CommentNumber, new: schemas.NewChoice) -> schemas.Tally:
    """Vote on a comment, oppose it, or take it back.

    Sets your choice on a comment that is not your own. Idempotent.
    """
    return schemas.Tally.of(comment_id, votes.cast_on_comment(request, request.user, comment_id, new.choice))
