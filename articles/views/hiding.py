"""The pages of what readers hide."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web.login_intent import local_path
from articles.domain.articles import ArticleId
from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.text.links import hosts_of
from articles.text.searching import Hiding
from articles.web.caching import unlisted
from articles.web.identity import names_of, reader_id
from articles.web.preferences import preferences_of
from articles.web.wiring import repository


@never_cache
@require_safe
def choose(request: HttpRequest, article_id: int) -> HttpResponse:
    """Offer to hide an article, or all that share its poster, host or groups; or to show it. One round trip."""
    article, hiding = repository().articles.get(article_id), preferences_of(request).hiding
    article.check_listed()
    context = {
        "article": article,
        "hosts": [(host, host in hiding.hosts) for host in hosts_of(article.link)] if article.link else [],
        "words": [word for word in hiding.words if Hiding(words=(word,)).hides_text(article.title, "")],
        "is_hidden": article.id in hiding.articles,
        "is_blocked": article.poster in hiding.members,
        "is_own": article.poster == reader_id(request),
        "back": _came_from(request),
    }
    return unlisted(render(request, "hiding/choose.html", context))


@never_cache
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """Show what the reader hides, with forms to hide more. One round trip with hidden articles, and one query."""
    hiding = preferences_of(request).hiding
    names = names_of(hiding.members) if hiding.members else {}
    titles = dict[ArticleId, str]()
    if hiding.articles:
        with suppress(StoreUnavailable, StoreDamaged):
            titles = {one.id: one.title for one in repository().articles.get_many(hiding.articles)}
    context = {
        "hiding": hiding,
        "members": sorted(names.values(), key=str.casefold),
        "hidden_articles": [(one, titles[one]) for one in reversed(hiding.articles) if one in titles],
    }
    return unlisted(render(request, "hiding/hidden.html", context))


def _came_from(request: HttpRequest) -> str:
    """Return the page of this site from which the reader came; else the front page."""
    origin = f"{request.scheme}://{request.get_host()}"
    referrer = request.headers.get("Referer", "")
    path = local_path(referrer.removeprefix(origin)) if referrer.startswith(f"{origin}/") else ""
    return path or reverse("articles:front")
