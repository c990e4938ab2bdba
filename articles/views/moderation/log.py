"""The public moderation log."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from articles.views.lists.paging import numbered_pager, page_number
from articles.wiring import repository


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    page = repository().moderation_log.get_page(page_number(request))
    pager = numbered_pager(page.number, has_next=page.has_next)
    return render(request, "moderation/log.html", {"entries": page.entries, "pager": pager})
