"""Feeds as XML: Atom (RFC 4287) and RSS 2.0, by Django's generators.

A feed is the same for everybody, so it is written in the site's language.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed, Rss201rev2Feed, SyndicationFeed
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.domain.articles import Article
from articles.formatting.values import grouped
from articles.text.links import host_of
from articles.web.caching import FEED_SECONDS

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write (section 2.2)."""

TIME_TO_LIVE = FEED_SECONDS // 60
"""Minutes for which caches and subscribers may keep a feed."""


@dataclass(frozen=True, slots=True)
class Feed:
    """What is said of a whole feed. `site` is scheme and host, `page` an address."""

    title: str
    subtitle: str
    site: str
    page: str
    """The list as a page."""

    path: str
    """The feed's own path, with its query."""

    author: str
    language: str
    site_id: str
    """UUID that names the feed and its entries where no address of the site is set; "" where one is."""

    @property
    def address(self) -> str:
        """The feed's own address."""
        return self.site + self.path

    @property
    def id(self) -> str:
        """What the feed is known by, whatever address it was asked for at."""
        return _named(self.site_id, self.path) if self.site_id else self.address

    def id_of(self, article: Article) -> str:
        """What an entry is known by for good."""
        if self.site_id:
            return _named(self.site_id, f"article/{article.id}")
        return f"tag:{urlsplit(self.site).hostname},{_moment(article.posted_at):%Y-%m-%d}:article/{article.id}"


def _named(site_id: str, name: str) -> str:
    return uuid5(UUID(site_id), name).urn


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


class Atom(Atom1Feed):
    """Atom with a link to the site's own page of each article."""

    def add_item_elements(self, handler: Any, item: dict[str, Any]) -> None:
        super().add_item_elements(handler, item)
        handler.addQuickElement("link", "", {"rel": "replies", "type": "text/html", "href": item["comments"]})


FORMATS: Mapping[str, type[SyndicationFeed]] = {"atom": Atom, "rss": Rss201rev2Feed}
"""Generators by the end of a feed's address."""

CONTENT_TYPES = {"atom": "application/atom+xml; charset=utf-8", "rss": "application/rss+xml; charset=utf-8"}


def written(feed: Feed, articles: Sequence[Article], kind: str) -> bytes:
    """The feed as XML in UTF-8; `kind` is a key of `FORMATS`. Texts are in the active language."""
    generator = FORMATS[kind](
        title=clean(feed.title),
        link=feed.page,
        description=clean(feed.subtitle),
        subtitle=clean(feed.subtitle),
        author_name=clean(feed.author),
        feed_url=feed.address,
        feed_guid=feed.id,
        language=feed.language,
        ttl=TIME_TO_LIVE,
    )
    for article in articles:
        generator.add_item(**_item(feed, article))
    return str(generator.writeString("utf-8")).encode()


def clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return _FORBIDDEN.sub("", text)


def _item(feed: Feed, article: Article) -> dict[str, Any]:
    posted, page = _moment(article.posted_at), feed.site + reverse("articles:article", args=[article.id])
    poster = clean(article.poster_name)
    return {
        "title": clean(article.title),
        "link": clean(article.link),
        "comments": page,
        "description": _summary(article, page),
        "unique_id": feed.id_of(article),
        "unique_id_is_permalink": False,
        "pubdate": posted,
        "updateddate": posted if article.edited_at is None else _moment(article.edited_at),
        "author_name": poster or None,
        "author_link": feed.site + reverse("articles:profile", args=[poster]) if poster else None,
        "categories": [clean(slug) for slug in article.groups],
    }


def _summary(article: Article, page: str) -> str:
    """A piece of HTML: what people think of it, where it leads, and where one can vote."""
    numbers = ngettext(
        "%(points)s point: %(votes)s voted for it, %(opposes)s opposed it.",
        "%(points)s points: %(votes)s voted for it, %(opposes)s opposed it.",
        abs(article.points),
    ) % {
        "points": grouped(article.points),
        "votes": grouped(article.votes),
        "opposes": grouped(article.opposes),
    }
    return format_html(
        '<p>{}</p><p>{}</p><p><a href="{}">{}</a></p>',
        numbers,
        clean(host_of(article.link)),
        page,
        _("Vote on it, and see why it ranks where it does"),
    )
