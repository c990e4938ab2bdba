"""The search page: its form, and the articles or comments that are found."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth import get_user_model
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _, pgettext
from django.views.decorators.http import require_safe
from markupsafe import Markup, escape

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import Comment
from articles.domain.errors import GroupNotFound
from articles.domain.lists import CommentSearchPage, SearchOrder, SearchPage
from articles.formatting.values import grouped
from articles.repository.finding import ARTICLES, COMMENTS
from articles.text.markdown import beginning
from articles.text.searching import MOST_CHARACTERS, Query, first_match, groups_named, marked_parts, read_query
from articles.text.searching.tokens import LONGEST_TOKEN, fold
from articles.text.slugs import requested_slug
from articles.views.lists.headings import Tab, Tabs, page_title, search_heading
from articles.views.lists.rows import hidden_note
from articles.web import hiding
from articles.web.addresses import moved
from articles.web.identity import reader_id
from articles.web.paging import numbered_pager, page_number
from articles.web.preferences import preferences_of
from articles.web.wiring import finder, group_named, repository

_MARK = Markup("<mark>%s</mark>")

_EXCERPT, _BEFORE = 300, 100  # characters of a text that are shown, and most of them before the first match
_MOST_COMPARED = 10_000
"""Folded characters of a page's long texts searched for the first matches: U+FDFA becomes 18 of them."""

_MOST_NAMES = 50  # groups, or members, that a search shows
_MOST_CHOICES = 200  # maximum number of groups offered in a list; with more groups, the name is typed


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Search for `?q=` with `kind`, `order`, `group` and `page`; without search terms, show the form alone."""
    text, slug = search_terms(request)
    query = read_query(text)
    kind = _kind(request, query)
    try:
        context = _NOTHING | _FINDERS[kind](request, text, query, slug)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        parameters = request.GET.copy()
        parameters["group"] = gone.moved_to
        return moved(request.path, parameters.urlencode())
    counts = _counts(request, query, slug, context, kind) if query.clauses else {}
    context |= {
        "q": text,
        "slug": slug or "",
        "asked": bool(query.clauses),
        "groups": _choices(context["titles"]),
        "most_characters": MOST_CHARACTERS,
        "kinds": _kind_tabs(text, slug, kind, counts),
        "kind": kind,
        "title": page_title(search_heading(text) if text else _("Search"), page_number(request)),
        "hidden": _hidden_note(request, context["page"], text, slug, kind),
        "doubts": query.doubts,
        "building": _percent_built(context["page"]),
    }
    if query.clauses and not counts[kind] and (mistake := finder().suggest(query)):
        better = text.lower().replace(*mistake, 1)
        context |= {"better": better, "better_address": search_address(better, SearchOrder.RELEVANCE, slug, kind)}
    return render(request, "lists/search.html", context)


def _percent_built(page: SearchPage | CommentSearchPage | None) -> int | None:
    """Return how much of the search index has been built; None once it is complete."""
    return None if page is None or page.complete else finder().percent_built(repository())


def _articles(request: HttpRequest, text: str, query: Query, slug: str | None) -> dict[str, Any]:
    """Return what the page shows of the articles that are found. Raises GroupNotFound."""
    repo, order, number = repository(), _order(request), page_number(request)
    applied = hiding.applied(request, () if slug is None else (slug,))
    page = finder().get_page(
        repo, query, order, number, slug=slug, hidden=applied.hidden, reader=reader_id(request), with_texts=True
    )
    titles = {name: page.titles[name] for one in page.articles for name in one.groups if name in page.titles}
    return {
        "page": page,
        "titles": page.titles,
        "order": order,
        "now": repo.store.now(),
        "show": _marker(query, titles),
        "excerpts": _excerpts_of_texts(page.articles, query),
        "searched": f"?{urlencode({'q': text})}" if order is SearchOrder.RELEVANCE else "",
        "orders": _order_tabs(text, order, slug),
        "everywhere": search_address(text, order, None),
        "pager": numbered_pager(
            number, has_next=page.has_next, query=_parameters(text, order, slug, **applied.query)
        ),
        "applied": applied,
    }


def _comments(request: HttpRequest, text: str, query: Query, slug: str | None) -> dict[str, Any]:
    """Return what the page shows of the comments that are found, with their articles. Raises GroupNotFound."""
    repo, number = repository(), page_number(request)
    applied = hiding.applied(request, () if slug is None else (slug,))
    page = finder().get_comments(repo, query, number, slug=slug, hidden=applied.hidden)
    articles = {one.id: one for one in repo.articles.get_many(sorted({one.article for one in page.comments}))}
    blocked = preferences_of(request).hiding.members
    shown = [
        (comment, article, excerpt, comment.author in blocked)
        for comment, excerpt in zip(page.comments, _excerpts(page.comments, query), strict=True)
        if (article := articles.get(comment.article)) and article.removed is None
    ]
    return {
        "page": page,
        "titles": page.titles,
        "comments": shown,
        "order": SearchOrder.TIME,
        "everywhere": search_address(text, SearchOrder.RELEVANCE, None, "comments"),
        "pager": numbered_pager(
            number,
            has_next=page.has_next,
            query=_parameters(text, SearchOrder.RELEVANCE, slug, "comments", **applied.query),
        ),
    }


def _groups(_request: HttpRequest, _text: str, query: Query, _slug: str | None) -> dict[str, Any]:
    """Return the groups whose names or titles have all words of the query, the largest first."""
    known = {group.slug: group for group in repository().groups.list_all()}
    titles = {slug: group.title for slug, group in known.items()}
    found = sorted((known[slug] for slug in groups_named(query, titles)), key=lambda group: group.sort_key)
    return {"titles": titles, "found_groups": found[:_MOST_NAMES], "order": SearchOrder.RELEVANCE}


def _members(_request: HttpRequest, _text: str, query: Query, _slug: str | None) -> dict[str, Any]:
    """Return the members whose names begin with the query's words."""
    return {
        "titles": repository().groups.get_titles(),
        "found_members": _members_named(query),
        "order": SearchOrder.RELEVANCE,
    }


def _members_named(query: Query) -> list[str]:
    """Return the members whose names begin with the query's words; none while the accounts are unavailable."""
    words = list(chain.from_iterable(words.tokens for words in query.words))
    if not words:
        return []
    try:
        return get_user_model().objects.beginning_with("-".join(words), _MOST_NAMES)
    except DatabaseError:
        return []


_NOTHING = {"page": None, "comments": (), "found_groups": (), "found_members": (), "everywhere": "", "better": ""}
"""What the page shows of the other kinds."""

_FINDERS = {"articles": _articles, "comments": _comments, "groups": _groups, "members": _members}


def _counts(
    request: HttpRequest, query: Query, slug: str | None, found: Mapping[str, Any], kind: str
) -> dict[str, int]:
    """Return how many of each kind are found. `found`: what the page shows of this kind."""
    hidden, titles = hiding.applied(request, () if slug is None else (slug,)).hidden, found["titles"]
    counts = {
        name: found["page"].total if name == kind else finder().count(query, of, titles, slug=slug, hidden=hidden)
        for name, of in (("articles", ARTICLES), ("comments", COMMENTS))
    }
    groups = min(len(groups_named(query, titles)), _MOST_NAMES)
    return counts | {"groups": groups, "members": len(found["found_members"] or _members_named(query))}


def _excerpts_of_texts(articles: Iterable[Article], query: Query) -> dict[ArticleId, Markup]:
    """Return a part of the text of each article whose text matches, with the matches marked."""
    with_texts = [one for one in articles if one.html]
    parts = zip(with_texts, _excerpts(with_texts, query), strict=True)
    return {article.id: part for article, part in parts if "<mark>" in part}


def _excerpts(texts: Iterable[Article | Comment], query: Query) -> Iterator[Markup]:
    """Yield a part of each text around the first match, with matches marked.

    It is the beginning of a short text, and of one that has no match, or is compared in part or not at all.
    A text that matches at its beginning is compared no further.
    """
    left = _MOST_COMPARED
    for one in texts:
        words = beginning(one.html, left + _EXCERPT)
        first = 0
        if len(words) > _EXCERPT and first_match(words[:_BEFORE], query) >= _BEFORE - LONGEST_TOKEN:
            folded = len(fold(words[:left])) or 1
            compared = words[: min(left, left * left // folded)]
            left -= min(left, folded)
            first = first_match(compared, query) % (len(compared) or 1)
        start = 0 if first < _BEFORE else words.rfind(" ", 0, first - _BEFORE // 2) + 1 or first - _BEFORE // 2
        end = start + _EXCERPT
        parts = marked_parts(words[start:end], query)
        marked = Markup().join(_MARK % part if is_match else part for part, is_match in parts)
        yield Markup("%s%s%s") % ("…" if start else "", marked, "…" if end < len(words) else "")


def _kind(request: HttpRequest, query: Query) -> str:
    kind = request.GET.get("kind", "comments" if query.of_comments else "articles")
    if kind not in _FINDERS:
        raise Http404("no such kind")
    return kind


def search_terms(request: HttpRequest) -> tuple[str, str | None]:
    """Return the words, and the slug of the group to search in, None for all. Raises GroupNotFound."""
    return typed_words(request), _slug(request)


def typed_words(request: HttpRequest) -> str:
    """Return the words of `?q=`; a trailing space is kept, as it means that the last word is complete."""
    typed = request.GET.get("q", "")[:MOST_CHARACTERS]
    words = " ".join(typed.split())
    return f"{words} " if words and typed[-1].isspace() else words


def _order(request: HttpRequest) -> SearchOrder:
    try:
        return SearchOrder(request.GET.get("order", SearchOrder.RELEVANCE.value))
    except ValueError as error:
        raise Http404("no such order") from error


def _slug(request: HttpRequest) -> str | None:
    """Return the slug of the group to search in, by its title or slug in any spelling; None for all groups."""
    name = request.GET.get("group", "")
    return requested_slug(group_named(name)) if name.strip() else None


def _choices(titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return slugs and titles of the groups to choose from, by title; [] if there are too many for a list."""
    return sorted(titles.items(), key=lambda group: group[1].casefold()) if len(titles) <= _MOST_CHOICES else []


def _hidden_note(request: HttpRequest, page: Any, text: str, slug: str | None, kind: str) -> Markup:
    """Return what the page says about what the reader hides; "" for results that are groups or members."""
    applied = hiding.applied(request, () if slug is None else (slug,))
    if page is None:
        return Markup()
    order = _order(request) if kind == "articles" else SearchOrder.RELEVANCE
    query = dict(parse_qsl(_parameters(text, order, slug, kind)))
    return hidden_note(applied, page.hidden, query | {"page": page_number(request)})


def _parameters(text: str, order: SearchOrder, slug: str | None, kind: str = "articles", **more: str) -> str:
    values = {
        "q": text,
        "kind": "" if kind == "articles" else kind,
        "order": "" if order is SearchOrder.RELEVANCE else order.value,
        "group": slug or "",
    } | more
    return urlencode({name: value for name, value in values.items() if value})


def search_address(text: str, order: SearchOrder, slug: str | None, kind: str = "articles") -> str:
    return f"{reverse('articles:search')}?{_parameters(text, order, slug, kind)}"


def _kind_tabs(text: str, slug: str | None, current: str, counts: Mapping[str, int]) -> Tabs:
    """Return the tabs of what is searched, with counts; those of groups and members only if some are found."""
    labels = {"articles": _("Articles"), "comments": _("Comments"), "groups": _("Groups"), "members": _("Members")}
    shown = [kind for kind in labels if kind in ("articles", "comments", current) or counts.get(kind)]
    tabs = (
        Tab(
            f"{labels[kind]} {grouped(counts[kind])}" if counts else labels[kind],
            search_address(text, SearchOrder.RELEVANCE, slug, kind),
            kind == current,
        )
        for kind in shown
    )
    return Tabs(_("What to search"), tuple(tabs))


def _order_tabs(text: str, current: SearchOrder, slug: str | None) -> Tabs:
    labels = {
        SearchOrder.RELEVANCE: _("By relevance"),
        SearchOrder.SCORE: _("By score"),
        SearchOrder.TIME: _("Newest"),
        SearchOrder.POINTS: pgettext("order", "Top"),
    }
    tabs = (Tab(label, search_address(text, order, slug), order is current) for order, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))


def _marker(query: Query, titles: Mapping[str, str]) -> Callable[..., Markup]:
    """Return a function that escapes a text and marks matches of the search; of a group, all or nothing."""
    matching_slugs = {slug for words in query.with_groups(titles).words for slug in words.groups}

    def show(text: str, group: str = "") -> Markup:
        parts = [(text, group in matching_slugs)] if group else marked_parts(text, query)
        marked = "".join(_MARK % part if is_match else escape(part) for part, is_match in parts)
        return Markup(marked)  # nosec B704 # noqa: S704 - escaped just now

    return show
