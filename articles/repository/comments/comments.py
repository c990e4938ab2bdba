"""Posting, editing, deleting, voting on and moderating comments. A comment is in the shard of its article."""

from collections.abc import Iterator

from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.discussion.comments import (
    COMMENTS_PER_PAGE,
    Comment,
    CommentId,
    CommentOrder,
    Thread,
)
from articles.domain.members import UserId
from articles.domain.moderation import Actor
from articles.repository.store.connection import Store

SENT_SECONDS = 600
"""Time in which the same comment, sent again, leads to the first."""


class Comments:
    """The comments of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def post(
        self, article_id: ArticleId, user: UserId, name: str, text: str, *, parent: CommentId | None = None
    ) -> CommentId:
        """Publish a comment, as a reply to `parent` if given; return its id. One round trip.

        The same text sent again within SENT_SECONDS returns the id of the first. Raises ArticleNotFound,
        ArticleRemoved, AccountDeleted, DiscussionLocked, DiscussionFull, CommentRemoved for a removed parent, and
        CommentNotFound for one that is unknown, deleted or on another article.
        """
        raise NotImplementedError

    def get(self, comment_id: CommentId, reader: UserId | None = None) -> Comment:
        """Return a comment, also a removed one or a stub, with the reader's own choice. One round trip.

        Raises CommentNotFound, and ArticleRemoved if its article is removed.
        """
        raise NotImplementedError

    def get_thread(
        self,
        article_id: ArticleId,
        order: CommentOrder,
        *,
        reader: UserId | None = None,
        start: int = 0,
        size: int = COMMENTS_PER_PAGE,
    ) -> Thread:
        """Return the article's comments from its top-level comment number `start` on, at most `size` in all.

        One round trip, which reads what is returned. Raises ArticleNotFound, ArticleRemoved.
        """
        raise NotImplementedError

    def get_branch(
        self,
        comment_id: CommentId,
        order: CommentOrder,
        *,
        reader: UserId | None = None,
        start: int = 0,
        size: int = COMMENTS_PER_PAGE,
    ) -> Thread:
        """Return a comment, at depth 0, and its replies from number `start` on, at most `size` comments in all.

        One round trip. Raises CommentNotFound, ArticleRemoved.
        """
        raise NotImplementedError

    def list_by(self, user: UserId) -> Iterator[Comment]:
        """Yield every comment of a member, newest first, also removed ones and those on removed articles.

        Two round trips for each batch.
        """
        raise NotImplementedError

    def edit(self, comment_id: CommentId, user: UserId, text: str) -> None:
        """Change the text of one's own comment; leaves no mark within EDIT_SECONDS. One round trip.

        Raises CommentNotFound, NotTheAuthor, CommentRemoved, DiscussionLocked, ArticleRemoved, AccountDeleted.
        """
        raise NotImplementedError

    def delete(self, comment_id: CommentId, user: UserId) -> None:
        """Delete one's own comment; it remains as a stub, without text and author, while it has replies.

        One round trip. Raises CommentNotFound, NotTheAuthor.
        """
        raise NotImplementedError

    def cast(self, comment_id: CommentId, user: UserId, choice: Choice) -> Tally:
        """Set a member's choice on a comment; return the resulting counts. One round trip.

        Idempotent, because the choice is a target state. Raises CommentNotFound, CommentRemoved, OwnComment,
        CommentVotingClosed, ArticleRemoved, AccountDeleted, LimitReached.
        """
        raise NotImplementedError

    def remove(self, comment_id: CommentId, actor: Actor, reason: str) -> None:
        """Remove a comment: a stub with the reason takes its place. One round trip.

        Raises CommentNotFound, CommentRemoved.
        """
        raise NotImplementedError

    def restore(self, comment_id: CommentId, actor: Actor, reason: str) -> None:
        """Show a removed comment again. One round trip. Raises CommentNotFound, CommentNotRemoved."""
        raise NotImplementedError

    def lock(self, article_id: ArticleId, actor: Actor, reason: str) -> None:
        """Close an article's discussion. One round trip. Raises ArticleNotFound, DiscussionLocked."""
        raise NotImplementedError

    def unlock(self, article_id: ArticleId, actor: Actor, reason: str) -> None:
        """Open an article's discussion again. One round trip. Raises ArticleNotFound, DiscussionNotLocked."""
        raise NotImplementedError
