"""Comments as pages show them, kept in memory as rows of lists are; their replies are drawn apart."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from django.utils.translation import get_language, gettext as _, ngettext
from markupsafe import Markup

from articles.domain.articles import ArticleId, Choice, LeftOut
from articles.domain.comments import DEEPEST_SHOWN, CommentId, CommentOrder, Thread, lower_bound
from articles.domain.members import DELETED_MEMBER, UserId
from articles.formatting.kept import drawing_of, filled, piece
from articles.formatting.values import age, grouped, time_of
from articles.views.lists.rows import poster_of
from articles.web.addresses import path_of

MOST_COMMENTS = 2_000
"""Drawn comments that a process keeps, about 3 KB each; the least recently shown ones are dropped."""

_LONGEST_KEPT = 3_000  # characters of HTML with which a drawn comment is kept


class CommentShape(NamedTuple):
    """Which parts a comment has."""

    is_shown: bool
    is_deleted: bool
    is_removed: bool
    has_former_text: bool  # whether a text that was removed is shown
    choice: Choice
    may_vote: bool
    may_reply: bool
    is_own: bool
    is_by_poster: bool  # whether the poster of the article wrote it
    may_write: bool
    """Whether the discussion takes what the reader writes, edits of the reader's own comments included."""

    is_moderator: bool  # whether the reader may remove it
    may_restore: bool
    is_blocked: bool  # whether the reader blocks its author, so that it is collapsed
    is_deepest: bool  # whether replies to it are too deep to be shown here
    is_edited: bool
    is_reply: bool
    is_new: bool  # whether it was posted since the reader's last visit
    has_next_new: bool
    has_replies: bool  # whether replies are shown below it
    has_answers: bool  # whether there are replies, shown here or not
    has_more: bool  # whether there are replies that are not shown here


class CommentRow(NamedTuple):
    """What a page shows of a comment. Times in Unix seconds."""

    shape: CommentShape
    id: CommentId
    article: ArticleId
    author_name: str
    is_by_deleted: bool
    former: UserId | None  # number of the deleted account that wrote it, for moderators
    html: str  # its text as safe HTML; "" if this reader may not see it
    posted_at: float
    age: str  # time since it was posted, in words of the active language
    edited_at: float | None
    edited_age: str  # time since it was edited, in words of the active language; "" if it never was
    removed: str | None
    votes: int
    opposes: int
    left_out: LeftOut  # votes that do not affect its place
    is_by_votes: bool  # whether votes decide its place
    parent: str  # address of the comment it replies to; "" at top level
    replies: int  # direct replies, shown here or not
    cut: int  # direct replies that are not shown here
    next_new: CommentId | None  # the next new comment on the page


def _counted(text: str, number: int) -> str:
    return text % {"num": grouped(number)}


def holes_of(row: CommentRow) -> dict[str, object]:
    """Return what the comment says, without its replies."""
    holes = {
        "id": row.id,
        "article": row.article,
        "author": poster_of(row.author_name, is_deleted=row.is_by_deleted, former=row.former),
        "name": row.author_name or _("[deleted]"),
        "html": row.html,
        "posted": time_of(row.posted_at, row.age),
        "edited": "" if row.edited_at is None else time_of(row.edited_at, row.edited_age),
        "parent": row.parent,
        "next_new": row.next_new,
        "removed": row.removed,
    }
    if row.replies:
        holes["answers"] = _counted(ngettext("%(num)s reply", "%(num)s replies", row.replies), row.replies)
    if row.cut:
        holes["more"] = _counted(ngettext("%(num)s more reply", "%(num)s more replies", row.cut), row.cut)
    if row.shape.is_shown:
        is_open, counts = row.shape.may_vote, {"votes": row.votes, "opposes": row.opposes}
        holes |= {
            **counts,
            "points": piece("votes/points.html", {}, **counts, is_open=is_open, ranked=""),
            "standing": _standing(row),
        }
    return holes


def _standing(row: CommentRow) -> Markup:
    """Return why the comment is where it is: its votes, and the lower bound of the share of readers for it."""
    left_out = row.left_out
    ranked = LeftOut(max(0, row.votes - left_out.votes), max(0, row.opposes - left_out.opposes))
    return piece(
        "comments/standing.html",
        {},
        is_by_votes=row.is_by_votes,
        ranked=ranked,
        votes=row.votes > 0,
        left_out=sum(left_out),
        bound=lower_bound(*ranked),
    )


class Viewer(NamedTuple):
    """Who reads a thread, and what they may do. `now` in Unix seconds."""

    reader: UserId | None
    is_moderator: bool
    may_write: bool
    """Whether the discussion takes comments by the reader. Readers without an account are sent to the login."""

    now: float
    may_vote: bool = True  # whether no ban forbids it
    settled: frozenset[CommentId] = frozenset()  # removed comments that the moderator cannot restore
    blocked: frozenset[UserId] = frozenset()  # members whom the reader blocks
    poster: UserId = DELETED_MEMBER  # of the article
    sees_subjects: bool = False  # whether the reader may see which deleted account wrote a comment
    visited_at: float | None = None
    """When the member's visit before this one ended, in Unix seconds; None if nothing is marked as new."""


def new_in(thread: Thread, viewer: Viewer) -> list[CommentId]:
    """Return the shown comments by others since the reader's last visit, in the order of the page."""
    since = viewer.visited_at
    if since is None:
        return []
    return [
        one.id for one in thread.comments if one.is_shown and one.posted_at > since and one.author != viewer.reader
    ]


def rows_of(thread: Thread, viewer: Viewer, new: Sequence[CommentId] = ()) -> Iterator[CommentRow]:
    """Yield the comments as this reader sees them; those in `new` are marked, each with a link to the next."""
    following_new = dict(zip_longest(new, new[1:]))
    here = {comment.id for comment in thread.comments}
    for comment, following in zip_longest(thread.comments, thread.comments[1:]):
        has_replies = following is not None and following.depth > comment.depth
        parent = comment.parent
        address = "" if parent is None else f"#comment-{parent}"
        if parent is not None and parent not in here:
            address = path_of("articles:comment", parent)
        is_own, cut = comment.author == viewer.reader, thread.cut.get(comment.id, 0)
        is_readable, edited_at = comment.is_shown or viewer.is_moderator or is_own, comment.edited_at
        next_new = following_new.get(comment.id)
        shape = CommentShape(
            is_shown=comment.is_shown,
            is_deleted=comment.is_deleted,
            is_removed=comment.removed is not None,
            has_former_text=comment.removed is not None and is_readable and bool(comment.html),
            choice=comment.choice,
            may_vote=viewer.may_vote and comment.is_open(viewer.now) and not is_own,
            may_reply=viewer.may_write and comment.is_shown,
            is_own=is_own,
            is_by_poster=comment.author == viewer.poster != DELETED_MEMBER,
            may_write=viewer.may_write,
            is_moderator=viewer.is_moderator,
            may_restore=viewer.is_moderator and not is_own and comment.id not in viewer.settled,
            is_blocked=comment.author in viewer.blocked,
            is_deepest=comment.depth >= DEEPEST_SHOWN,
            is_edited=edited_at is not None,
            is_reply=parent is not None,
            is_new=comment.id in following_new,
            has_next_new=next_new is not None,
            has_replies=has_replies,
            has_answers=comment.replies > 0,
            has_more=cut > 0,
        )
        yield CommentRow(
            shape,
            comment.id,
            comment.article,
            comment.author_name,
            comment.is_deleted or comment.by_deleted_member,
            comment.former if viewer.sees_subjects else None,
            comment.html if is_readable else "",
            comment.posted_at,
            age(comment.posted_at),
            edited_at,
            "" if edited_at is None else age(edited_at),
            comment.removed,
            comment.votes,
            comment.opposes,
            comment.left_out,
            thread.order is CommentOrder.BEST,
            address,
            comment.replies,
            cut,
            next_new,
        )


_turns = tuple(Lock() for _ in range(64))
"""Held while threads are drawn, which takes the processor only: of many who open a new one at once, the first has
its comments drawn, and the others find them kept. Readers of other articles do not wait."""


def draw_thread(thread: Thread, viewer: Viewer, new: Sequence[CommentId] = ()) -> Markup:
    """Return the comments as items of a list, each with a list of its replies; `new`: see `rows_of`."""
    if not thread.comments:
        return Markup()
    rows, depths = rows_of(thread, viewer, new), [comment.depth for comment in thread.comments]
    with _turns[thread.comments[0].article % len(_turns)]:
        return Markup("".join(_pieces(rows, depths)))  # nosec B704 # noqa: S704 - the template escapes


def _pieces(rows: Iterable[CommentRow], depths: Iterable[int]) -> Iterator[str]:
    ends: list[tuple[int, str]] = []
    """Depth of each comment whose replies are being drawn, and what follows the replies."""
    language = get_language()
    for row, depth in zip(rows, depths, strict=True):
        while ends and ends[-1][0] >= depth:
            yield ends.pop()[1]
        before, after = kept_comment(row, language)
        yield before
        ends.append((depth, after))
    while ends:
        yield ends.pop()[1]


def kept_comment(row: CommentRow, language: str | None) -> tuple[str, str]:
    """Return the drawn comment in the active language: what comes before its replies, and what follows them."""
    is_kept = len(row.html) <= _LONGEST_KEPT and not settings.DEBUG  # so that a changed template shows
    return (_drawn if is_kept else _drawn.__wrapped__)(row, language)


@lru_cache(MOST_COMMENTS)
def _drawn(row: CommentRow, _language: str | None) -> tuple[str, str]:
    parts, holes = drawing_of("comments/comment.html", {"shape": row.shape}), holes_of(row)
    at = parts.index("replies")
    return str(filled(parts[:at], holes)), str(filled(parts[at + 1 :], holes))
