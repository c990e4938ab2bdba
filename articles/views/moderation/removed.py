"""The moderators' lists of removed articles and of removed comments."""

import re
from math import inf

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.moderators import REMOVE_ARTICLES
from articles.views.lists.paging import Pager, numbered_pager, page_number
from articles.web.identity import needs
from articles.wiring import repository

_BEFORE = re.compile(r"[0-9]{1,11}\.[0-9]{3}")


@require_safe
@never_cache
@needs(REMOVE_ARTICLES)
def index(request: HttpRequest) -> HttpResponse:
    page = repository().removed_articles.get_page(page_number(request))
    pager = numbered_pager(page.number, has_next=page.has_next)
    return render(request, "moderation/removed.html", {"articles": page.articles, "pager": pager})


@require_safe
@never_cache
@needs(REMOVE_ARTICLES)
def comments(request: HttpRequest) -> HttpResponse:
    page = repository().removed_comments.get_page(_before(request))
    following = "" if page.next_before is None else f"?before={page.next_before:.3f}"
    pager = Pager("", "", following) if following else None
    return render(request, "moderation/removed_comments.html", {"comments": page.comments, "pager": pager})


def _before(request: HttpRequest) -> float:
    """Return `?before=`, in Unix seconds; without it, the end of time. Raises Http404 if it is no such moment."""
    text = request.GET.get("before")
    if text is None:
        return inf
    if not _BEFORE.fullmatch(text):
        raise Http404(f"no moment: {text!r}")
    return float(text)
