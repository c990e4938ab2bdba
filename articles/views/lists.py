"""Every list is the same page in another order."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.domain import Order, Range
from articles.people import reader_id
from articles.slugs import clean_slug
from articles.text import Refused
from articles.views.paging import page_number
from articles.wiring import repository


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.SCORE)


@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.TIME)


@require_safe
def hot(request: HttpRequest) -> HttpResponse:
    try:
        posted = Range(request.GET.get("range", Range.ALL.value))
    except ValueError:
        raise Http404("no such range") from None
    return _list(request, Order.HOT, posted=posted)


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    canonical = _canonical(slug)
    if canonical != slug:
        return HttpResponsePermanentRedirect(reverse("articles:group", args=[canonical]))
    try:
        order = Order(request.GET.get("order", Order.SCORE.value))
    except ValueError:
        raise Http404("no such order") from None
    return _list(request, order, slug)


def _canonical(slug: str) -> str:
    try:
        return clean_slug(slug)
    except Refused as refused:
        raise Http404(str(refused)) from refused


def _list(request: HttpRequest, order: Order, slug: str | None = None, posted: Range = Range.ALL) -> HttpResponse:
    found = repository()
    now, number, reader = found.store.now(), page_number(request), reader_id(request)
    page = found.listings.page(order, number, slug=slug, since=posted.since(now), reader=reader)
    return render(request, "articles/list.html", {"page": page, "now": now, "posted": posted})
