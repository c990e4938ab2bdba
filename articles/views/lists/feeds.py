"""Feeds of every list. What they hold is decided in `repository.feeding`, how they look in `feeds.writing`."""

from collections.abc import Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse
from django.utils.encoding import escape_uri_path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from django.views.decorators.http import require_safe

from articles.domain.articles import Article
from articles.domain.errors import GroupNotFound
from articles.domain.lists import Order, Span
from articles.feeds.answers import answer
from articles.feeds.query import BadQuery, query_of, wish_of
from articles.feeds.writing import Feed
from articles.formatting.values import grouped
from articles.repository import FeedFilter
from articles.searching import read_query
from articles.views.lists.headings import list_heading, search_heading
from articles.views.lists.list_page import FEED_NAMES
from articles.views.lists.pages import slugs_in
from articles.views.lists.search import asked_for, search_address
from articles.web.addresses import moved, site_address
from articles.web.identity import View, member_named
from articles.wiring import repository

_ORDERS = {name: order for order, name in FEED_NAMES.items()}


def _with_wish(view: View) -> View:
    """Give the view what the subscriber wishes; say in a sentence what makes no sense."""

    @require_safe
    def asked(request: HttpRequest, **of: str) -> HttpResponse:
        try:
            wish = wish_of(request.GET)
        except BadQuery as bad:
            return _refused(str(bad))
        return view(request, wish, **of)

    return asked


@_with_wish
def of_list(request: HttpRequest, wish: FeedFilter, name: str, kind: str) -> HttpResponse:
    feeds = repository().feeds
    articles = {"front": feeds.list_front, "newest": feeds.list_newest, "hot": feeds.list_hot}[name](wish)
    with override(settings.LANGUAGE_CODE):
        title = list_heading(_ORDERS[name])
        return _answer(request, title, reverse(f"articles:{name}"), wish, articles, kind)


@_with_wish
def of_top(request: HttpRequest, wish: FeedFilter, span: str, kind: str) -> HttpResponse:
    """`span` is the value of a `Span`."""
    articles = repository().feeds.list_top(Span(span), wish)
    with override(settings.LANGUAGE_CODE):
        title = list_heading(Order.POINTS, span=Span(span))
        return _answer(request, title, f"{reverse('articles:top')}?range={span}", wish, articles, kind)


@_with_wish
def of_groups(request: HttpRequest, wish: FeedFilter, slugs: str, kind: str) -> HttpResponse:
    """One group, or several with `+` between them."""
    wanted = slugs_in(slugs)
    if "+".join(wanted) != slugs:
        return HttpResponsePermanentRedirect(_address("group_feed", "+".join(wanted), kind, wish))
    try:
        titles, articles = repository().feeds.list_groups(wanted, wish)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        into = sorted({gone.moved_to if slug == gone.slug else slug for slug in wanted})
        return moved(_address("group_feed", "+".join(into), kind, wish))
    with override(settings.LANGUAGE_CODE):
        page = reverse("articles:group", args=[slugs])
        title = list_heading(Order.TIME, groups=[titles[slug] for slug in wanted])
        return _answer(request, title, page, wish, articles, kind)


@_with_wish
def of_poster(request: HttpRequest, wish: FeedFilter, name: str, kind: str) -> HttpResponse:
    member = member_named(name)
    if member.get_username() != name:
        return moved(_address("user_feed", member.get_username(), kind, wish))
    articles = repository().feeds.list_posted(member.pk, wish)
    with override(settings.LANGUAGE_CODE):
        title = _("Posted by %(name)s") % {"name": name}
        return _answer(request, title, reverse("articles:profile", args=[name]), wish, articles, kind)


@_with_wish
def of_search(request: HttpRequest, wish: FeedFilter, kind: str) -> HttpResponse:
    """`?q=` with `group`, as on the search's page."""
    text, slug = asked_for(request)
    query = read_query(text)
    if not query.terms:
        return _refused(_("q must have a word to look for."))
    try:
        articles = repository().feeds.list_found(query, wish, slug=slug)
    except GroupNotFound as gone:
        if gone.moved_to is None:
            raise
        return moved(request.path + query_of(wish, q=text, group=gone.moved_to))
    with override(settings.LANGUAGE_CODE):
        page = search_address(text, Order.TIME, slug)
        return _answer(request, search_heading(text), page, wish, articles, kind, q=text, group=slug or "")


def _refused(sentence: str) -> HttpResponse:
    return HttpResponse(f"{sentence}\n", status=400, content_type="text/plain; charset=utf-8")


def _address(name: str, of: str, kind: str, wish: FeedFilter) -> str:
    return reverse(f"articles:{name}", args=[of, kind]) + query_of(wish)


def _answer(
    request: HttpRequest,
    title: str,
    page: str,
    wish: FeedFilter,
    articles: Sequence[Article],
    kind: str,
    **more: str,
) -> HttpResponse:
    """`more` is what the feed's address says beside the wish."""
    site, path = site_address(request), escape_uri_path(request.path) + query_of(wish, **more)
    feed = Feed(
        title=_("%(list)s – %(site)s") % {"list": title, "site": settings.SITE_NAME},
        subtitle=_subtitle(wish),
        site=site,
        page=site + page,
        path=path,
        author=settings.SITE_NAME,
        language=settings.LANGUAGE_CODE,
        site_id="" if settings.SITE_URL else repository().site_id,
    )
    return answer(request, feed, articles, kind, repository().store.now())


def _subtitle(wish: FeedFilter) -> str:
    if wish.min_points is None:
        return _("Articles that members post and vote on.")
    return ngettext(
        "Articles with at least %(points)s point.", "Articles with at least %(points)s points.", wish.min_points
    ) % {"points": grouped(wish.min_points)}
