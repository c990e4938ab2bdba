"""The discussion on the page of an article, and the branch of it on the page of a comment."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.translation import pgettext
from markupsafe import Markup

from accounts.models import BanScope
from accounts.moderators import REMOVE_ARTICLES
from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import Comment, CommentOrder, Thread
from articles.domain.errors import PageNotFound
from articles.views.comments.rows import Viewer, draw_thread, new_in
from articles.web.identity import reader_id, silence_of
from articles.wiring import repository

_LONGEST_START = 7
"""Digits of `start` in an address: no article has more comments."""


@dataclass(frozen=True, slots=True)
class OrderLink:
    """A link to the same comments in another order."""

    label: str
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Discussion:
    """What the template draws. Addresses are "" if there is no such page."""

    drawn: Markup
    """Its comments."""

    total: int
    new: int
    """Comments of this part that were posted since the reader's last visit."""

    first_new: str
    """Address of the first of these."""

    is_empty: bool
    orders: tuple[OrderLink, ...]
    first: str
    """Address of the first part, if this is another."""

    more: str
    """Address of the next part."""

    locked: str | None
    is_muted: bool
    """Whether the member wants no notices of it."""

    is_banned: bool
    """Whether the reader is banned from writing."""

    has_form: bool
    """Whether the discussion, and the comment that the form would reply to, takes a comment by the reader."""


def order_of(request: HttpRequest) -> CommentOrder:
    """Return the order of `?comments=`; the best first for any other value."""
    try:
        return CommentOrder(request.GET.get("comments", ""))
    except ValueError:
        return CommentOrder.BEST


def start_of(request: HttpRequest) -> int:
    """Return the number of `?start=`, 0 without one. Raises PageNotFound for anything else."""
    raw = request.GET.get("start", "0")
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= _LONGEST_START):
        raise PageNotFound(raw)
    return int(raw)


def discussion_with(
    request: HttpRequest,
    article_id: ArticleId,
    thread: Thread,
    address: str,
    *,
    parent: Comment | None = None,
    visited_at: float | None = None,
) -> Discussion:
    """Return the discussion of a thread that was read for the page at `address`.

    `parent`: the comment that the page's form replies to; `visited_at`: since when comments are new to the reader.
    """
    silence, user = silence_of(request, article_id), request.user
    is_banned = user.is_authenticated and user.is_banned_from(BanScope.POSTING)
    viewer = Viewer(
        reader_id(request),
        is_moderator=user.has_perm(REMOVE_ARTICLES),
        may_write=thread.locked is None and not is_banned,
        now=repository().store.now(),
        visited_at=visited_at,
        blocked=silence.blocked,
    )
    new = new_in(thread, viewer)
    has_form = viewer.may_write and (parent is None or parent.is_shown)

    def part(start: int | None) -> str:
        return "" if start is None else _address(address, thread.order, start)

    return Discussion(
        drawn=draw_thread(thread, viewer, new),
        total=thread.total,
        new=len(new),
        first_new=f"#comment-{new[0]}" if new else "",
        is_empty=not thread.comments,
        orders=tuple(
            OrderLink(label, _address(address, order, 0), order is thread.order)
            for order, label in _labels().items()
        ),
        first=part(0) if thread.start else "",
        more=part(thread.next_start),
        locked=thread.locked,
        is_muted=silence.is_muted,
        is_banned=is_banned,
        has_form=has_form,
    )


def _labels() -> dict[CommentOrder, str]:
    return {
        CommentOrder.BEST: pgettext("comments", "Best"),
        CommentOrder.NEWEST: pgettext("comments", "Newest"),
        CommentOrder.OLDEST: pgettext("comments", "Oldest"),
    }


def _address(path: str, order: CommentOrder, start: int) -> str:
    """Return the address of a part of the comments; the default order and the first part are not named."""
    named = {"comments": "" if order is CommentOrder.BEST else order.value, "start": start or ""}
    query = urlencode({name: value for name, value in named.items() if value})
    return f"{path}{'?' if query else ''}{query}#comments"
