"""Sweeps: everything that a member posted recently is removed in one act, and restored in one act."""

from collections.abc import Callable, Iterator
from itertools import takewhile

from articles.domain.errors import ActionRefused, ArticleNotFound, CommentNotFound
from articles.domain.members import UserId
from articles.domain.moderation.log import Actor
from articles.repository.articles import Articles
from articles.repository.comments import Comments
from articles.repository.members import Members

_Change = Callable[[int, Actor, str, str], None]


class Sweeps:
    """The sweeps of a store. Each removal and each restoration is one script, so a sweep can be interrupted."""

    def __init__(self, members: Members, articles: Articles, comments: Comments) -> None:
        self._members = members
        self._articles = articles
        self._comments = comments

    def remove(self, member: UserId, since: float, sweep: str, actor: Actor, reason: str) -> Iterator[bool]:
        """Remove what a member posted since then, in Unix seconds; yield for each one whether this call did.

        `sweep`: a mark on each removal, by which `restore` recognises it. One round trip for each, and one for
        each batch of the member's lists in each shard. Idempotent. Raises StoreError.
        """
        yield from self._change(
            member, since, (self._articles.remove, self._comments.remove), actor, reason, sweep
        )

    def restore(self, member: UserId, since: float, sweep: str, actor: Actor, reason: str) -> Iterator[bool]:
        """Restore what the sweep removed, and nothing else. Otherwise like `remove`."""
        yield from self._change(
            member, since, (self._articles.restore, self._comments.restore), actor, reason, sweep
        )

    def _change(
        self, member: UserId, since: float, changes: tuple[_Change, _Change], actor: Actor, reason: str, sweep: str
    ) -> Iterator[bool]:
        change_article, change_comment = changes
        for article_id, _ in takewhile(lambda noted: noted[1] >= since, self._members.iterate_posted(member)):
            yield _is_done(change_article, article_id, actor, reason, sweep)
        for comment in takewhile(lambda one: one.posted_at >= since, self._comments.list_by(member)):
            yield _is_done(change_comment, comment.id, actor, reason, sweep)


def _is_done(change: _Change, subject: int, actor: Actor, reason: str, sweep: str) -> bool:
    """Make a change; return whether its subject permitted it."""
    try:
        change(subject, actor, reason, sweep)
    except (ActionRefused, ArticleNotFound, CommentNotFound):
        return False
    return True
