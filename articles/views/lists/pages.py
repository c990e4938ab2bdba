"""Pages of lists. All are rendered as the same page."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.moderators import ASSIGN_GROUPS
from articles.domain.errors import GroupNotFound
from articles.domain.lists import GROUPS_PER_LIST, HOT_PERIODS, TOP_PERIODS, Group, Order, Period
from articles.text.lines import InvalidInput
from articles.text.slugs import slugs_between
from articles.views.lists.list_page import Reader, list_page
from articles.views.lists.paging import place_in
from articles.web.addresses import moved, redirect_to_path
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.wiring import repository

_Choice = TypeVar("_Choice", Order, Period)

_ORDERS: Mapping[str, Order] = {order.value: order for order in Order}


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.SCORE)


@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.TIME)


@require_safe
def hot(request: HttpRequest) -> HttpResponse:
    word, period = _choice(request, "range", HOT_PERIODS, "all")
    return _list(request, Order.HOT, period=period, query={} if period is Period.ALL else {"range": word})


@require_safe
def active(request: HttpRequest) -> HttpResponse:
    return _list(request, Order.ACTIVE)


@require_safe
def top(request: HttpRequest) -> HttpResponse:
    word, period = _choice(request, "range", TOP_PERIODS, "day")
    return _list(request, Order.POINTS, period=period, query={"range": word})


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    slugs = slugs_in(slug)
    if "+".join(slugs) != slug:
        return _redirect_to_groups(request, slugs)
    word, order = _choice(request, "order", _ORDERS, "score")
    try:
        return _list(request, order, slugs, query={"order": word})
    except GroupNotFound as error:
        if len(slugs) == 1:
            raise
        return _other_groups(request, slugs, error)


def _choice(request: HttpRequest, name: str, choices: Mapping[str, _Choice], default: str) -> tuple[str, _Choice]:
    """Return the value of a parameter of the address, and what it means. Raises Http404 for an unknown one."""
    word = request.GET.get(name, default)
    if word not in choices:
        raise Http404(f"no such {name}")
    return word, choices[word]


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


def _description_of(group: Group | None) -> str:
    """Return the description of a list's only group; "" without one. One round trip for a group."""
    return repository().groups.get_descriptions([group.slug]).get(group.slug, "") if group else ""


def _list(
    request: HttpRequest,
    order: Order,
    slugs: Sequence[str] = (),
    *,
    query: dict[str, str] | None = None,
    period: Period = Period.ALL,
) -> HttpResponse:
    """Return a page of a list. `query` holds the parameters of its address other than the page."""
    repo = repository()
    now = repo.store.now()
    place, hidden = place_in(request, query or {}, now), preferences_of(request).hidden_groups
    page = repo.lists.get_page(
        order,
        place.number,
        slugs=slugs,
        since=period.since(now) if order is Order.HOT else None,
        period=period if order is Order.POINTS else Period.ALL,
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
            followed_groups=preferences_of(request).followed_groups,
            may_manage_groups=page.group is not None and user.has_perm(ASSIGN_GROUPS),
        ),
        now=now,
        period=period,
        previous=place.before,
        next=place.after(page),
        description=_description_of(page.group),
    )
    response = render(request, "lists/list.html", {"list": view_model, "now": now})
    if place.pages:
        response["X-Robots-Tag"] = "noindex"  # a page for this reader; pages for all have plain addresses
    return response
