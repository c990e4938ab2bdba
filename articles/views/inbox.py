"""The inbox: its page, and the forms that block members and mute discussions."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _, gettext_lazy

from accounts.models import BAN_SCOPES, Ban, BanScope, GroupModerator, HeldPost, Mute, Statement, User
from accounts.web import sent_forms
from accounts.web.form_pages import MemberRequest, members_only, private_act, private_page
from articles.domain.moderation_log import STATED
from articles.domain.notices import EXCERPT_CHARACTERS, Notice
from articles.text.markdown import plain
from articles.text.searching import Kind
from articles.web import comments, error_pages, hiding
from articles.web.caching import unlisted
from articles.web.form_answers import telling, way_back
from articles.web.identity import actor, inbox_read_until, is_banned_in, is_free, mark_read, member_named, named
from articles.web.paging import numbered_pager, page_number
from articles.web.wiring import repository


class ReadForm(forms.Form):
    """The time up to which the inbox was read, in Unix seconds: later notices stay new."""

    until = forms.FloatField(min_value=0, widget=forms.HiddenInput)


MOST_SHOWN = 100  # muted discussions on the page, the last muted


class NoticeRow(NamedTuple):
    """A notice as the page shows it."""

    notice: Notice
    excerpt: str  # beginning of the comment; "" if there is none, or if it cannot be read
    statement: int | None = None  # number of the statement about a moderator's action; None without one


@private_page(members_only())
def inbox(request: MemberRequest) -> HttpResponse:
    """Show a page of the inbox; what is new stays new until the member marks it as read."""
    number, repo = page_number(request), repository()
    page = repo.inbox.get_page(actor(request).id, number)
    rows, read_until = list(_rows(named(page.notices), request.user)), inbox_read_until(request)
    context = {
        "bans": Ban.objects.to_show(request.user) if number == 1 else [],
        "scopes": BAN_SCOPES,
        "moderation": GroupModerator.objects.to_tell(request.user) if number == 1 else [],
        "statements": Statement.objects.to_show(request.user) if number == 1 else [],
        "held": HeldPost.objects.to_show(request.user) if number == 1 else [],
        "muted": repo.articles.get_many(Mute.objects.list_muted(request.user)[:MOST_SHOWN]) if number == 1 else [],
        "new": [row for row in rows if row.notice.at > read_until],
        "earlier": [row for row in rows if row.notice.at <= read_until],
        "form": ReadForm(initial={"until": repo.store.now()}),
        "pager": numbered_pager(page.number, has_next=page.has_next),
    }
    return unlisted(render(request, "inbox/inbox.html", context))


def _rows(notices: Iterable[Notice], member: User) -> Iterator[NoticeRow]:
    notices = list(_answerable(notices, member))
    about = [one.subject for one in notices if one.entry and one.entry.action in STATED]
    statements = Statement.objects.latest_about(member, about) if about else {}
    for notice in notices:
        is_stated = notice.entry is not None and notice.entry.action in STATED
        statement = statements.get(notice.subject) if is_stated else None
        yield NoticeRow(notice, Truncator(plain(notice.html)).chars(EXCERPT_CHARACTERS), statement)


def _answerable(notices: Iterable[Notice], member: User) -> Iterator[Notice]:
    """Yield the notices; discussions where a ban forbids the member to write count as locked.

    One round trip for members who may be banned.
    """
    if is_free(member, BanScope.POSTING) and not member.may_be_banned_from:
        yield from notices
        return
    notices = list(notices)
    articles = repository().articles.get_many(sorted({one.article for one in notices if one.takes_reply}))
    closed = {one.id for one in articles if is_banned_in(member, one.groups)}
    for one in notices:
        yield replace(one, is_locked=True) if one.article in closed else one


@private_act(members_only(), page="articles:inbox", button=gettext_lazy("Mark all as read"))
def read(request: HttpRequest) -> HttpResponse:
    """Mark as read what was in the inbox when its page was shown. Idempotent."""
    form = ReadForm(request.POST)
    if not form.is_valid():
        return error_pages.page(request, 400)
    mark_read(actor(request).id, min(form.cleaned_data["until"], repository().store.now()))
    return redirect("articles:inbox")


_BLOCKING = {"block": True, "unblock": False}
_MUTING = {"mute": True, "unmute": False}


def _profile(request: HttpRequest, name: str) -> str:
    return way_back(request) or reverse("articles:profile", args=[name])


def _block_button(request: HttpRequest, name: str) -> str:
    is_wanted = _BLOCKING.get(sent_forms.sent(request).get("blocked", ""))
    return (_("Block %(name)s") if is_wanted else _("Unblock %(name)s")) % {"name": name}


@private_act(members_only(), page=_profile, button=_block_button)
def block(request: MemberRequest, name: str) -> HttpResponse:
    """Block a member, or unblock them. Idempotent."""
    is_wanted, other = _BLOCKING.get(request.POST.get("blocked", "")), member_named(name)
    if is_wanted is None or other.pk == request.user.pk:
        return error_pages.page(request, 400)
    with telling(request):
        hiding.change(actor(request).id, Kind.MEMBER, name, hidden=is_wanted)
    return redirect(_profile(request, other.get_username()))


def _discussion(request: HttpRequest, article_id: int) -> str:
    return way_back(request) or reverse("articles:article", args=[article_id]) + "#comments"


def _mute_button(request: HttpRequest, **_article: int) -> str:
    is_wanted = _MUTING.get(sent_forms.sent(request).get("muted", ""))
    return _("Mute this discussion") if is_wanted else _("Unmute this discussion")


@private_act(members_only(), page=_discussion, button=_mute_button)
def mute(request: MemberRequest, article_id: int) -> HttpResponse:
    """Mute the discussion of an article, or unmute it. Idempotent."""
    is_wanted = _MUTING.get(request.POST.get("muted", ""))
    if is_wanted is None:
        return error_pages.page(request, 400)
    comments.mute(request.user, article_id, is_wanted=is_wanted)
    return redirect(_discussion(request, article_id))
