"""Links into the readers' own networks cannot be posted, in any spelling."""

import json

from articles.domain.lists import Order
from outgoing.addresses import is_private
from tests.cases import for_each
from tests.factories import browser_of, imported

PRIVATE = [
    "http://localhost/", "http://LOCALHOST:8000/", "http://localhost./", "http://a.localhost/",
    "http://127.1/", "http://printer.local/", "http://wiki.internal/", "http://nas.home.arpa/",
    "http://router.lan/", "http://0/", "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/",
    "http://0177.0.0.1/", "http://10.0.0.7/", "http://172.16.0.1/", "http://192.168.1.1./",
    "http://169.254.169.254/", "http://100.64.0.1/", "http://224.0.0.1/", "http://[::1]/", "http://[::]/",
    "http://[fd00::1]/", "http://[fe80::1]/", "http://[ff02::1]/", "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[::127.0.0.1]/",
    "http://１２７.０.０.１/", "http://127。0。0。1/", "http://ⓛocalhost/",
]  # fmt: skip
PUBLIC = [
    "https://example.org/", "http://8.8.8.8/", "http://[2606:4700::1111]/", "http://172.32.0.1/",
    "http://localhost.org/",
    "http://internal.example.org/", "http://mylocal.net/", "http://home.cern/", "http://11.0.0.1/",
]  # fmt: skip


def posted(repository):
    return [article.link for article in repository.lists.get_page(Order.TIME).articles]


@for_each("link", PRIVATE)
def test_a_private_link_is_refused(site_store, bob, link):
    fields = {"title": "A title", "link": link}

    page = browser_of(bob).post("/post/", fields)
    answer = browser_of(bob).post("/api/articles", fields, content_type="application/json")

    assert page.status_code == 400
    assert "The link leads to a private or local address" in page.text
    assert (answer.status_code, json.loads(answer.content)["error"]["code"]) == (400, "link-private")
    assert posted(site_store) == []


@for_each("link", PUBLIC)
def test_a_public_link_is_posted(site_store, bob, link):
    assert browser_of(bob).post("/post/", {"title": "A title", "link": link}).status_code == 302


def test_an_intranet_can_allow_private_links(site_store, bob, settings):
    settings.ALLOW_PRIVATE_LINKS = True

    for number, link in enumerate(PRIVATE[:6]):
        assert browser_of(bob).post("/post/", {"title": f"Title {number}", "link": link}).status_code == 302


def test_an_imported_private_link_stays_when_its_title_is_edited(site_store, carol):
    (article,) = site_store.imports.add([imported(1, site_store.store.now(), link="http://10.0.0.7/")])
    browser, page = browser_of(carol), f"/articles/{article}/edit/"

    assert browser.post(page, {"title": "Another title", "link": "http://10.0.0.7/"}).status_code == 302
    assert browser.post(page, {"title": "Another title", "link": "http://10.0.0.8/"}).status_code == 400
    api, kept = f"/api/articles/{article}", {"title": "Third", "link": "http://10.0.0.7/"}
    other = {"link": "http://10.0.0.8/"}
    assert browser.patch(api, kept, content_type="application/json").status_code == 200
    assert browser.patch(api, other, content_type="application/json").status_code == 400
    assert site_store.articles.get(article).link == "http://10.0.0.7/"


def test_names_without_a_dot_are_private():
    assert is_private("http://wiki/")
