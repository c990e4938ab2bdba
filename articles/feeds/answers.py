"""A feed as an answer: nothing is written for a subscriber who has it already."""

from collections.abc import Sequence
from dataclasses import astuple
from hashlib import blake2b

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date

from articles.domain.articles import Article
from articles.feeds.writing import CONTENT_TYPES, Feed, written

_WRITING = 2
"""To be raised when the same articles are written in another way."""

_REMEMBERED = 7 * 86400
"""Seconds for which it is known since when a feed has been what it is."""


def answer(request: HttpRequest, feed: Feed, articles: Sequence[Article], kind: str, now: float) -> HttpResponse:
    """200 with the feed, or 304. `now` in Unix seconds.

    Only feeds without a query have a Last-Modified: of the others there are too many to remember.
    """
    digest = _digest(feed, articles, kind)
    etag, modified = f'W/"{digest}"', None
    if "?" not in feed.address:
        modified = _unchanged_since(feed.address, digest, now)
    found: HttpResponse | None = get_conditional_response(request, etag=etag, last_modified=modified)
    if found is None:
        found = HttpResponse(written(feed, articles, kind), content_type=CONTENT_TYPES[kind])
    found.headers["ETag"] = etag
    if modified is not None:
        found.headers["Last-Modified"] = http_date(modified)
    return found


def _digest(feed: Feed, articles: Sequence[Article], kind: str) -> str:
    """Of everything that is written."""
    facts = [
        (a.id, a.title, a.link, a.poster_name, a.posted_at, a.edited_at, a.votes, a.opposes, a.groups)
        for a in articles
    ]
    raw = repr((_WRITING, kind, astuple(feed), facts)).encode("utf-8", "surrogatepass")
    return blake2b(raw, digest_size=16).hexdigest()


def _unchanged_since(address: str, digest: str, now: float) -> int | None:
    """The second in which the feed was first found to be what it is; None while that second lasts.

    No time in the articles tells: one may come in because of a vote or a moderator. Without the cache's memory
    the answer is only later than the truth, and a subscriber gets the feed once more.
    """
    key = f"feed:{blake2b(address.encode(), digest_size=16).hexdigest()}"
    known = cache.get(key)
    if not (isinstance(known, list) and len(known) == 2 and known[0] == digest and known[1] <= now):
        known = [digest, now]
        cache.set(key, known, _REMEMBERED)
    return int(known[1]) if int(known[1]) < int(now) else None
