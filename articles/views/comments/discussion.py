"""The discussion on the page of an article, and the page of a comment: the branch that begins with it."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.models import BanScope
from accounts.moderators import REMOVE_ARTICLES
from articles.configuration.choices import closed_groups, site_address
from articles.domain.articles import Article, ArticleId
from articles.domain.comments import Comment, CommentId, CommentOrder, Thread, ThreadPart, article_of
from articles.domain.errors import CommentNotFound, PageNotFound
from articles.domain.moderation_log import Action
from articles.formatting.values import grouped
from articles.views.comments.rows import Viewer, draw_thread, new_in
from articles.views.lists.rows import comments_label
from articles.web.addresses import path_of
from articles.web.forms.comments import CommentForm
from articles.web.identity import is_banned_in, is_free, may_moderate, reader_id
from articles.web.paging import Pages, pack, unpack
from articles.web.preferences import preferences_of
from articles.web.rights import decides, is_of_groups, may, may_see_subjects
from articles.web.wiring import repository

_MOST_DIGITS = 20  # maximum number of digits of a comment's id
_LONGEST_START = 7  # digits of `start` in an address: no article has more comments


class DiscussionShape(NamedTuple):
    """Which parts a discussion has."""

    order: CommentOrder
    is_empty: bool
    is_locked: bool
    is_muted: bool  # whether the member wants no notices of it
    is_banned: bool  # whether the reader is banned from writing or voting here
    has_form: bool
    """Whether the discussion, and the comment that the form would reply to, takes a comment by the reader."""

    has_new: bool  # whether this part has comments that were posted since the reader's last visit
    has_first: bool  # whether this is not the first part
    has_more: bool  # whether another part follows
    has_feed: bool  # whether everyone sees it


def comment_of(article_id: ArticleId, number: str) -> Comment | None:
    """Return an article's comment by its number in an address or a form; None if there is none. One round trip."""
    is_number = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    if not is_number or article_of(int(number)) != article_id:
        return None
    try:
        return repository().comments.get(int(number))
    except CommentNotFound:
        return None


def order_of(request: HttpRequest) -> CommentOrder:
    """Return the order of `?comments=`; the best first for any other value."""
    named = request.GET.get("comments")
    return next((order for order in CommentOrder if order == named), CommentOrder.BEST)


class Place(NamedTuple):
    """The place of a reader in a thread: before comment number `start` of those that reply to its parent."""

    start: int
    pages: Pages = ()  # those that the parts before had, as far as they are known

    @property
    def part(self) -> ThreadPart:
        """What is read of the thread."""
        return ThreadPart(self.start, passed=tuple(chain.from_iterable(self.pages)))


def place_in(request: HttpRequest) -> Place:
    """Return the reader's place in the thread: by `?after=` if that was made for this page, else by `?start=`.

    Raises PageNotFound if that is no number.
    """
    raw = request.GET.get("start", "0")
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= _LONGEST_START):
        raise PageNotFound(raw)
    token = request.GET.get("after", "")
    pages = unpack(token, _name(request, order_of(request)), repository().store.now()) if token else ()
    place = Place(int(raw), pages)
    return place if len(place.part.passed) == place.start else Place(place.start)


def _name(request: HttpRequest, order: CommentOrder) -> str:
    """Return what the tokens of the page are for."""
    return f"{request.path}?{order}"


def discussion_with(
    request: HttpRequest,
    article: Article,
    thread: Thread,
    address: str,
    now: float,
    *,
    parent: Comment | None = None,
    visited_at: float | None = None,
) -> tuple[DiscussionShape, dict[str, object]]:
    """Return the parts of the discussion of a thread that was read for the page at `address`, and what they say.

    `now` in Unix seconds; `parent`: the comment that the page's form replies to; `visited_at`: when the last visit
    of the reader ended.
    """
    user = request.user
    is_banned, moderates = is_banned_in(user, article.groups), may_moderate(user)
    is_moderator = moderates and decides(user, REMOVE_ARTICLES, article)
    viewer = Viewer(
        reader_id(request),
        is_moderator=is_moderator,
        may_vote=is_free(user, BanScope.VOTING),
        settled=_settled(thread) if is_moderator and not may(user, REMOVE_ARTICLES) else frozenset(),
        may_write=thread.locked is None and not is_banned and article.merged_into is None,
        now=now,
        visited_at=visited_at,
        blocked=frozenset(preferences_of(request).hiding.members),
        poster=article.poster,
        sees_subjects=moderates and may_see_subjects(request),
    )
    new = new_in(thread, viewer)
    has_form = viewer.may_write and (parent is None or parent.is_shown)

    more = _address_after(request, thread, address)
    shape = DiscussionShape(
        thread.order,
        is_empty=not thread.comments,
        is_locked=thread.locked is not None,
        is_muted=user.is_authenticated and user.mutes_discussion(article.id),
        is_banned=is_banned or not viewer.may_vote,
        has_form=has_form,
        has_new=bool(new),
        has_first=thread.start > 0,
        has_more=bool(more),
        has_feed=closed_groups().isdisjoint(article.groups),
    )
    orders: dict[str, object] = {order.value: _address(address, order) for order in CommentOrder}
    return shape, orders | {
        "count": comments_label(thread.total),
        "comments": draw_thread(thread, viewer, new),
        "locked": thread.locked,
        "new": _counted(new),
        "first_new": f"#comment-{new[0]}" if new else "",
        "first": _address(address, thread.order),
        "more": more,
    }


def _settled(thread: Thread) -> frozenset[CommentId]:
    """Return the comments that moderators of the whole site removed. One round trip, none without any removed."""
    removed = [one.id for one in thread.comments if one.removed is not None]
    entries = repository().moderation_log.find_latest([(Action.REMOVE_COMMENT, one) for one in removed])
    return frozenset(one for one, entry in zip(removed, entries, strict=True) if not is_of_groups(entry))


def _counted(new: Sequence[CommentId]) -> str:
    text = ngettext(
        "%(num)s new comment since your last visit", "%(num)s new comments since your last visit", len(new)
    )
    return text % {"num": grouped(len(new))}


def _address_after(request: HttpRequest, thread: Thread, address: str) -> str:
    """Return the address of the next part, "" if there is none.

    It has no token if this part was opened by its number, or if the token of all comments shown would be too long.
    """
    if thread.next_start is None:
        return ""
    place, token = place_in(request), ""
    if len(place.part.passed) == thread.start:
        pages = (*place.pages, thread.passed)
        token = pack(pages, _name(request, thread.order), repository().store.now())
    return _address(address, thread.order, thread.next_start, token)


def _address(path: str, order: CommentOrder, start: int = 0, token: str = "") -> str:
    """Return the address of a part of the comments; the default order and the first part are not named."""
    named = {"comments": "" if order is CommentOrder.BEST else order.value, "start": start or "", "after": token}
    query = "&".join([f"{name}={value}" for name, value in named.items() if value])  # nothing needs an escape
    return f"{path}{'?' if query else ''}{query}#comments"


@require_safe
def branch(request: HttpRequest, comment_id: int) -> HttpResponse:
    """Show a comment with its replies, and links to what it replies to. Not a view of the article."""
    repo, order, place = repository(), order_of(request), place_in(request)
    thread = repo.comments.get_branch(comment_id, order, reader=reader_id(request), part=place.part)
    comment = thread.comments[0]
    article = repo.articles.get(comment.article, reader_id(request))
    whole = path_of("articles:article", article.id)
    address = path_of("articles:comment", comment_id)
    discussion, says = discussion_with(request, article, thread, address, repo.store.now(), parent=comment)
    context = {
        "article": article,
        "comment": comment,
        "top": thread.ancestors[0] if len(thread.ancestors) > 1 else None,
        "canonical": site_address(request) + whole,
        "discussion": discussion,
        "says": says | {"id": article.id},
        "comment_form": CommentForm(initial={"parent": comment_id}),
    }
    return render(request, "comments/page.html", context)
