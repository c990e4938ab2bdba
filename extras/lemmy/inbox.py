"""The inbox as Lemmy's replies and mentions. Other notices are only in the site's own inbox.

A notice has the id of its comment. The site notes up to when a member has read the inbox, not each notice.
"""

from collections.abc import Sequence
from itertools import takewhile

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import READ, VOTE
from articles.api.protocol.problems import Problem
from articles.domain.comments import is_root
from articles.domain.notices import NoticeKind, NoticePointer
from articles.web.identity import actor, inbox_read_until, mark_read
from articles.web.wiring import repository
from extras.lemmy.articles import shown_articles
from extras.lemmy.operations import MOST_LISTED, Json, Limit, Number, Page, operation
from extras.lemmy.shapes import Shapes, when

_MOST_COUNTED = 100  # new notices that a count looks at, of each kind

NOUNS: dict[str, str] = {NoticeKind.REPLY: "comment_reply", NoticeKind.MENTION: "person_mention"}


def _pointers(request: HttpRequest, kind: str, *, unread_only: bool = False) -> list[NoticePointer]:
    """Return the member's notices of this kind that are about comments, newest first. One round trip."""
    since = inbox_read_until(request) if unread_only else 0
    newer = takewhile(lambda pointer: pointer.at > since, repository().inbox.iterate(actor(request).id))
    return [one for one in newer if one.kind == kind and not is_root(one.subject)]


def _views(request: HttpRequest, pointers: Sequence[NoticePointer]) -> list[Json]:
    """Return what notices are about, without what is gone. Two round trips, none without notices."""
    me, read_until, views = actor(request).id, inbox_read_until(request), list[Json]()
    notices = [one for one in repository().inbox.read(pointers) if one.is_readable] if pointers else []
    articles = shown_articles([one.article for one in notices], me)
    shapes = Shapes(request, [me, *(one.comment.author for one in notices if one.comment)])
    for one in notices:
        if one.comment and (article := articles.get(one.article)):
            own = {
                "id": one.comment.id,
                "comment_id": one.comment.id,
                "recipient_id": me,
                "published": when(one.at),
            }
            own |= {"read": one.at <= read_until}
            view = shapes.comment_view(one.comment, article)
            views.append(view | {NOUNS[one.kind]: own, "recipient": shapes.person(me)})
    return views


def _part(request: HttpRequest, kind: str, page: int, limit: int, *, unread_only: bool) -> list[Json]:
    size = min(limit, MOST_LISTED)
    return _views(request, _pointers(request, kind, unread_only=unread_only)[(page - 1) * size : page * size])


@operation("GET", "user/replies", scope=READ)
def list_replies(request: HttpRequest, page: Page = 1, limit: Limit = 10, unread_only: bool = False) -> Json:
    return {"replies": _part(request, NoticeKind.REPLY, page, limit, unread_only=unread_only)}


@operation("GET", "user/mention", scope=READ)
def list_mentions(request: HttpRequest, page: Page = 1, limit: Limit = 10, unread_only: bool = False) -> Json:
    return {"mentions": _part(request, NoticeKind.MENTION, page, limit, unread_only=unread_only)}


@operation("GET", "user/unread_count", scope=READ)
def count_unread(request: HttpRequest) -> Json:
    new = {kind: _part(request, kind, 1, _MOST_COUNTED, unread_only=True) for kind in NOUNS}
    return {"replies": len(new[NoticeKind.REPLY]), "mentions": len(new[NoticeKind.MENTION]), "private_messages": 0}


def _mark(request: HttpRequest, kind: NoticeKind, number: int, *, read: bool) -> Json:
    """Mark a notice as read, and with it all older ones."""
    noun = NOUNS[kind]
    if not read:
        raise Problem(409, "couldnt_update_replies", _("What you have read cannot be marked as unread."))
    pointers = [one for one in _pointers(request, kind) if one.subject == number][:1]
    if not (views := _views(request, pointers)):
        raise Problem(404, f"couldnt_find_{noun}", _("There is no such notice."))
    mark_read(actor(request).id, pointers[0].at)
    views[0][noun]["read"] = True
    return {f"{noun}_view": views[0]}


@operation("POST", "comment/mark_as_read", scope=VOTE, word="couldnt_update_replies")
def mark_reply(request: HttpRequest, comment_reply_id: Number, read: bool) -> Json:
    return _mark(request, NoticeKind.REPLY, comment_reply_id, read=read)


@operation("POST", "user/mention/mark_as_read", scope=VOTE, word="couldnt_update_person_mentions")
def mark_mention(request: HttpRequest, person_mention_id: Number, read: bool) -> Json:
    return _mark(request, NoticeKind.MENTION, person_mention_id, read=read)


@operation("POST", "user/mark_all_as_read", scope=VOTE)
def mark_all(request: HttpRequest) -> Json:
    mark_read(actor(request).id, repository().store.now())
    return {"replies": []}
