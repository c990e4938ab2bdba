"""Answer requests for a feed, without writing it if the client has the current version.

Filters in the address: `?min_points=` and `?hide=`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from hashlib import blake2b
from urllib.parse import quote, urlencode

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.utils.translation import gettext as _

from articles.domain.articles import Article
from articles.feeds.writing import CONTENT_TYPES, Feed, Item, written
from articles.formatting.values import grouped
from articles.repository import FeedFilter
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from articles.text.slugs import SLUG_LIMIT, clean_slug
from articles.web.preferences import MOST_HIDDEN, slugs_from

MOST_POINTS = 1_000_000

_NUMBER = re.compile("[0-9]{1,7}", re.ASCII)
_MOST_TEXT = MOST_HIDDEN * (SLUG_LIMIT + 1)


class BadQuery(ValueError):
    """A parameter is invalid; the message is a sentence in the reader's language."""


def feed_filter_of(query: QueryDict) -> FeedFilter:
    """Return the filter in the query of a feed. Raises BadQuery."""
    return FeedFilter(_min_points(query), hidden_in(query.get("hide", "")))


def query_of(feed_filter: FeedFilter, **more: str) -> str:
    """Return the canonical query of a filter, with its question mark, or "". `more` comes first."""
    values = more | {
        "min_points": "" if feed_filter.min_points is None else str(feed_filter.min_points),
        "hide": ",".join(feed_filter.hidden),
    }
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given, safe=',', quote_via=quote)}" if given else ""


def _min_points(query: QueryDict) -> int | None:
    text = query.get("min_points")
    if text is None:
        return None
    if not _NUMBER.fullmatch(text) or int(text) > MOST_POINTS:
        raise BadQuery(_("min_points must be a whole number from 0 to %(most)s.") % {"most": grouped(MOST_POINTS)})
    return int(text)


def hidden_in(joined: str) -> tuple[str, ...]:
    """Return the slugs of the groups that `?hide=` names, sorted, each once. Raises BadQuery."""
    if len(joined) > _MOST_TEXT or joined.count(",") >= MOST_HIDDEN:
        raise BadQuery(_("hide can name at most %(most)s groups.") % {"most": grouped(MOST_HIDDEN)})
    try:
        return tuple(sorted({clean_slug(slug) for slug in slugs_from(joined)}))
    except InvalidInput as refused:
        raise BadQuery(input_sentence(refused)) from refused


_FORMAT_VERSION = 3
"""Increase this when the XML of the same articles changes."""

_LAST_CHANGE_SECONDS = 7 * 86400
"""Lifetime in the cache of a feed's digest and time of change."""

_MOST_AHEAD_SECONDS = 60
"""The most that a feed's time of change is ahead of the clock, one second for each change within one."""


def answer(
    request: HttpRequest, feed: Feed, facts: Sequence[object], items: Iterable[Item], kind: str, now: float
) -> HttpResponse:
    """Return 200 with the feed, or 304. `now` is in Unix seconds.

    `facts`: everything that the entries contain; `items`: the entries, read only for 200. Only feeds without a
    query have a Last-Modified: the others are too many to cache.
    """
    digest = _digest(feed, facts, kind)
    etag, modified = f'W/"{digest}"', None
    if "?" not in feed.address:
        modified = _unchanged_since(feed.address, digest, now)
    response: HttpResponse | None = get_conditional_response(request, etag=etag, last_modified=modified)
    if response is None:
        response = HttpResponse(written(feed, items, kind), content_type=CONTENT_TYPES[kind])
    response.headers["ETag"] = etag
    if modified is not None:
        response.headers["Last-Modified"] = http_date(modified)
    return response


def facts_of(articles: Iterable[Article]) -> list[object]:
    """Return everything that the entries of articles contain."""
    return [
        (a.id, a.title, a.link, a.html, a.poster_name, a.posted_at, a.edited_at, a.votes, a.opposes, a.groups)
        for a in articles
    ]


def _digest(feed: Feed, facts: Sequence[object], kind: str) -> str:
    """Return a digest of everything that the feed contains."""
    raw = repr((_FORMAT_VERSION, kind, astuple(feed), facts)).encode("utf-8", "surrogatepass")
    return blake2b(raw, digest_size=16).hexdigest()


def _unchanged_since(address: str, digest: str, now: float) -> int | None:
    """Return when the current version was first served, in Unix seconds; None without a cache that keeps it.

    The articles do not show it: a vote or a moderator can add an old one. A version that follows another within
    the same second gets the next one, which may be ahead of the clock, because two versions must not share a date.
    If the cache loses the entry, the result is later than the change, and clients download the feed once more.
    """
    key = f"feed:{blake2b(address.encode(), digest_size=16).hexdigest()}"
    known = cache.get(key)
    former, at = known if isinstance(known, list) and len(known) == 2 else ("", 0)
    if at > now + _MOST_AHEAD_SECONDS:  # the clock has been set back
        former, at = "", 0
    if former == digest:
        return int(at)
    known = [digest, max(int(now), int(at) + 1)]
    cache.set(key, known, _LAST_CHANGE_SECONDS)
    return known[1] if cache.get(key) == known else None
