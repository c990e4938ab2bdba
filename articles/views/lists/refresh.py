"""What changed on a page since it was loaded, for the script that keeps it fresh."""

import re
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from articles.domain.articles import Article, ArticleId
from articles.domain.errors import ArticleRemoved, VotingClosed
from articles.domain.lists import Order, PageRefresh
from articles.formatting.values import grouped
from articles.text.refusals import action_sentence
from articles.text.slugs import SLUGS_PER_REQUEST, clean_slug
from articles.views.lists.article_counts import counts
from articles.web.caching import unless_known
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.wiring import repository

SHARED_SECONDS = 5
"""How long caches may give the answer to other readers without account."""

_IDS = re.compile(r"[1-9][0-9]{0,17}(,[1-9][0-9]{0,17}){0,99}", re.ASCII)
_SINCE = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Question:
    ids: tuple[ArticleId, ...]
    order: Order | None
    since: float | None
    slugs: tuple[str, ...]

    @classmethod
    def of(cls, query: QueryDict) -> "_Question":
        """Raises ValueError for what no page of ours asks."""
        ids, since = query.get("ids", ""), query.get("since", "")
        if not _IDS.fullmatch(ids) or not (since == "" or _SINCE.fullmatch(since)):
            raise ValueError
        slugs = tuple(clean_slug(slug) for slug in query.get("groups", "").split(",") if slug)
        if len(slugs) > SLUGS_PER_REQUEST:
            raise ValueError
        order = query.get("order")
        return cls(
            tuple(dict.fromkeys(map(int, ids.split(",")))),
            Order(order) if order else None,
            float(since) if since else None,
            slugs,
        )


@require_safe
def pulse(request: HttpRequest) -> HttpResponse:
    """`?ids=` of at most 100 articles, and of lists `order=`, `groups=` and `since=`, in Unix seconds.

    The articles come in the order they have by now; without `since` nothing is said of new ones. 304 while
    nothing changed, 400 for what no page asks.
    """
    try:
        asked = _Question.of(request.GET)
    except ValueError:
        return JsonResponse({"error": _("The request is not valid.")}, status=400)
    hidden, reader = preferences_of(request).hidden_groups, reader_id(request)
    found = repository().refresh.get(
        asked.ids, order=asked.order, since=asked.since, slugs=asked.slugs, hidden=hidden, reader=reader
    )
    now, is_hot = repository().store.now(), asked.order is Order.HOT
    rows = [_row(article, now, is_hot=is_hot) for article in found.articles]
    response = JsonResponse({"articles": rows, "new": _new(found)})
    if reader is None:
        patch_cache_control(response, public=True, max_age=SHARED_SECONDS)
    else:
        patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ("Cookie", "Accept-Language"))
    return unless_known(request, response)


def _row(article: Article, now: float, *, is_hot: bool) -> dict[str, Any]:
    """Counts, and why no vote counts any more where none does."""
    row = counts(article.id, article)
    if is_hot:
        row["views"] = ngettext("%(views)s view", "%(views)s views", article.pv) % {"views": grouped(article.pv)}
        visitors = ngettext("%(visitors)s visitor", "%(visitors)s visitors", article.uv)
        row["visitors"] = visitors % {"visitors": grouped(article.uv)}
    if article.removed is not None:
        row["removed"] = action_sentence(ArticleRemoved(article.id))
    elif not article.is_open(now):
        row["closed"] = action_sentence(VotingClosed(article.id))
    return row


def _new(found: PageRefresh) -> str:
    """How many new articles there are, in words; empty if there are none."""
    if not found.new:
        return ""
    number = {"n": grouped(found.new)}
    if found.has_more_new:
        return ngettext("More than %(n)s new article", "More than %(n)s new articles", found.new) % number
    return ngettext("%(n)s new article", "%(n)s new articles", found.new) % number
