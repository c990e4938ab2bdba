"""Files for crawlers: robots.txt (RFC 9309) and the sitemap (sitemaps.org).

Django's own sitemaps count and slice a query for each part. Here a part is a range of ids, at a constant cost.
"""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape  # nosec B406 # escapes, parses nothing

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from articles.configuration.choices import chosen, site_address
from articles.domain import extras
from articles.domain.lists import PAGES, Order
from articles.formatting.values import iso_date
from articles.kept_pages import in_turn
from articles.web.caching import CRAWLER_SECONDS
from articles.web.extras import entries_of, sitemaps
from articles.web.wiring import finder, repository

PART = 10_000  # ids in one part of the sitemap: a fifth of the limit of the protocol, so that each part is fast
MOST_IN_A_FILE = 50_000

CRAWL_DELAY = 5  # seconds between two requests, for crawlers that respect it
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_CLOSED_PAGES = (
    "articles:post", "articles:operation", "articles:metrics", "articles:healthz",
    "articles:readyz", "articles:site_views", "articles:create_group", "articles:preferences",
    "articles:voting_rings", "articles:queue", "articles:flags", "articles:removed", "articles:appeal",
    "articles:statements", "articles:new_notice", "articles:sign_ups", "articles:decide_sign_up",
    "articles:blocked_hosts", "accounts:invitations", "articles:automatic_rules", "articles:held",
    "articles:invitation_tree", "articles:search", "articles:pulse", "articles:following", "articles:hidden",
    "articles:voted", "articles:opposed", "articles:saved", "accounts:login", "accounts:logout",
    "accounts:signup", "accounts:settings", "accounts:confirm",
    "accounts:second_step", "accounts:password_change", "accounts:password_reset", "admin:index",
    "articles:administration", "articles:inbox",
    *(view.name for view in extras.views() if not view.is_crawled),
)  # fmt: skip
"""Pages without content for search engines."""

_CLOSED_ARTICLE_PAGES = (
    "vote", "save", "choose_hidden", "withdraw", "why", "edit", "assign_groups",
    "remove", "restore", "merge", "undo_merge", "article_views", "check_ring", "write_comment", "lock",
    "unlock", "flag", "mute", "redact", *extras.crawlers_skip(),
)  # fmt: skip

_CLOSED_COMMENT_PAGES = (
    "comment_vote", "edit_comment", "delete_comment", "remove_comment", "restore_comment", "flag_comment",
)  # fmt: skip

MOST_HOSTS = 1000  # hosts in the sitemap: those with the most articles
_Entry = tuple[str, float | None]  # a path, and the time of its last change in Unix seconds, if known


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Redirect to the icon. Browsers request it here for pages that name none, such as the administration."""
    response = redirect(static("favicon.svg"))
    patch_cache_control(response, public=True, max_age=CRAWLER_SECONDS)
    return response


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Return robots.txt. It disallows addresses with a query: other orders, parts and continuations of lists.

    There is no end of them, and the sitemap names all articles. A site for members disallows everything.
    """
    if chosen.is_for_members:
        return HttpResponse("User-agent: *\nDisallow: /\n", content_type="text/plain; charset=utf-8")
    lines = [
        "User-agent: *",
        f"Crawl-delay: {CRAWL_DELAY}",
        "Disallow: /*?",
        f"Allow: {reverse('api:docs')}",
        f"Disallow: {reverse('api:docs').removesuffix('docs')}",
        *(f"Disallow: {path}" for path in _closed_paths()),
        "",
        *(f"Sitemap: {site_address(request)}{path}" for path in (reverse("articles:sitemap"), *sitemaps())),
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


def _closed_paths() -> Iterator[str]:
    for name in (*_CLOSED_PAGES, *(entry.address for entry in entries_of("moderation"))):
        yield reverse(name)
    for name in _CLOSED_ARTICLE_PAGES:
        yield reverse(f"articles:{name}", args=[1]).replace("/1/", "/*/")
    for name in _CLOSED_COMMENT_PAGES:
        yield reverse(f"articles:{name}", args=[1_000_001]).replace("/1000001/", "/*/")
    for name in ("member_moderation", "member_about", "flag_member", "vouch", "block", "redact_entries"):
        yield reverse(f"articles:{name}", args=["-"]).replace("/-/", "/*/")
    yield reverse("accounts:unsubscribe", args=["-"]).removesuffix("-/")
    for plus in ("+", "%2B"):  # lists of several groups: a page for each combination
        yield f"{reverse('articles:groups')}*{plus}"


@require_safe
@in_turn
def sitemap(request: HttpRequest) -> HttpResponse:
    parts = -(-repository().changes.get_last_id() // PART)
    paths = [
        reverse("articles:sitemap_lists"),
        *(reverse("articles:sitemap_articles", args=[n]) for n in range(1, parts + 1)),
    ]
    return _xml(request, "sitemapindex", "sitemap", ((path, None) for path in paths[:MOST_IN_A_FILE]))


@require_safe
@in_turn
def lists(request: HttpRequest) -> HttpResponse:
    repo = repository()
    newest = repo.lists.get_page(Order.TIME, size=1).articles
    changed = newest[0].posted_at if newest else None
    entries: list[_Entry] = [
        (reverse(f"articles:{name}"), changed if order in (Order.SCORE, Order.TIME) else None)
        for order, name in PAGES.items()
    ]
    entries += [(reverse(f"articles:{name}"), None) for name in ("groups", "log", "about")]
    entries += [(reverse("articles:group", args=[slug]), None) for slug in sorted(repo.groups.get_titles())]
    entries += [(reverse("articles:host", args=[host]), None) for host in finder().list_hosts(MOST_HOSTS)]
    return _xml(request, "urlset", "url", entries[:MOST_IN_A_FILE])


@require_safe
@in_turn
def articles(request: HttpRequest, number: int) -> HttpResponse:
    """Return part `number` of the sitemap, counted from 1: the listed articles in its range of ids."""
    first, last = (number - 1) * PART + 1, min(number * PART, repository().changes.get_last_id())
    if first > last:
        raise Http404(f"part {number}")
    listed = repository().standings.list_for(range(first, last + 1))
    return _xml(
        request, "urlset", "url", ((reverse("articles:article", args=[s.id]), s.posted_at) for s in listed)
    )


def _xml(request: HttpRequest, root: str, element: str, entries: Iterable[_Entry]) -> HttpResponse:
    site = escape(site_address(request))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<{root} xmlns="{_NAMESPACE}">',
        *(
            f"<{element}><loc>{site}{escape(path)}</loc>"
            f"{'' if changed is None else f'<lastmod>{iso_date(changed)}</lastmod>'}</{element}>"
            for path, changed in entries
        ),
        f"</{root}>",
        "",
    ]
    return HttpResponse("\n".join(lines), content_type="application/xml; charset=utf-8")
