"""Answer requests for a feed, without writing it if the client has the current version."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from hashlib import blake2b

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date

from articles.domain.articles import Article
from articles.feeds.writing import CONTENT_TYPES, Feed, Item, written

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
