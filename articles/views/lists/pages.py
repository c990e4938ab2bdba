"""Pages of lists. All are rendered as the same page."""

from collections.abc import Sequence
from typing import TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.domain.errors import GroupNotFound
from articles.domain.lists import GROUPS_PER_LIST, Order, Range, Span
from articles.text.lines import InvalidInput
from articles.text.slugs import slugs_between
from articles.views.lists.list_page import Reader, list_page
from articles.views.lists.paging import place_in
from articles.web.addresses import moved, redirect_to_path
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.wiring import repository

Chosen = TypeVar("Chosen", Order, Range, Span)


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.SCORE)


@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.TIME)


@require_safe
def hot(request: HttpRequest) -> HttpResponse:
    posted = _choice(request, "range", Range.ALL)
    return _list(request, Order.HOT, posted=posted, query={} if posted is Range.ALL else {"range": posted.value})


@require_safe
def top(request: HttpRequest) -> HttpResponse:
    span = _choice(request, "range", Span.DAY)
    return _list(request, Order.POINTS, span=span, query={"range": span.value})


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    slugs = slugs_in(slug)
    if "+".join(slugs) != slug:
        return _redirect_to_groups(request, slugs)
    order = _choice(request, "order", Order.SCORE)
    try:
        return _list(request, order, slugs, query={"order": order.value})
    except GroupNotFound as error:
        if len(slugs) == 1:
            raise
        return _other_groups(request, slugs, error)


def _choice(request: HttpRequest, name: str, default: Chosen) -> Chosen:
    """Return the value of a parameter of the address. Raises Http404 for an unknown one."""
    try:
        return type(default)(request.GET.get(name, default.value))
    except ValueError:
        raise Http404(f"no such {name}") from None


def slugs_in(text: str) -> tuple[str, ...]:
    """Return the slugs of an address such as `python+redis`, sorted, each once. Raises Http404 if invalid."""
    try:
        return slugs_between(text, at_most=GROUPS_PER_LIST)
    except InvalidInput as refused:
        raise Http404(str(refused)) from refused


def _redirect_to_groups(request: HttpRequest, slugs: Sequence[str]) -> HttpResponse:
    return redirect_to_path(request, reverse("articles:group", args=["+".join(slugs)]))


def _other_groups(request: HttpRequest, slugs: Sequence[str], error: GroupNotFound) -> HttpResponse:
    """Redirect if one of the groups was merged; else return a page that names the unknown ones."""
    if error.moved_to:
        into = sorted({error.moved_to if s == error.slug else s for s in slugs})
        return moved(reverse("articles:group", args=["+".join(into)]), request.GET.urlencode())
    titles = repository().groups.get_titles()
    unknown = [slug for slug in slugs if slug not in titles]
    known = [slug for slug in slugs if slug in titles]
    context = {"unknown": unknown, "known": "+".join(known), "titles": [titles[slug] for slug in known]}
    return render(request, "groups/unknown.html", context, status=404)


def _list(
    request: HttpRequest,
    order: Order,
    slugs: Sequence[str] = (),
    *,
    query: dict[str, str] | None = None,
    posted: Range = Range.ALL,
    span: Span = Span.ALL,
) -> HttpResponse:
    """Return a page of a list. `query` holds the parameters of its address other than the page."""
    repo = repository()
    now = repo.store.now()
    place, hidden = place_in(request, query or {}, now), preferences_of(request).hidden_groups
    page = repo.lists.get_page(
        order,
        place.number,
        slugs=slugs,
        since=posted.since(now),
        span=span,
        reader=reader_id(request),
        hidden=hidden,
        shown=place.shown,
    )
    user = request.user
    view_model = list_page(
        page,
        Reader(
            is_member=user.is_authenticated,
            hidden_groups=hidden,
            may_manage_groups=page.group is not None and user.has_perm("articles.assign_groups"),
        ),
        now=now,
        posted=posted,
        span=span,
        previous=place.before,
        next=place.after(page),
    )
    response = render(request, "lists/list.html", {"list": view_model, "now": now})
    if place.pages:
        response["X-Robots-Tag"] = "noindex"  # a page for this reader; pages for all have plain addresses
    return response
