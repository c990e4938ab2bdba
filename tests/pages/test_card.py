"""The preview that other sites show of an article."""

import json
import struct
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from articles import card_picture
from articles.domain.articles import Choice
from tests.factories import actor, comment_on, post_as, vote
from tests.pages.copies import make_old
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


def picture_of(article, **options):
    """Return the address of an article's picture, as its page names it."""
    head = head_of(article, **options)
    assert head["og:image"] == head["twitter:image"] == head.posting["image"]
    assert (head["og:image:width"], head["og:image:height"]) == ("1200", "630")
    return head["og:image"].removeprefix("http://testserver")


def is_picture(answer):
    raw = answer.getvalue()
    assert (answer.status_code, answer["Content-Type"], raw[:8]) == (200, "image/png", b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", raw[16:24]) == (1200, 630)
    return len(raw) < 100_000


@pytest.fixture
def drawn(monkeypatch):
    """The cards for which a process was started. It exits as on a machine without fonts."""
    cards = []

    def run(_command, *, input, **_options):
        cards.append(json.loads(input))
        return subprocess.CompletedProcess([], card_picture.NO_FONTS, b"", b"")

    monkeypatch.setattr("articles.views.cards.subprocess.run", run)
    return cards


def test_the_picture_of_an_article_has_an_address_that_changes_with_what_it_shows(site_store, article, alice, bob):
    first = picture_of(article)
    answer = Client().get(first)
    assert is_picture(answer)
    assert answer["Cache-Control"] == "public, max-age=86400"
    assert not answer.cookies
    chinese = picture_of(article, headers={"Accept-Language": "zh-CN"})
    assert f"/cards/{article}/zh-hans/" in chinese
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    assert picture_of(article) == first, "a vote draws nothing"

    vote(site_store, article, 10)
    assert (more := picture_of(article)) != first
    vote(site_store, article, 5)
    assert picture_of(article) == more
    assert Client().get(first)["Location"] == more
    site_store.articles.edit(article, actor(alice), "Another", "https://example.org/a", moderator=False)
    assert picture_of(article) not in (first, more)
    for path in (first.replace("/en/", "/xx/"), f"/cards/99/en/{'0' * 12}.png", "/cards/0/en/x.png"):
        assert Client().get(path).status_code == 404
    site_store.articles.remove(article, actor(alice), "spam")
    assert Client().get(first).status_code in (404, 410)


def test_a_picture_is_drawn_once_and_for_no_address_that_readers_make_up(site_store, alice, kept, drawn):
    article = post_as(site_store, alice, "Drawn once", "https://example.org/once").id
    path = picture_of(article)
    for address in (path, path, f"{path}?x=1", f"/cards/{article}/en/000000000000.png"):
        Client().get(address)
    make_old(kept, 3600)
    Client().get(path, headers={"Host": "localhost"})

    assert [card["title"] for card in drawn] == ["Drawn once"]
    assert (drawn[0]["host"], drawn[0]["points"], drawn[0]["site"]) == ("example.org", "", "Article Voting")


def test_a_machine_without_fonts_for_a_title_shows_the_picture_of_the_site(site_store, alice, drawn, caplog):
    number = post_as(site_store, alice, "𒀀", "https://example.org/x").id

    answer = Client().get(picture_of(number))

    assert is_picture(answer)
    assert answer.content == Path(finders.find("card.png")).read_bytes()
    assert (len(drawn), caplog.messages) == (1, [])
    assert card_picture.png(card_picture.Fonts(("/nowhere",)), CARD) is None


CARD = {"title": "A title", "points": "20+ points", "host": "example.org", "site": "A site", "accent": "#0c6653"}


@pytest.mark.hostile
@pytest.mark.skipif(not card_picture.Fonts().faces, reason="this machine has no fonts that pictures use")
def test_titles_of_any_characters_fit_into_the_picture(shared_dir):
    fonts = card_picture.Fonts()
    titles = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))
    worst = ["W" * 300, "字" * 300, "字，" * 150, "a" + "\u0301" * 299, "\u202e" * 300, "\ud800", "a\x00b"]
    worst += ["مرحبا " * 50, "\u200d" * 300, "😀" * 300, "（" * 300, "! " * 150, "<g>&\"'", "\ufdfd" * 300]
    for title in (*worst, *titles):
        drawn = card_picture.svg(fonts, CARD | {"title": title, "host": title, "site": title})
        for line in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text") if drawn else ():
            size, at = float(line.get("font-size")), float(line.get("x"))
            wide = fonts.width(line.text or "", size)
            assert wide <= at - 72 if line.get("text-anchor") else at + wide <= 1128, (title, line.text)
    for title in worst:
        picture = card_picture.png(fonts, CARD | {"title": title})
        assert picture is None or picture.startswith(b"\x89PNG")


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
    assert head["og:image"].startswith("https://news.example.org/cards/")
