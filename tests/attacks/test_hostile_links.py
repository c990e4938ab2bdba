"""Links that are no web addresses, hide their host, or lead into the operator's network."""

import socket

import pytest
from django.test import Client

from articles.domain.lists import Order
from tests.factories import browser_of, post_as
from tests.store_state import count_keys
from tests.work import work_in

SCHEMES = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "\x01javascript:alert(1)",
    " javascript:x", "javascript:alert('https://')", "javascript://https://e.org/%0aalert(1)",
    "data:text/html,<script>1</script>", "vbscript:x", "file:///etc/passwd", "blob:https://e.org/1",
    "ftp://e.org/", "view-source:https://e.org/", "//evil.com", "https:evil.com", "http:///x", "http://",
    "https://google.com@evil.com/", "https://a:b@evil.com/",
    "https://e.org/\r\nSet-Cookie:a=1", "https://e.org/\0", "https://e.org/\u202egpj.exe",
    "https://e\u200b.org/",
)  # fmt: skip


@pytest.fixture
def sent(monkeypatch) -> list[object]:
    """Record every connection to the network that the site opens; its store is a socket of this machine."""
    connections: list[object] = []

    def record(connection: socket.socket, address: object, connect=socket.socket.connect) -> object:
        if connection.family != socket.AF_UNIX:
            connections.append(address)
        return connect(connection, address)

    monkeypatch.setattr(socket.socket, "connect", record)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *names, **_: connections.append(names) or [])
    return connections


def test_no_link_of_another_scheme_or_with_a_hidden_host_is_posted(site_store, alice):
    browser, before = browser_of(alice), count_keys(site_store)

    for link in SCHEMES:
        answer = browser.post("/post/", {"title": "A title", "link": link})
        assert answer.status_code == 400, link
        assert "aria-invalid" in answer.text, link
        assert browser.get("/post/known/", {"link": link}).json() == {}, link

    assert site_store.imports.count() == 0
    assert count_keys(site_store) == before


def test_urls_of_the_web_platform_are_posted_as_web_addresses_or_refused(site_store, alice, urls):
    """Every fifth; tests/unit/test_links.py holds all of them, without a form."""
    browser = browser_of(alice)

    statuses = {browser.post("/post/", {"title": "A title", "link": url}).status_code for url in urls[::5]}

    assert statuses == {302, 400}
    links = [article.link for article in site_store.imports.iterate()]
    assert len(links) > 10
    assert all(link.startswith(("http://", "https://")) for link in links)
    assert not any(sign in link for link in links for sign in "\r\n\t\0 <>\"'`" if sign != "'")


def test_a_long_link_is_refused_by_its_length_before_anything_else(site_store, alice):
    browser = browser_of(alice)
    fields = {"title": "A title", "link": "https://example.org/" + "%" * 2_100}
    other = fields | {"link": "not a link"}
    assert browser.post("/post/", other).status_code == 400  # compiles the page

    assert work_in(lambda: browser.post("/post/", fields)) < 1.5 * work_in(lambda: browser.post("/post/", other))
    assert browser.post("/post/", fields).status_code == 400
    assert browser.post("/post/", fields | {"link": "https://e.org/" + "a" * 1_000_000}).status_code == 413
    assert site_store.imports.count() == 0


def test_no_process_of_the_core_fetches_what_is_posted(site_store, settings, alice, sent):
    settings.ALLOW_PRIVATE_LINKS = True
    links = [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest/",
        "http://2130706433/",
        "https://example.org/a",
    ]
    browser, reader = browser_of(alice), Client()

    for link in links:
        browser.post("/post/", {"title": "A title", "link": link})
        browser.get("/post/known/", {"link": link})
    for article in site_store.lists.get_page(Order.TIME).articles:
        reader.get(f"/articles/{article.id}/")
    for page in ("/", "/newest/", "/feeds/newest.atom", "/feeds/newest.rss", "/api/articles", "/search/?q=title"):
        reader.get(page)

    assert site_store.imports.count() > 0
    assert sent == []


def test_the_host_of_a_look_alike_is_shown_in_punycode(site_store, alice):
    post_as(site_store, alice, "A title", "https://xn--pple-43d.com/")  # with a Cyrillic a

    for path in ("/newest/", "/articles/1/"):
        assert "xn--pple-43d.com" in Client().get(path).text
        assert "аpple.com" not in Client().get(path).text
