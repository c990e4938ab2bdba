"""Read feeds as a client does."""

import json
import xml.etree.ElementTree as ET
from datetime import datetime
from email.utils import parsedate_to_datetime

import feedparser
import jsonschema

ATOM = "{http://www.w3.org/2005/Atom}"


def parsed(response):
    """Parse the response as a feed reader does; it must be well-formed."""
    assert response.status_code == 200, (response.status_code, response.content)
    if response["Content-Type"] == "application/feed+json":
        return parsed_json(json.loads(response.content))
    found = feedparser.parse(response.content, response_headers={"content-type": response["Content-Type"]})
    assert not found.bozo, found.bozo_exception
    check(response)
    return found


def ids_in(response):
    return [number_of(entry) for entry in parsed(response).entries]


def number_of(entry):
    """Return the article's number, from the link to its page."""
    page = entry.get("comments") or next(link.href for link in entry.links if link.rel == "replies")
    return int(page.rstrip("/").rpartition("/")[2])


def check(response):
    """Check what the formats require: RFC 4287, sections 4.1.1 and 4.1.2; RSS 2.0."""
    root = ET.fromstring(response.content)
    (check_atom if root.tag == f"{ATOM}feed" else check_rss)(root)


def check_atom(feed):
    for name in ("id", "title", "updated"):
        assert len(feed.findall(ATOM + name)) == 1, name
    assert links(feed, "self")
    assert feed.find(f"{ATOM}author/{ATOM}name").text
    seen = set()
    for entry in feed.iter(f"{ATOM}entry"):
        for name in ("id", "title", "updated", "published", "summary"):
            assert len(entry.findall(ATOM + name)) == 1, name
        assert len(links(entry, "alternate")) == 1
        assert len(links(entry, "replies")) == 1
        assert entry.find(f"{ATOM}id").text not in seen
        seen.add(entry.find(f"{ATOM}id").text)


def links(element, rel):
    return [link.get("href") for link in element.findall(f"{ATOM}link") if link.get("rel") == rel]


def check_rss(rss):
    assert (rss.tag, rss.get("version")) == ("rss", "2.0")
    (channel,) = rss.findall("channel")
    for name in ("title", "link", "description", "language", "lastBuildDate", "ttl", f"{ATOM}link"):
        assert len(channel.findall(name)) == 1, name
    for item in channel.iter("item"):
        for name in ("title", "link", "description", "comments", "pubDate", "guid"):
            assert len(item.findall(name)) == 1, name
        assert item.find("guid").get("isPermaLink") == "false"
        assert parsedate_to_datetime(item.find("pubDate").text).tzinfo


_TEXT, _ADDRESS, _DATE = (
    {"type": "string", "minLength": 1},
    {"type": "string", "pattern": "^https?://"},
    {"type": "string"},
)
_AUTHORS = {
    "type": "array",
    "items": {"type": "object", "minProperties": 1, "properties": {"name": _TEXT, "url": _ADDRESS}},
}
_ITEM = {
    "type": "object",
    "required": ["id", "content_html", "url", "date_published"],
    "additionalProperties": False,
    "properties": {
        "id": _TEXT,
        "url": _ADDRESS,
        "external_url": _ADDRESS,
        "title": _TEXT,
        "content_html": _TEXT,
        "date_published": _DATE,
        "date_modified": _DATE,
        "authors": _AUTHORS,
        "tags": {"type": "array", "items": _TEXT},
    },
}
JSON_FEED = {
    "type": "object",
    "required": ["version", "title", "items", "feed_url", "home_page_url"],
    "additionalProperties": False,
    "properties": {
        "version": {"const": "https://jsonfeed.org/version/1.1"},
        "title": _TEXT,
        "home_page_url": _ADDRESS,
        "feed_url": _ADDRESS,
        "description": _TEXT,
        "language": _TEXT,
        "authors": _AUTHORS,
        "items": {"type": "array", "items": _ITEM},
    },
}
"""What https://www.jsonfeed.org/version/1.1/ says of the members that the site sends."""


def parsed_json(feed):
    """Check a JSON Feed; return it as `feedparser` returns the others, which does not read JSON."""
    jsonschema.validate(feed, JSON_FEED)
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"])
    entries = [
        feedparser.FeedParserDict(
            id=item["id"],
            title=item["title"],
            link=item.get("external_url", item["url"]),
            comments=item["url"],
            summary=item["content_html"],
            author=item["authors"][0]["name"] if "authors" in item else "",
            tags=[feedparser.FeedParserDict(term=tag) for tag in item["tags"]],
            published_parsed=datetime.fromisoformat(item["date_published"]).utctimetuple(),
            updated_parsed=datetime.fromisoformat(item["date_modified"]).utctimetuple(),
        )
        for item in feed["items"]
    ]
    own = feedparser.FeedParserDict(href=feed["feed_url"])
    about = feedparser.FeedParserDict(
        title=feed["title"], link=feed["home_page_url"], links=[own], language=feed["language"]
    )
    return feedparser.FeedParserDict(feed=about, entries=entries)
