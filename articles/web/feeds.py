"""Feeds in Atom (RFC 4287), RSS 2.0 and JSON Feed 1.1, by Django's generators. docs/feeds.md describes them.

A feed is not written if the client has the current version. Filters in the address: `?min_points=` and `?hide=`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID, uuid5

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.feedgenerator import Atom1Feed, Rss201rev2Feed, SyndicationFeed
from django.utils.html import format_html
from django.utils.http import http_date
from django.utils.translation import gettext as _, ngettext

from articles.domain.articles import Article
from articles.domain.comments import Comment
from articles.formatting.values import grouped
from articles.repository import FeedFilter
from articles.text.lines import InvalidInput
from articles.text.links import host_of
from articles.text.refusals import input_sentence
from articles.text.searching import MOST, Hiding, Kind
from articles.text.slugs import SLUG_LIMIT, clean_slug
from articles.web.caching import FEED_SECONDS
from articles.web.preferences import slugs_from

Item: TypeAlias = dict[str, Any]  # an entry, as Django's generators take it

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent (section 2.2)."""

TIME_TO_LIVE = FEED_SECONDS // 60  # minutes for which caches and feed readers may store a feed


@dataclass(frozen=True, slots=True)
class Feed:
    """Metadata of a feed. `site` is scheme and host, `page` an absolute URL."""

    title: str
    subtitle: str
    site: str
    page: str  # the page that shows the same list
    path: str  # the feed's own path, with its query
    author: str
    language: str
    site_id: str  # namespace (UUID) of the ids of the feed and its entries if SITE_URL is not set; otherwise ""
    is_keyed: bool = False
    """Whether each member has another address of it: then the feed, which they share, names none."""

    @property
    def address(self) -> str:
        return self.site + self.path

    @property
    def id(self) -> str:
        """The feed's permanent id, independent of the host in the request."""
        return _named(self.site_id, self.path) if self.site_id else self.address

    def id_of(self, name: str, posted_at: float) -> str:
        """Return the permanent id of an entry, of which `name` is unique on the site."""
        if self.site_id:
            return _named(self.site_id, name)
        return f"tag:{urlsplit(self.site).hostname},{moment(posted_at):%Y-%m-%d}:{name}"

    def absolute(self, html: str) -> str:
        """Return HTML of a text, with absolute links, without what XML cannot represent."""
        return clean(html.replace('<a href="/', f'<a href="{self.site}/'))


def _named(site_id: str, name: str) -> str:
    return uuid5(UUID(site_id), name).urn


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


class Atom(Atom1Feed):
    """Atom with each article's text, and a link to its page on the site."""

    def add_item_elements(self, handler: Any, item: dict[str, Any]) -> None:
        super().add_item_elements(handler, item)
        handler.addQuickElement("link", "", {"rel": "replies", "type": "text/html", "href": item["comments"]})
        if item["content"]:
            handler.addQuickElement("content", item["content"], {"type": "html"})


class Rss(Rss201rev2Feed):
    """RSS with each article's text before its numbers: it has one element for both."""

    def add_item_elements(self, handler: Any, item: dict[str, Any]) -> None:
        super().add_item_elements(handler, item | {"description": item["content"] + item["description"]})


class Json(SyndicationFeed):
    """JSON Feed (https://www.jsonfeed.org/version/1.1/): what RSS has, and a link to each article's page."""

    def write(self, outfile: Any, encoding: str) -> None:  # noqa: ARG002 - writes text
        of = self.feed
        about = {"version": "https://jsonfeed.org/version/1.1", "title": of["title"], "home_page_url": of["link"]}
        about |= {"feed_url": of["feed_url"]} if of["feed_url"] else {}
        about |= {"description": of["description"], "language": of["language"]}
        about |= {"authors": [{"name": of["author_name"]}], "items": [self._item(item) for item in self.items]}
        json.dump(about, outfile, ensure_ascii=False)

    @staticmethod
    def _item(item: Item) -> Item:
        entry = {"id": item["unique_id"], "url": item["comments"], "title": item["title"]}
        if item["link"] != item["comments"]:
            entry["external_url"] = item["link"]
        entry |= {"content_html": item["content"] + item["description"], "tags": item["categories"]}
        if item["author_name"]:
            entry["authors"] = [{"name": item["author_name"], "url": item["author_link"]}]
        dates = {"date_published": item["pubdate"], "date_modified": item["updateddate"]}
        return entry | {name: date.isoformat(timespec="seconds") for name, date in dates.items()}


FORMATS: Mapping[str, type[SyndicationFeed]] = {"atom": Atom, "rss": Rss, "json": Json}
"""Generators by the suffix of a feed's URL."""

CONTENT_TYPES = {
    "atom": "application/atom+xml; charset=utf-8",
    "rss": "application/rss+xml; charset=utf-8",
    "json": "application/feed+json",
}


def written(feed: Feed, items: Iterable[Item], kind: str) -> bytes:
    """Return the feed in UTF-8; `kind` is a key of `FORMATS`. Texts are in the active language."""
    generator = FORMATS[kind](
        title=clean(feed.title),
        link=feed.page,
        description=clean(feed.subtitle),
        subtitle=clean(feed.subtitle),
        author_name=clean(feed.author),
        feed_url=None if feed.is_keyed else feed.address,
        feed_guid=feed.id,
        language=feed.language,
        ttl=TIME_TO_LIVE,
    )
    for item in items:
        generator.add_item(**item)
    return str(generator.writeString("utf-8")).encode()


def clean(text: str) -> str:
    """Return the text without characters that XML cannot represent."""
    return _FORBIDDEN.sub("", text)


def _item(feed: Feed, kind: str, one: Article | Comment, author: str) -> Item:
    """Return what the entries of articles and comments have in common."""
    posted, page = moment(one.posted_at), feed.site + reverse(f"articles:{kind}", args=[one.id])
    return {
        "link": page,
        "comments": page,
        "content": feed.absolute(str(one.html)),
        "unique_id": feed.id_of(f"{kind}/{one.id}", one.posted_at),
        "unique_id_is_permalink": False,
        "pubdate": posted,
        "updateddate": posted if one.edited_at is None else moment(one.edited_at),
        "author_name": author or None,
        "author_link": feed.site + reverse("articles:profile", args=[author]) if author else None,
    }


def article_item(feed: Feed, article: Article) -> Item:
    item = _item(feed, "article", article, clean(article.poster_name))
    return item | {
        "title": clean(article.title),
        "link": clean(article.link) or item["link"],
        "description": _summary(article, item["comments"]),
        "categories": [clean(slug) for slug in article.groups],
    }


def _summary(article: Article, page: str) -> str:
    """Return an HTML fragment: points and votes, the link's host, and a link to the article's page."""
    numbers = ngettext(
        "%(points)s point: %(votes)s voted for it, %(opposes)s opposed it.",
        "%(points)s points: %(votes)s voted for it, %(opposes)s opposed it.",
        abs(article.points),
    ) % {"points": grouped(article.points), "votes": grouped(article.votes), "opposes": grouped(article.opposes)}
    return format_html(
        '<p>{}</p>{}<p><a href="{}">{}</a></p>',
        numbers,
        format_html("<p>{}</p>", clean(host_of(article.link))) if article.link else "",
        page,
        _("Vote on it, and see why it ranks where it does"),
    )


Commented: TypeAlias = tuple[Comment, Article]  # a shown comment, and the article that it is on


def comment_item(feed: Feed, comment: Comment, article: Article) -> Item:
    author, title = clean(comment.author_name), clean(article.title)
    about = format_html('<a href="{}">{}</a>', feed.site + reverse("articles:article", args=[article.id]), title)
    return _item(feed, "comment", comment, author) | {
        "title": _("%(name)s on “%(title)s”") % {"name": author or _("[deleted]"), "title": title},
        "description": format_html("<p>{}</p>", format_html(_("On %(article)s") % {"article": "{}"}, about)),
    }


def comment_facts_of(comments: Iterable[Commented]) -> list[object]:
    """Return everything that the entries contain."""
    return [(c.id, c.html, c.author_name, c.posted_at, c.edited_at, a.title) for c, a in comments]


MOST_POINTS = 1_000_000

_NUMBER = re.compile("[0-9]{1,7}", re.ASCII)
_MOST_TEXT = MOST[Kind.GROUP] * (SLUG_LIMIT + 1)


class BadQuery(ValueError):
    """A parameter is invalid; the message is a sentence in the reader's language."""


def feed_filter_of(query: QueryDict) -> FeedFilter:
    """Return the filter in the query of a feed. Raises BadQuery."""
    return FeedFilter(_min_points(query), Hiding(hidden_in(query.get("hide", ""))))


def query_of(feed_filter: FeedFilter, **more: str) -> str:
    """Return the canonical query of a filter, with its question mark, or "". `more` comes first."""
    values = more | {
        "min_points": "" if feed_filter.min_points is None else str(feed_filter.min_points),
        "hide": ",".join(feed_filter.hidden.groups),
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
    if len(joined) > _MOST_TEXT or joined.count(",") >= MOST[Kind.GROUP]:
        raise BadQuery(_("hide can name at most %(most)s groups.") % {"most": grouped(MOST[Kind.GROUP])})
    try:
        return tuple(sorted({clean_slug(slug) for slug in slugs_from(joined)}))
    except InvalidInput as refused:
        raise BadQuery(input_sentence(refused)) from refused


_FORMAT_VERSION = 3  # increase this when the feed of the same articles changes
_LAST_CHANGE_SECONDS = 7 * 86400  # lifetime in the cache of a feed's digest and time of change
_MOST_AHEAD_SECONDS = 60
"""The most that a feed's time of change is ahead of the clock, one second for each change within one."""


def answer(
    request: HttpRequest, feed: Feed, facts: Sequence[object], items: Iterable[Item], kind: str, now: float
) -> HttpResponse:
    """Return 200 with the feed, or 304. `now` is in Unix seconds.

    `facts`: everything that the entries contain; `items`: the entries, read only for 200. Only feeds without a
    query have a Last-Modified: the others are too many to cache.
    """
    raw = repr((_FORMAT_VERSION, kind, astuple(feed), facts)).encode("utf-8", "surrogatepass")
    digest = blake2b(raw, digest_size=16).hexdigest()  # of everything that the feed contains
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
