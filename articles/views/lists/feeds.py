"""Feeds of every list. `repository.lists.feeds` chooses the articles, `articles.web.feeds` writes the XML."""

from collections.abc import Sequence

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse
from django.utils.encoding import escape_uri_path
from django.utils.translation import gettext as _, ngettext, override
from django.views.decorators.http import require_safe

from articles.configuration.choices import chosen, site_address
from articles.domain.articles import Article
from articles.domain.errors import GroupNotFound
from articles.domain.lists import PAGES, Order, Period, SearchOrder
from articles.formatting.values import grouped
from articles.kept_pages import in_turn
from articles.repository import FeedFilter
from articles.repository.finding import MOST_FOUND, SearchIncompleteError
from articles.text.markdown import plain
from articles.text.searching import clean_home, read_query
from articles.views.lists.headings import list_heading, search_heading
from articles.views.lists.hosts import query_of as query_of_host
from articles.views.lists.pages import slugs_in
from articles.views.lists.search import search_address, search_terms
from articles.web.addresses import moved
from articles.web.feeds import BadQuery, Feed, answer, article_item, facts_of, feed_filter_of, query_of
from articles.web.identity import View, member_named
from articles.web.reading import KEY
from articles.web.wiring import finder, html_of_site_text, repository

_ORDERS = {name: order for order, name in PAGES.items()}


def _with_feed_filter(view: View) -> View:
    """Pass the filter in the feed's address to the view; respond 400 with a sentence if it is invalid."""

    @require_safe
    def filtered(request: HttpRequest, **arguments: str) -> HttpResponse:
        try:
            feed_filter = feed_filter_of(request.GET)
        except BadQuery as bad:
            return _refused(str(bad))
        return in_turn(view)(request, feed_filter, **arguments)

    return filtered


@_with_feed_filter
def of_list(request: HttpRequest, feed_filter: FeedFilter, name: str, kind: str) -> HttpResponse:
    articles = repository().feeds.list_in(_ORDERS[name], feed_filter)
    with override(chosen.language):
        title = list_heading(_ORDERS[name])
        return _answer(request, title, reverse(f"articles:{name}"), feed_filter, articles, kind)


@_with_feed_filter
def of_top(request: HttpRequest, feed_filter: FeedFilter, period: str, kind: str) -> HttpResponse:
    """Return the feed of the most points. `period` is the value of a `Period`."""
    articles = repository().feeds.list_top(Period(period), feed_filter)
    with override(chosen.language):
        title = list_heading(Order.POINTS, period=Period(period))
        return _answer(request, title, f"{reverse('articles:top')}?range={period}", feed_filter, articles, kind)


@_with_feed_filter
def of_groups(request: HttpRequest, feed_filter: FeedFilter, slugs: str, kind: str) -> HttpResponse:
    """Return the feed of a group, or of several with `+` between their slugs."""
    parsed = slugs_in(slugs)
    if "+".join(parsed) != slugs:
        return HttpResponsePermanentRedirect(_address("group_feed", "+".join(parsed), kind, feed_filter))
    try:
        titles, articles = repository().feeds.list_groups(parsed, feed_filter)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        into = sorted({gone.moved_to if slug == gone.slug else slug for slug in parsed})
        return moved(_address("group_feed", "+".join(into), kind, feed_filter))
    with override(chosen.language):
        page = reverse("articles:group", args=[slugs])
        title = list_heading(Order.TIME, groups=[titles[slug] for slug in parsed])
        return _answer(request, title, page, feed_filter, articles, kind, about=_description(parsed))


@_with_feed_filter
def of_poster(request: HttpRequest, feed_filter: FeedFilter, name: str, kind: str) -> HttpResponse:
    member = member_named(name)
    if member.get_username() != name:
        return moved(_address("user_feed", member.get_username(), kind, feed_filter))
    articles = repository().feeds.list_posted(member.pk, feed_filter)
    with override(chosen.language):
        title = _("Posted by %(name)s") % {"name": name}
        return _answer(request, title, reverse("articles:profile", args=[name]), feed_filter, articles, kind)


@_with_feed_filter
def of_search(request: HttpRequest, feed_filter: FeedFilter, kind: str) -> HttpResponse:
    """Return the feed of a search by `?q=` and `group`, as on the search page."""
    text, slug = search_terms(request)
    query = read_query(text)
    if not query.clauses:
        return _refused(_("q must contain a word to search for."))
    try:
        shown = feed_filter if slug is None else feed_filter.showing([slug])
        ids = finder().list_newest(repository(), query, MOST_FOUND, slug=slug, hidden=shown.hidden)
        articles = repository().feeds.list_found(ids, shown)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        return moved(request.path + query_of(feed_filter, q=text, group=gone.moved_to))
    except SearchIncompleteError:
        return _later()
    with override(chosen.language):
        page = search_address(text, SearchOrder.TIME, slug)
        return _answer(request, search_heading(text), page, feed_filter, articles, kind, q=text, group=slug or "")


@_with_feed_filter
def of_host(request: HttpRequest, feed_filter: FeedFilter, host: str, kind: str) -> HttpResponse:
    query = query_of_host(host)
    if (spelled := clean_home(host)) != host:
        return HttpResponsePermanentRedirect(_address("host_feed", spelled, kind, feed_filter))
    try:
        ids = finder().list_newest(repository(), query, MOST_FOUND, hidden=feed_filter.hidden)
    except SearchIncompleteError:
        return _later()
    if not ids and not finder().count_from(host)[0]:  # the reader may hide the groups of all
        raise Http404("no article from this host")
    articles = repository().feeds.list_found(ids, feed_filter)
    with override(chosen.language):
        title = _("Articles from %(host)s") % {"host": host}
        return _answer(request, title, reverse("articles:host", args=[host]), feed_filter, articles, kind)


def _later() -> HttpResponse:
    later = _refused(_("The search index is being built. Try again later."), 503)
    later["Retry-After"] = "60"
    return later


def _description(slugs: Sequence[str]) -> str:
    """Return the description of a single group as one line; "" for several groups."""
    text = repository().groups.get_descriptions(slugs).get(slugs[0], "") if len(slugs) == 1 else ""
    return plain(html_of_site_text(text))


def _refused(sentence: str, status: int = 400) -> HttpResponse:
    return HttpResponse(f"{sentence}\n", status=status, content_type="text/plain; charset=utf-8")


def _address(name: str, of: str, kind: str, feed_filter: FeedFilter) -> str:
    return reverse(f"articles:{name}", args=[of, kind]) + query_of(feed_filter)


def _answer(
    request: HttpRequest,
    title: str,
    page: str,
    feed_filter: FeedFilter,
    articles: Sequence[Article],
    kind: str,
    *,
    about: str = "",
    **more: str,
) -> HttpResponse:
    """Write the feed. `about`: what its list is about; `more`: parameters of its address other than the filter."""
    path = escape_uri_path(request.path) + query_of(feed_filter, **more)
    feed = feed_of(request, title, " – ".join(filter(None, (about, _subtitle(feed_filter)))), page, path)
    items = (article_item(feed, article) for article in articles)
    return answer(request, feed, facts_of(articles), items, kind, repository().store.now())


def feed_of(request: HttpRequest, title: str, subtitle: str, page: str, path: str) -> Feed:
    """Return a feed of the site at `path`; `page` is the page with the same list."""
    site = site_address(request)
    return Feed(
        title=_("%(list)s – %(site)s") % {"list": title, "site": chosen.SITE_NAME},
        subtitle=subtitle,
        site=site,
        page=site + page,
        path=path,
        author=chosen.SITE_NAME,
        language=chosen.language,
        site_id="" if settings.SITE_URL else repository().site_id,
        is_keyed=chosen.is_for_members and KEY in request.GET,
    )


def _subtitle(feed_filter: FeedFilter) -> str:
    if feed_filter.min_points is None:
        return _("Articles that members post and vote on.")
    return ngettext(
        "Articles with at least %(points)s point.",
        "Articles with at least %(points)s points.",
        feed_filter.min_points,
    ) % {"points": grouped(feed_filter.min_points)}
