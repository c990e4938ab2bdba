"""Pages of hosts: all articles from a host, with its subdomains, or from an author's part of a host of many."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _, pgettext
from django.views.decorators.http import require_safe

from articles.configuration.choices import closed_groups
from articles.domain.lists import SearchOrder, without_groups
from articles.text.searching import Kind, Query, clean_home, of_host
from articles.views.lists.headings import Tab, Tabs, page_title
from articles.views.lists.rows import hidden_note
from articles.web import hiding
from articles.web.addresses import redirect_to_path
from articles.web.identity import reader_id
from articles.web.paging import numbered_pager, page_number
from articles.web.wiring import finder, repository

_ORDERS = {"time": SearchOrder.TIME, "score": SearchOrder.SCORE, "points": SearchOrder.POINTS}


@require_safe
def show(request: HttpRequest, host: str) -> HttpResponse:
    """Show the articles from a host, the newest first, or by `order`."""
    name, query = host, query_of(host)
    if (spelled := clean_home(name)) != name:
        return redirect_to_path(request, reverse("articles:host", args=[spelled]))
    word, number = request.GET.get("order", "time"), page_number(request)
    if word not in _ORDERS:
        raise Http404("no such order")
    repo, applied = repository(), hiding.applied(request, kinds=(Kind.HOST,))
    page = finder().get_page(repo, query, _ORDERS[word], number, hidden=applied.hidden, reader=reader_id(request))
    own = {} if word == "time" else {"order": word}
    articles, points = finder().count_from(name)
    if not articles and page.complete:
        raise Http404("no article from this host")
    with without_groups(closed_groups()):
        has_feed = finder().count_from(name)[0] > 0
    context = {
        "name": name,
        "has_feed": has_feed,
        "title": page_title(_("Articles from %(host)s") % {"host": name}, number),
        "page": page,
        "articles": articles,
        "points": points,
        "orders": _order_tabs(word),
        "parent": parent_of(name),
        "now": repo.store.now(),
        "pager": numbered_pager(number, has_next=page.has_next, query=urlencode(own | applied.query)),
        "applied": applied,
        "hidden": hidden_note(applied, page.hidden, own | {"page": number}),
    }
    return render(request, "lists/host.html", context)


def query_of(name: str) -> Query:
    """Return the query for the articles from a host, in any spelling. Raises Http404 if it is none."""
    try:
        return of_host(name)
    except ValueError as invalid:
        raise Http404("no such host") from invalid


def parent_of(name: str) -> str:
    """Return the host that an author's part is below; "" for a host."""
    home, _slash, part = name.partition("/")
    return home if part else ""


def _order_tabs(current: str) -> Tabs:
    labels = {"time": _("Newest"), "score": _("By score"), "points": pgettext("order", "Top")}
    tabs = (Tab(label, f"?order={word}", word == current) for word, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))
