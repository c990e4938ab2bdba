"""The rules that the demo content follows."""

import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from articles.text.lines import clean_group_description, clean_text
from articles.text.markdown import links_in, render
from extras.transfer.demo import seeding
from voting_site.configuration.kinds import LANGUAGES

CONTENT = Path(seeding.__file__).with_name("content.json")
CJK = re.compile(r"[\u4e00-\u9fff]")
# A character that a link must carry percent-encoded, or a percent sign that encodes nothing.
UNSAFE_IN_LINK = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{|}]|%(?![0-9A-F]{2})")


def link_key(link):
    """Return a key shared by links to the same page: without scheme, trailing slash and fragment."""
    parts = urlsplit(link)
    return (parts.netloc.lower(), unquote(parts.path).rstrip("/"), parts.query)


def repeated(values):
    return [value for value, count in Counter(values).items() if count > 1]


@pytest.fixture(scope="module")
def content():
    return json.loads(CONTENT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def groups(content):
    return content["groups"]


@pytest.fixture(scope="module")
def articles(content):
    return content["articles"]


def test_the_texts_of_the_site_are_in_each_language_and_clean(content):
    written = {(text["name"], text["language"]) for text in content["texts"]}
    assert written == {(name, code) for name in ("welcome", "rules", "about") for code in LANGUAGES}
    for text in content["texts"]:
        assert clean_text(text["text"]) == text["text"]
        assert bool(CJK.search(text["text"])) is (text["language"] != "en")


def test_each_group_has_a_short_description_in_both_languages(groups):
    descriptions = [group["description"] for group in groups]
    for text in descriptions:
        assert clean_group_description(text) == text
        assert len(text) <= 300  # a longer one is folded
        english, chinese = text.rsplit("\n\n", 1)
        assert CJK.search(chinese)
        assert not CJK.search(english)


def test_descriptions_link_to_groups_of_the_demo(groups):
    html = [render(group.get("description", ""), site_links=True) for group in groups]
    links = {link for each in html for link in links_in(each)}
    assert links
    assert links <= {f"/groups/{group['slug']}/" for group in groups}


def test_articles_have_the_same_fields(articles):
    assert 125 <= len(articles) <= 140
    fields, content = {"title", "groups", "appeal", "controversy"}, {"link", "text"}
    assert [article for article in articles if set(article) - content != fields] == []
    assert [article for article in articles if not content & set(article)] == []


def test_titles_are_distinct_and_of_reasonable_length(articles):
    titles = [article["title"] for article in articles]
    assert [title for title in titles if not 10 <= len(title) <= 120] == []
    assert [title for title in titles if " ".join(title.split()) != title] == []
    assert repeated(title.casefold() for title in titles) == []


def test_links_are_well_formed(articles):
    links = [article["link"] for article in articles if "link" in article]
    assert [link for link in links if urlsplit(link).scheme not in ("http", "https")] == []
    assert [link for link in links if "." not in (urlsplit(link).hostname or "")] == []
    assert [link for link in links if urlsplit(link).username or urlsplit(link).port] == []
    assert [link for link in links if UNSAFE_IN_LINK.search(link)] == []
    assert [link for link in links if len(link) > 300] == []


def test_no_two_articles_link_to_the_same_page(articles):
    assert repeated(link_key(article["link"]) for article in articles if "link" in article) == []


@pytest.mark.parametrize(
    "other",
    ["http://Example.org/a", "https://example.org/a/", "https://example.org/a#b", "https://example.org/%61"],
)
def test_the_link_key_ignores_spelling(other):
    assert link_key(other) == link_key("https://example.org/a")
    assert link_key(other) != link_key("https://example.org/a?b")


def test_articles_are_in_one_to_three_known_groups(groups, articles):
    slugs = {group["slug"] for group in groups}
    assert [a["title"] for a in articles if not 1 <= len(a["groups"]) <= 3] == []
    assert [a["title"] for a in articles if repeated(a["groups"])] == []
    assert [a["title"] for a in articles if not slugs.issuperset(a["groups"])] == []


def test_every_group_has_ten_articles_and_some_are_shared(groups, articles):
    sizes = Counter(slug for article in articles for slug in article["groups"])
    assert [group["slug"] for group in groups if sizes[group["slug"]] < 10] == []
    memberships = Counter(len(article["groups"]) for article in articles)
    assert memberships[2] >= 10
    assert memberships[3] >= 2
