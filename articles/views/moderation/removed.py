"""The moderators' list of removed articles."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.moderators import REMOVE_ARTICLES
from articles.views.lists.paging import numbered_pager, page_number
from articles.web.identity import needs
from articles.wiring import repository


@require_safe
@never_cache
@needs(REMOVE_ARTICLES)
def index(request: HttpRequest) -> HttpResponse:
    page = repository().removed_articles.get_page(page_number(request))
    pager = numbered_pager(page.number, has_next=page.has_next)
    return render(request, "moderation/removed.html", {"articles": page.articles, "pager": pager})
