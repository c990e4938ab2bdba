"""The preview that other sites show of an article."""

import json
import struct
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client

from articles.domain.articles import Choice
from tests.factories import actor, comment_on, post_as
from tests.store_state import set_posted_at


class Head(HTMLParser):
    """A parser that collects meta elements, the canonical address, and the data for search engines."""

    def __init__(self, text):
        super().__init__()
        self.found, self.canonical, self.tags, self.posting = {}, None, [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        values = dict(attrs)
        if tag == "meta" and (name := values.get("property") or values.get("name")):
            self.found.setdefault(name, []).append(values["content"])
        if tag == "link" and values.get("rel") == "canonical":
            self.canonical = values["href"]
        self._is_posting = (tag, values.get("type")) == ("script", "application/ld+json")

    def handle_data(self, data):
        if getattr(self, "_is_posting", False):
            assert self.posting is None, "one per page"
            self.posting, self._is_posting = json.loads(data), False

    def __getitem__(self, name):
        (content,) = self.found[name]
        return content


def head_of(article, **options):
    return Head(Client().get(f"/articles/{article}/", **options).content.decode())


def test_a_card_shows_the_facts_of_an_article(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    set_posted_at(site_store, article, 1_900_000_000)

    head = head_of(article)

    address = f"http://testserver/articles/{article}/"
    assert head.canonical == head["og:url"] == address
    assert head["og:type"] == "article"
    assert head["og:title"] == head["twitter:title"] == "A title"
    description = "An article from example.org, posted by alice: 2 points. Groups: Python."
    assert head["og:description"] == head["twitter:description"] == head["description"] == description
    assert (head["og:site_name"], head["og:locale"]) == ("Article Voting", "en_US")
    assert head["article:published_time"] == "2030-03-17T17:46:40+00:00"
    assert head["article:author"] == "http://testserver/users/alice/"
    assert head.found["article:tag"] == ["Python"]
    assert head["twitter:card"] == "summary_large_image"


_TEXT, _ADDRESS = {"type": "string", "minLength": 1}, {"type": "string", "pattern": "^https?://"}
_DATE = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$"}
_COUNTER = {
    "required": ["@type", "interactionType", "userInteractionCount"],
    "properties": {
        "@type": {"const": "InteractionCounter"},
        "interactionType": {"pattern": "^https://schema.org/(Like|Dislike|Comment)Action$"},
        "userInteractionCount": {"type": "integer", "minimum": 0},
    },
}
POSTING = {
    "required": ["@context", "@type", "author", "datePublished", "headline", "url", "image"],
    "anyOf": [{"required": ["text"]}, {"required": ["sharedContent"]}],
    "additionalProperties": False,
    "properties": {
        "@context": {"const": "https://schema.org"},
        "@type": {"const": "DiscussionForumPosting"},
        "url": _ADDRESS,
        "mainEntityOfPage": _ADDRESS,
        "image": _ADDRESS,
        "headline": _TEXT,
        "text": _TEXT,
        "datePublished": _DATE,
        "dateModified": _DATE,
        "author": {"required": ["@type", "name"], "properties": {"name": _TEXT, "url": _ADDRESS}},
        "sharedContent": {
            "required": ["@type", "url"],
            "properties": {"@type": {"const": "WebPage"}, "url": _ADDRESS},
        },
        "interactionStatistic": {"type": "array", "items": _COUNTER},
    },
}
"""What https://developers.google.com/search/docs/appearance/structured-data/discussion-forum requires."""


def test_search_engines_find_the_article_as_a_posting_in_a_forum(site_store, article, alice, bob):
    set_posted_at(site_store, article, 1_900_000_000)
    comment_on(site_store, article, "A comment", bob.pk)
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)
    text = post_as(site_store, alice, "</script>“A text”", "", text="What I *think* & <b>").id
    orphan = site_store.articles.post(0, "", "B", "https://www.example.org/b").id

    posting, of_text, of_orphan = (head_of(number).posting for number in (article, text, orphan))

    for one in (posting, of_text, of_orphan):
        jsonschema.validate(one, POSTING)
    assert posting["url"] == f"http://testserver/articles/{article}/"
    assert posting["author"] == {"@type": "Person", "name": "alice", "url": "http://testserver/users/alice/"}
    assert posting["datePublished"] == "2030-03-17T17:46:40+00:00"
    assert posting["sharedContent"] == {"@type": "WebPage", "url": "https://example.org/a"}
    counts = {one["interactionType"][19:]: one["userInteractionCount"] for one in posting["interactionStatistic"]}
    assert counts == {"LikeAction": 1, "DislikeAction": 1, "CommentAction": 1}
    assert (of_text["headline"], of_text["text"]) == ("</script>“A text”", "What I think & <b>")
    assert of_orphan["author"] == {"@type": "Person", "name": "[deleted]"}
    site_store.articles.edit(article, actor(alice), "Another", "https://example.org/a", moderator=False)
    assert "dateModified" in head_of(article).posting


def test_the_picture_is_the_mark_of_the_site(site_store, article):
    head = head_of(article)

    path = head["og:image"].removeprefix("http://testserver")
    assert path == static("card.png")
    assert head["twitter:image"] == head.posting["image"] == head["og:image"]
    assert head["og:image:alt"] == "Article Voting"
    raw = Path(finders.find("card.png")).read_bytes()
    size = (int(head["og:image:width"]), int(head["og:image:height"]))
    assert struct.unpack(">II", raw[16:24]) == size == (1200, 630)


@pytest.mark.parametrize(
    ("path", "title", "description"),
    [
        ("/", "Article Voting", "Members share links here and vote on them, so the best rise to the top."),
        ("/groups/python/", "Python", "All about snakes."),
    ],
)
def test_the_front_page_and_groups_have_a_card(site_store, article, carol, settings, path, title, description):
    settings.SITE_URL = "https://news.example.org"
    site_store.groups.describe("python", "All about *snakes*.", actor(carol))

    head = Head(Client().get(path).text)

    assert (head["og:title"], head["og:description"], head["og:type"]) == (title, description, "website")
    assert head["og:url"] == f"https://news.example.org{path}"
    assert head["og:image"] == f"https://news.example.org{static('card.png')}"


@pytest.mark.hostile
def test_hostile_titles_stay_in_their_attribute(site_store, alice, shared_dir):
    texts = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))
    hostile = [text for text in texts if any(char in text for char in "<>\"'&") and text.isprintable()][:60]
    tags = None
    for n, title in enumerate(['"><script>alert(1)</script>', "' onload='x", "{{7*7}}", "&quot;", *hostile]):
        number = post_as(site_store, alice, title, f"https://e.org/{n}").id
        head = head_of(number)
        assert head["og:title"] == head["twitter:title"] == head.posting["headline"] == title
        of_head = head.tags[: head.tags.index("body")]
        tags = tags or of_head
        assert of_head == tags, title


def test_an_article_without_poster_and_group_shows_the_remaining_facts(site_store):
    number = site_store.articles.post(0, "", "B", "https://www.example.org/b").id

    head = head_of(number)

    assert head["description"] == "An article from example.org: 1 point."
    assert "article:author" not in head.found
    assert "article:tag" not in head.found


def test_a_removed_article_has_no_card_and_is_not_to_be_indexed(site_store, article, carol):
    site_store.articles.remove(article, actor(carol), "spam")

    head = head_of(article)

    assert not any(name.startswith(("og:", "twitter:")) for name in head.found)
    assert head.posting is None
    assert head["robots"] == "noindex"


@pytest.mark.parametrize("path", ["/articles/{}/?from=feed"])
def test_the_operators_address_is_the_canonical_one(site_store, article, settings, path):
    settings.SITE_URL = "https://news.example.org"

    head = Head(Client().get(path.format(article)).content.decode())

    assert head.canonical == f"https://news.example.org/articles/{article}/"
    assert head["og:image"] == f"https://news.example.org{static('card.png')}"
