"""Markup, scripts, templates and control characters in every text: shown literally, and never in a header."""

import json
from contextlib import suppress
from html.parser import HTMLParser

import pytest
from django.test import Client

from accounts.models import Token
from articles.text.lines import InvalidInput, clean_comment, clean_title
from tests import extras
from tests.attacks.pages import parts_of
from tests.cast import MODERATOR
from tests.factories import browser_of, post_as

OURS = [
    "{{7*7}}", "{% load static %}", "${7*7}", "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n",
    "a\u202eb\u200bc", "]]>&amp;",
]  # fmt: skip


@pytest.fixture
def titles(texts) -> list[str]:
    """Every hostile text that the site accepts as a title."""
    accepted = []
    for text in [*OURS, *texts]:
        with suppress(InvalidInput):
            accepted.append(clean_title(text))
    assert len(accepted) > 700
    return accepted


class Titles(HTMLParser):
    """Collects the text of every link of a list to the article's own address."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.titles: dict[str, str] = {}
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        link = dict(attrs).get("href") or ""
        self._open = link if tag == "a" and link.startswith("https://example.org/") else self._open

    def handle_endtag(self, tag):
        self._open = "" if tag == "a" else self._open

    def handle_data(self, data):
        if self._open:
            self.titles[self._open] = self.titles.get(self._open, "") + data


def test_titles_are_shown_literally_in_lists_and_json_and_add_nothing_to_the_page(site_store, alice, titles):
    for number in range(26):
        post_as(site_store, alice, f"Plain {number}", f"https://example.org/plain/{number}", ["python"])
    plain = parts_of(Client().get("/newest/").content)
    for number, title in enumerate(titles):
        post_as(site_store, alice, title, f"https://example.org/{number}")

    shown, pages = {}, -(-len(titles) // 25)
    for number in range(1, pages + 1):
        page = Client().get(f"/newest/?page={number}").content
        shown |= Titles(page.decode()).titles
        _check_json(number, titles)
        if number % 4 == 1:
            assert parts_of(page) - plain <= {("a", "rel"), ("a", "data-page")}, number

    wanted = {f"https://example.org/{number}": " ".join(title.split()) for number, title in enumerate(titles)}
    assert {link: " ".join(shown[link].split()) for link in wanted} == wanted


def _check_json(page, titles):
    answer = Client().get("/api/articles", {"order": "time", "page": page})
    assert answer["Content-Type"].startswith("application/json")
    for article in json.loads(answer.content)["articles"]:
        name, _, number = article["link"].removeprefix("https://example.org/").rpartition("/")
        assert article["title"] == (f"Plain {number}" if name else titles[int(number)])


def test_titles_add_nothing_to_the_other_places_that_show_them(site_store, alice, carol, titles):
    """The article's page, its forms, the members' pages, the log, the confirmation of a stale form."""
    site_store.groups.create("python", "Python")
    number = post_as(site_store, alice, "Plain", "https://example.org/plain", ["python"]).id
    for n in range(3):  # as many as the log folds
        title = f"Plain {n}"
        site_store.articles.edit(number, MODERATOR, title, "https://example.org/plain", moderator=True, reason="r")
    places = ("", "edit/", "groups/", "remove/", "views/", "why/")
    paths = [f"/articles/{number}/{place}" for place in places] + [
        "/users/alice/",
        "/moderation/",
        *(path for path, form in extras.joined("OF_MODERATORS").items() if form is None),
    ]
    browser = browser_of(carol)
    plain = {path: parts_of(browser.get(path).content) for path in paths}

    for batch in range(0, len(titles), 100):
        for title in titles[batch : batch + 100 : 10]:
            site_store.articles.edit(
                number, MODERATOR, title, "https://example.org/plain", moderator=True, reason=title
            )
        for path in paths:
            answer = browser.get(path)
            assert answer.status_code == 200
            assert parts_of(answer.content) - plain[path] <= {("a", "rel")}, (path, title)


def test_comments_add_nothing_to_the_page_but_what_markdown_draws(site_store, article, alice, texts):
    site_store.comments.post(article, alice.pk, "alice", "A [link](https://example.org/) @bob\n\n    code")
    plain = parts_of(Client().get(f"/articles/{article}/").content)
    drawn = {(name, "") for name in ("em", "strong", "s", "br", "hr", "blockquote", "ul", "h3", "h4", "h5", "h6")}
    posted = 2
    for text in [*OURS, *texts]:
        with suppress(InvalidInput):
            site_store.comments.post(article, alice.pk, "alice", clean_comment(text))
            posted += 1

    shown = 0
    for start in range(0, posted, 200):
        page = Client().get(f"/articles/{article}/", {"comments": "oldest", "start": start}).content
        shown += page.count(b'<li class="comment"')
        assert parts_of(page) - plain <= drawn | {("ol", "start"), ("p", "dir")}, start
    assert shown == site_store.articles.get(article).comments > 600


def test_typed_text_that_comes_back_in_a_form_adds_nothing_to_it(site_store, carol, texts):
    """Searches, filters, and refused forms with a name, a title, a link, a group, a reason and the way back."""
    site_store.groups.create("python", "Python")
    browser, reader = browser_of(carol), Client()
    refused = "x" * 301
    forms = [
        (browser, "/post/", lambda text: {"title": refused, "link": text, "groups": [text], "new_group": text}),
        (browser, "/moderation/groups/", lambda text: {"title": text + refused}),
        (browser, "/moderation/groups/python/", lambda text: {"title": refused, "reason": text, "rename": "1"}),
        (browser, "/settings/email/", lambda text: {"email": text + "@"}),
        (browser, "/settings/tokens/", lambda text: {"name": text + refused}),
        (reader, "/login/", lambda text: {"username": text, "password": "x", "next": text, "choice": text}),
        (reader, "/signup/", lambda text: {"username": text + "<", "email": text, "password1": "x", "next": text}),
        (reader, "/password/reset/", lambda text: {"email": text + "@"}),
    ]
    plain = [parts_of(client.post(path, fields("a b")).content) for client, path, fields in forms]
    plain_search = parts_of(reader.get("/search/", {"q": "a b"}).content) | parts_of(
        reader.get("/search/").content
    )

    plain_log = {200: set(), 400: set()}  # the first field that is refused has the focus
    for status, name, group in ((200, "a", ""), (400, "x" * 61, "x"), (400, "a", "x")):
        page = reader.get("/moderation/", {"actor": name, "member": name, "group": group})
        plain_log[status] |= parts_of(page.content)

    for number, text in enumerate(texts[::7]):  # all of them take a minute, and are in `make fuzz`
        client, path, fields = forms[number % len(forms)]
        answer = client.post(path, fields(text))
        assert answer.status_code < 500, (path, text)
        assert answer.status_code not in (200, 400) or parts_of(answer.content) - plain[number % len(forms)] <= {
            ("option", "selected"),
            ("li", "id"),
        }, (path, text)
        log = reader.get("/moderation/", {"actor": text, "member": text, "group": text[:9]})
        assert log.status_code in (200, 400), text
        assert parts_of(log.content) - plain_log[log.status_code] == set(), text
        found = reader.get("/search/", {"q": text, "group": "python"} if number % 3 else {"q": text})
        assert found.status_code in (200, 404, 302), text
        if number % 5 == 0 and found.status_code == 200:
            assert parts_of(found.content) - plain_search <= {("option", "selected")}, text
    Token.objects.all().delete()


def test_no_text_reaches_a_header(site_store, alice, texts):
    """Line breaks in a link, a title, a way back, a group and a language add no header."""
    browser, reader = browser_of(alice), Client()
    breaks = ["a\r\nSet-Cookie: evil=1", "/x\r\nLocation: //evil", "\u560d\u560aSet-Cookie: evil=1", "/\0a"]

    for number, text in enumerate([*breaks, *texts[::16]]):
        answers = [
            browser.post("/post/", {"title": text, "link": f"https://example.org/{number}#{text}"}),
            reader.get("/login/", {"next": text}),
            reader.post("/preferences/", {"theme": "dark", "next": text, "language": text}),
            reader.get("/search/", {"q": text, "group": text}),
        ]
        for answer in answers:
            assert answer.status_code < 500, text
            assert "evil" not in answer.cookies, text
            assert not any(sign in str(answer.headers) for sign in ("\r", "\n", "\0")), text
            assert answer.get("Location", "/").startswith("/"), text
            assert not answer.get("Location", "/").startswith(("//", "/\\")), text
