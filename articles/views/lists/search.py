"""The search page: its form, and the articles or comments that are found."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from markupsafe import Markup, escape

from articles.domain.discussion.comments import Comment
from articles.domain.errors import GroupNotFound
from articles.domain.lists import Order
from articles.searching import MOST_CHARACTERS, Query, first_match, marked_parts, read_query
from articles.text.markdown import plain
from articles.text.slugs import requested_slug
from articles.views.lists.headings import page_title, search_heading
from articles.views.lists.list_page import hidden_groups
from articles.views.lists.paging import numbered_pager, page_number
from articles.views.lists.tabs import Tab, Tabs
from articles.web.addresses import moved
from articles.web.identity import blocked_by, reader_id
from articles.web.preferences import preferences_of
from articles.wiring import repository

_ORDERS = (Order.SCORE, Order.TIME)

_MARK = Markup("<mark>%s</mark>")

_EXCERPT, _BEFORE = 300, 100
"""Characters of a comment that are shown, and most of them before the first match."""

_MOST_COMPARED = 20_000
"""Characters of a page's comments in which the first matches are looked for: some letters take 3 µs each."""

_MOST_CHOICES = 200
"""Maximum number of groups offered in a list; with more groups, the name is typed."""


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Search for `?q=` with `kind`, `order`, `group` and `page`; without search terms, show the form alone."""
    text, slug = search_terms(request)
    find = _comments if _is_for_comments(request) else _articles
    try:
        context = find(request, text, slug)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        parameters = request.GET.copy()
        parameters["group"] = gone.moved_to
        return moved(request.path, parameters.urlencode())
    hidden = [other for other in preferences_of(request).hidden_groups if other != slug]
    context |= {
        "q": text,
        "slug": slug or "",
        "asked": bool(read_query(text).terms),
        "groups": _choices(context["page"].titles),
        "most_characters": MOST_CHARACTERS,
        "kinds": _kind_tabs(text, slug, of_comments=find is _comments),
        "of_comments": find is _comments,
        "title": page_title(search_heading(text) if text else _("Search"), page_number(request)),
        "hidden": hidden_groups(hidden, is_member=reader_id(request) is not None),
    }
    return render(request, "lists/search.html", context)


def _articles(request: HttpRequest, text: str, slug: str | None) -> dict[str, Any]:
    """Return what the page shows of the articles that are found. Raises GroupNotFound."""
    repo, query, order, number = repository(), read_query(text), _order(request), page_number(request)
    hidden = preferences_of(request).hidden_groups
    page = repo.search.get_page(query, order, number, slug=slug, hidden=hidden, reader=reader_id(request))
    titles = {name: page.titles[name] for one in page.articles for name in one.groups if name in page.titles}
    return {
        "page": page,
        "order": order,
        "now": repo.store.now(),
        "show": _marker(query, titles),
        "orders": _order_tabs(text, order, slug),
        "everywhere": search_address(text, order, None),
        "pager": numbered_pager(number, has_next=page.has_next, query=_parameters(text, order, slug)),
    }


def _comments(request: HttpRequest, text: str, slug: str | None) -> dict[str, Any]:
    """Return what the page shows of the comments that are found, with their articles. Raises GroupNotFound."""
    repo, query, number = repository(), read_query(text), page_number(request)
    page = repo.comment_search.get_page(query, number, slug=slug, hidden=preferences_of(request).hidden_groups)
    articles = {one.id: one for one in repo.articles.get_many(sorted({one.article for one in page.comments}))}
    blocked = blocked_by(request) if page.comments else frozenset()
    shown = [
        (comment, article, excerpt, comment.author in blocked)
        for comment, excerpt in zip(page.comments, _excerpts(page.comments, query), strict=True)
        if (article := articles.get(comment.article)) and article.removed is None
    ]
    return {
        "page": page,
        "comments": shown,
        "order": Order.TIME,
        "everywhere": comment_search_address(text, None),
        "pager": numbered_pager(number, has_next=page.has_next, query=_comment_parameters(text, slug)),
    }


def _excerpts(comments: Iterable[Comment], query: Query) -> Iterator[Markup]:
    """Yield a part of each comment around the first match, with matches marked.

    It is the beginning of a comment that has no match in its text, or is compared in part or not at all.
    """
    left = _MOST_COMPARED
    for comment in comments:
        words = plain(comment.html)
        compared = words[:left]
        left -= len(compared)
        first = first_match(compared, query) % (len(compared) or 1)
        start = 0 if first < _BEFORE else words.rfind(" ", 0, first - _BEFORE // 2) + 1 or first - _BEFORE // 2
        end = start + _EXCERPT
        parts = marked_parts(words[start:end], query)
        marked = Markup().join(_MARK % part if is_match else part for part, is_match in parts)
        yield Markup("%s%s%s") % ("…" if start else "", marked, "…" if end < len(words) else "")


def _is_for_comments(request: HttpRequest) -> bool:
    kind = request.GET.get("kind", "articles")
    if kind not in ("articles", "comments"):
        raise Http404("no such kind")
    return kind == "comments"


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


def _comment_parameters(text: str, slug: str | None) -> str:
    values = {"q": text, "group": slug or "", "kind": "comments"}
    return urlencode({name: value for name, value in values.items() if value})


def comment_search_address(text: str, slug: str | None) -> str:
    return f"{reverse('articles:search')}?{_comment_parameters(text, slug)}"


def _kind_tabs(text: str, slug: str | None, *, of_comments: bool) -> Tabs:
    articles, comments = search_address(text, Order.SCORE, slug), comment_search_address(text, slug)
    tabs = (Tab(_("Articles"), articles, not of_comments), Tab(_("Comments"), comments, of_comments))
    return Tabs(_("What to search"), tabs)


def _order_tabs(text: str, current: Order, slug: str | None) -> Tabs:
    labels = {Order.SCORE: _("By score"), Order.TIME: _("Newest first")}
    tabs = (Tab(label, search_address(text, order, slug), order is current) for order, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))


def _marker(query: Query, titles: Mapping[str, str]) -> Callable[..., Markup]:
    """Return a function that escapes a text and marks matches of the search; a matching slug as a whole."""
    matching_slugs = {slug for term in query.with_groups(titles).terms for slug in term.groups}

    def show(text: str, *, group: bool = False) -> Markup:
        parts = [(text, text in matching_slugs)] if group else marked_parts(text, query)
        marked = "".join(_MARK % part if is_match else escape(part) for part, is_match in parts)
        return Markup(marked)  # nosec B704 # noqa: S704 - escaped just now

    return show
