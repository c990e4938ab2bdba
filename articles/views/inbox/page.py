"""The member's inbox: replies, mentions, decisions on flags, moderators' actions on the member's content, bans."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Ban, Mute
from accounts.web.form_pages import MemberRequest, form_action, members_only
from articles.domain.discussion.notices import EXCERPT_CHARACTERS, Notice
from articles.forms.bans import SCOPES
from articles.forms.inbox import ReadForm
from articles.text.markdown import plain
from articles.views.lists.paging import numbered_pager, page_number
from articles.web import error_pages
from articles.web.identity import actor, inbox_read_until, mark_read, named
from articles.wiring import repository

MOST_SHOWN = 100
"""Muted discussions on the page, the last muted."""


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """A notice as the page shows it."""

    notice: Notice
    excerpt: str
    """Beginning of the comment; "" if there is none, or if it cannot be read."""


@never_cache
@require_safe
@members_only()
def inbox(request: MemberRequest) -> HttpResponse:
    """Show a page of the inbox; what is new stays new until the member marks it as read."""
    number, repo = page_number(request), repository()
    page = repo.inbox.get_page(actor(request).id, number)
    rows, read_until = list(_rows(named(page.notices))), inbox_read_until(request)
    context = {
        "bans": Ban.objects.to_show(request.user) if number == 1 else [],
        "scopes": SCOPES,
        "muted": repo.articles.get_many(Mute.objects.list_muted(request.user)[:MOST_SHOWN]) if number == 1 else [],
        "new": [row for row in rows if row.notice.at > read_until],
        "earlier": [row for row in rows if row.notice.at <= read_until],
        "form": ReadForm(initial={"until": repo.store.now()}),
        "pager": numbered_pager(page.number, has_next=page.has_next),
    }
    response = render(request, "inbox/inbox.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response


def _rows(notices: Iterable[Notice]) -> Iterator[NoticeRow]:
    for notice in notices:
        yield NoticeRow(notice, Truncator(plain(notice.html)).chars(EXCERPT_CHARACTERS))


def _inbox_page(_request: HttpRequest) -> str:
    return reverse("articles:inbox")


def _read_button(_request: HttpRequest) -> str:
    return _("Mark all as read")


@never_cache
@form_action(page=_inbox_page, button=_read_button)
@members_only()
def read(request: HttpRequest) -> HttpResponse:
    """Mark as read what was in the inbox when its page was shown. Idempotent."""
    form = ReadForm(request.POST)
    if not form.is_valid():
        return error_pages.page(request, 400)
    mark_read(actor(request).id, min(form.cleaned_data["until"], repository().store.now()))
    return redirect("articles:inbox")
