"""Changes of a page since it was loaded, for static/js/refresh.js, and counts for scripts."""

import re
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_safe

from articles.domain.articles import Article, ArticleId, Choice, Tally
from articles.domain.errors import ArticleMerged, ArticleRemoved, VotingClosed
from articles.domain.lists import Order, PageRefresh
from articles.formatting.values import grouped
from articles.text.refusals import action_sentence
from articles.text.slugs import SLUGS_PER_REQUEST, clean_slug
from articles.views.lists.rows import discussion_label, ranked_note, unread_label, visitors_label
from articles.web.caching import unless_known
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.web.wiring import repository


def counts(thing: ArticleId | str, source: Article | Tally) -> dict[str, Any]:
    """Return the counts as numbers, and as the pages show them. `thing`: an article, or `comment-<id>`."""
    votes, opposes = grouped(source.votes), grouped(source.opposes)
    return {
        "id": thing,
        "votes": source.votes,
        "opposes": source.opposes,
        "choice": source.choice.value,
        "points": grouped(source.points),
        "unit": ngettext("point", "points", abs(source.points)),
        "numbers": _("%(votes)s for, %(opposes)s against") % {"votes": votes, "opposes": opposes}
        + (ranked_note(source.points, source.ranked_points) if isinstance(source, Article) else ""),
    }


def sentence(tally: Tally) -> str:
    """Return what a screen reader announces after a choice."""
    numbers = {"points": grouped(tally.points)}
    match tally.choice:
        case Choice.VOTE:
            text = ngettext(
                "Your vote was counted: %(points)s point now.",
                "Your vote was counted: %(points)s points now.",
                abs(tally.points),
            )
        case Choice.OPPOSE:
            text = ngettext(
                "Your vote against it was counted: %(points)s point now.",
                "Your vote against it was counted: %(points)s points now.",
                abs(tally.points),
            )
        case _:
            text = ngettext(
                "Your vote was taken back: %(points)s point now.",
                "Your vote was taken back: %(points)s points now.",
                abs(tally.points),
            )
    return text % numbers


SHARED_SECONDS = 5  # time for which caches may serve a response to all readers without an account
_IDS = re.compile(r"[1-9][0-9]{0,17}(,[1-9][0-9]{0,17}){0,99}", re.ASCII)
_SINCE = re.compile(r"[0-9]{1,12}", re.ASCII)


class _RefreshQuery(NamedTuple):
    ids: tuple[ArticleId, ...]
    order: Order | None
    since: float | None
    slugs: tuple[str, ...]

    @classmethod
    def of(cls, query: QueryDict) -> "_RefreshQuery":
        """Return the parameters of a request. Raises ValueError for any that no page of the site sends."""
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
    """Return the counts of articles in their current order, and the number of new articles.

    `?ids=` names at most 100 articles; lists add `order=`, `groups=`, and `since=` in Unix seconds, without which
    new articles are not counted. Responds 304 if nothing has changed, and 400 to invalid parameters.
    """
    try:
        query = _RefreshQuery.of(request.GET)
    except ValueError:
        return JsonResponse({"error": _("The request is not valid.")}, status=400)
    hidden, reader = preferences_of(request).hiding, reader_id(request)
    page = repository().refresh.get(
        query.ids, order=query.order, since=query.since, slugs=query.slugs, hidden=hidden, reader=reader
    )
    now, is_hot = repository().store.now(), query.order is Order.HOT
    rows = [_row(article, now, is_hot=is_hot, is_member=reader is not None) for article in page.articles]
    response = JsonResponse({"articles": rows, "new": _new_label(page)})
    if reader is None:
        patch_cache_control(response, public=True, max_age=SHARED_SECONDS)
    else:
        patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ("Cookie", "Accept-Language"))
    return unless_known(request, response)


def _row(article: Article, now: float, *, is_hot: bool, is_member: bool) -> dict[str, Any]:
    """Return the counts of an article, and why it takes no more votes, if so."""
    row = counts(article.id, article) | {"comments": discussion_label(article.comments)}
    if is_member:
        row |= {"read": article.read_at is not None, "unread": unread_label(article.new_comments)}
    if is_hot:
        row["visitors"] = visitors_label(article.uv)
    if article.removed is not None:
        error = ArticleRemoved if article.merged_into is None else ArticleMerged
        row["removed"] = action_sentence(error(article.id))
    elif not article.is_open(now):
        row["closed"] = action_sentence(VotingClosed(article.id))
    return row


def _new_label(page: PageRefresh) -> str:
    """Return the number of new articles in words; "" if there are none."""
    if not page.new:
        return ""
    number = {"n": grouped(page.new)}
    if page.has_more_new:
        return ngettext("More than %(n)s new article", "More than %(n)s new articles", page.new) % number
    return ngettext("%(n)s new article", "%(n)s new articles", page.new) % number
