"""Pages of lists. Readers of the same list get the same page, which is kept in memory, with holes for the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.moderators import ASSIGN_GROUPS
from articles.configuration.choices import closed_groups, site_address
from articles.domain.errors import GroupNotFound
from articles.domain.lists import GROUPS_PER_LIST, PERIODS, ArticlePage, Order, Period
from articles.formatting.kept import OPEN, piece
from articles.formatting.values import age
from articles.site import site_text
from articles.text.lines import InvalidInput
from articles.text.slugs import slugs_between
from articles.views.groups import facts_of
from articles.views.lists.list_page import ListPage, Reader
from articles.views.lists.rows import draw_rows, hidden_note
from articles.views.owner.administrator import is_missing
from articles.views.owner.steps import on_front_page
from articles.web import hiding
from articles.web.addresses import moved, redirect_to_path
from articles.web.caching import unlisted
from articles.web.context import frame_holes, frame_of
from articles.web.hiding import Applied
from articles.web.identity import View, reader_id
from articles.web.paging import Place, place_in
from articles.web.preferences import preferences_of
from articles.web.rights import may
from articles.web.wiring import repository

_Choice = TypeVar("_Choice", Order, Period)

_ORDERS: Mapping[str, Order] = {order.value: order for order in Order}

_SINCE_STEP_SECONDS = 10
"""Readers of the same list send the same `since` for this long, so that they share a cached response."""


def whole(order: Order) -> View:
    """Return the view of the list of the whole site in this order."""
    periods = PERIODS.get(order, {})
    usual = "day" if order is Order.POINTS else "all"

    @require_safe
    def view(request: HttpRequest) -> HttpResponse:
        word, period = _choice(request, "range", periods, usual) if periods else ("", Period.ALL)
        return _list(request, order, period=period, query={"range": word} if periods and word != usual else {})

    return view


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    slugs = slugs_in(slug)
    if "+".join(slugs) != slug:
        return redirect_to_path(request, reverse("articles:group", args=["+".join(slugs)]))
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
    period: Period = Period.ALL,
) -> HttpResponse:
    """Return a page of a list. `query` holds the parameters of its address other than the page."""
    repo = repository()
    now = repo.store.now()
    applied = hiding.applied(request, slugs, read=order is not Order.ACTIVE)
    place = place_in(request, (query or {}) | applied.query, now)
    page = repo.lists.get_page(
        order,
        place.number,
        slugs=slugs,
        since=period.since(now) if order is Order.HOT else None,
        period=period if order is Order.POINTS else Period.ALL,
        shown=place.shown,
        reader=reader_id(request),
        hidden=applied.hidden,
        with_visitors=order is Order.HOT,  # rows of other lists do not show them
    )
    response = HttpResponse(_drawn(request, page, place, now, period, applied))
    return unlisted(response) if place.pages else response  # pages for all have plain addresses


def _is_site_empty(page: ArticlePage) -> bool:
    """Return whether this is the list of the whole site by votes or time, and nothing was posted."""
    has_any = page.articles or page.total or page.hidden
    return page.order in (Order.SCORE, Order.TIME) and not (page.is_of_groups or has_any)


def _drawn(
    request: HttpRequest, page: ArticlePage, place: Place, now: float, period: Period, applied: Applied
) -> str:
    """Return a page of a list as this reader sees it."""
    frame, preferences, group = frame_of(request), preferences_of(request), page.group
    previous, next_page, is_front = place.before, place.after(page), page.is_front
    reader = Reader(
        may_post=frame.is_member and frame.may_post,
        hidden_groups=preferences.hiding.groups,
        hides=bool(applied.hidden),
        followed_groups=tuple(slug for slug in preferences.followed_groups if group and slug == group.slug),
        may_manage_groups=group is not None and may(request.user, ASSIGN_GROUPS, [group.slug]),
        has_no_administrator=_is_site_empty(page) and is_missing(),
    )
    shown = ListPage(
        replace(page, articles=()),
        reader,
        is_empty=not page.articles,
        period=period,
        previous=OPEN["previous"] if previous else "",
        next=OPEN["next"] if next_page else "",
        description=group.description if group else "",
        is_for_members=page.is_of_groups
        and not closed_groups().isdisjoint(one.slug for one in (group, *page.groups) if one),
    )
    rows = draw_rows(
        page.articles,
        is_member=frame.is_member,
        now=now,
        first_rank=page.first_rank,
        shows_last_comments=page.order is Order.ACTIVE,
        applied=applied,
        may_vote=frame.may_vote,
    )
    holes = frame_holes(request) | {
        "rows": rows,
        "since": int(now // _SINCE_STEP_SECONDS * _SINCE_STEP_SECONDS),
        "previous": previous,
        "next": next_page,
        "liveliness": facts_of(group.slug) if group else "",
        "hidden": hidden_note(applied, page.hidden, {"page": place.number, **place.query}),
        "steps": on_front_page(request) if is_front and request.user.is_superuser else "",
    }
    return piece(
        "lists/list.html",
        holes,
        frame=frame,
        list=shown,
        site="" if frame.is_member else site_address(request),
        updated_ago="" if page.refreshed_at is None else age(page.refreshed_at),
        welcome=None if frame.is_member or not is_front else site_text("welcome"),
    )
