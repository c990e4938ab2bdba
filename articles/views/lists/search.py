"""The search page: its form and the results."""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from markupsafe import Markup

from articles.domain.errors import GroupNotFound
from articles.domain.lists import Order
from articles.searching import MOST_CHARACTERS, Query, marked_parts, read_query
from articles.text.slugs import requested_slug
from articles.views.lists.headings import page_title, search_heading
from articles.views.lists.list_page import hidden_groups
from articles.views.lists.paging import numbered_pager, page_number
from articles.views.lists.tabs import Tab, Tabs
from articles.web.addresses import moved
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.wiring import repository

_ORDERS = (Order.SCORE, Order.TIME)

_MARK = Markup("<mark>%s</mark>")

_MOST_CHOICES = 200
"""Maximum number of groups offered in a list; with more groups, the name is typed."""


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Search for `?q=` with `order`, `group` and `page`; without search terms, show the form alone."""
    text, slug = search_terms(request)
    order, number = _order(request), page_number(request)
    repo, query = repository(), read_query(text)
    hidden, reader = preferences_of(request).hidden_groups, reader_id(request)
    try:
        page = repo.search.get_page(query, order, number, slug=slug, hidden=hidden, reader=reader)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        parameters = request.GET.copy()
        parameters["group"] = gone.moved_to
        return moved(request.path, parameters.urlencode())
    context = {
        "q": text,
        "order": order,
        "slug": slug or "",
        "page": page,
        "asked": bool(query.terms),
        "now": repo.store.now(),
        "show": _marker(query, {s: page.titles[s] for a in page.articles for s in a.groups if s in page.titles}),
        "groups": _choices(page.titles),
        "most_characters": MOST_CHARACTERS,
        "orders": _order_tabs(text, order, slug),
        "everywhere": search_address(text, order, None),
        "title": page_title(search_heading(text) if text else _("Search"), number),
        "pager": numbered_pager(number, has_next=page.has_next, query=_parameters(text, order, slug)),
        "hidden": hidden_groups([other for other in hidden if other != slug], is_member=reader is not None),
    }
    return render(request, "lists/search.html", context)


def search_terms(request: HttpRequest) -> tuple[str, str | None]:
    """Return the words, and the slug of the group to search in, None for all. Raises GroupNotFound.

    A trailing space is kept: it means that the last word is complete.
    """
    typed = request.GET.get("q", "")[:MOST_CHARACTERS]
    words = " ".join(typed.split())
    return f"{words} " if words and typed[-1].isspace() else words, _slug(request)


def _order(request: HttpRequest) -> Order:
    for order in _ORDERS:
        if request.GET.get("order", Order.SCORE.value) == order.value:
            return order
    raise Http404("no such order")


def _slug(request: HttpRequest) -> str | None:
    """Return the slug of the group to search in, typed in any spelling; None for all groups."""
    name = request.GET.get("group", "")
    return requested_slug(name) if name.strip() else None


def _choices(titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return slugs and titles of the groups to choose from, by title; [] if there are too many for a list."""
    return sorted(titles.items(), key=lambda group: group[1].casefold()) if len(titles) <= _MOST_CHOICES else []


def _parameters(text: str, order: Order, slug: str | None) -> str:
    values = {"q": text, "order": "" if order is Order.SCORE else order.value, "group": slug or ""}
    return urlencode({name: value for name, value in values.items() if value})


def search_address(text: str, order: Order, slug: str | None) -> str:
    return f"{reverse('articles:search')}?{_parameters(text, order, slug)}"


def _order_tabs(text: str, current: Order, slug: str | None) -> Tabs:
    labels = {Order.SCORE: _("By score"), Order.TIME: _("Newest first")}
    tabs = (Tab(label, search_address(text, order, slug), order is current) for order, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))


def _marker(query: Query, titles: Mapping[str, str]) -> Callable[..., Markup]:
    """Return a function that escapes a text and marks matches of the search; a matching slug as a whole."""
    matching_slugs = {slug for term in query.with_groups(titles).terms for slug in term.groups}

    def show(text: str, *, group: bool = False) -> Markup:
        parts = [(text, text in matching_slugs)] if group else marked_parts(text, query)
        return Markup().join(_MARK % part if is_match else part for part, is_match in parts)

    return show
