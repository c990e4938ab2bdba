"""Installing the site, and sharing pages to it."""

import json
import re
import struct
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlencode

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.factories import browser_of


def test_the_manifest_names_the_site_its_icons_and_where_to_share(site_store, settings):
    response = Client().get("/manifest.webmanifest")
    content = json.loads(response.content)

    assert response.headers["Content-Type"] == "application/manifest+json"
    assert content["name"] == settings.SITE_NAME
    assert content["start_url"] == "/"
    sizes = {"any": "any 180x180 192x192 512x512", "maskable": "512x512"}
    for purpose, expected in sizes.items():
        found = [icon for icon in content["icons"] if icon.get("purpose", "any") == purpose]
        assert " ".join(icon["sizes"] for icon in found) == expected
    for icon in content["icons"][1:]:
        head = Path(finders.find(icon["src"].removeprefix("/static/"))).read_bytes()[16:24]
        assert "{}x{}".format(*struct.unpack(">II", head)) == icon["sizes"]
    assert content["share_target"] == {
        "action": "/post/",
        "method": "GET",
        "params": {"title": "title", "text": "text", "url": "link"},
    }
    assert '<link rel="manifest" href="/manifest.webmanifest">' in Client().get("/").text


@pytest.mark.parametrize(
    ("shared", "filled"),
    [
        ({"title": "A page", "link": "https://e.org/a"}, ("A page", "https://e.org/a", "")),
        ({"title": "A page", "text": "https://e.org/a"}, ("A page", "https://e.org/a", "")),
        ({"text": "A page https://e.org/a"}, ("A page", "https://e.org/a", "")),
        ({"title": "A page", "text": "Worth it https://e.org/a"}, ("A page", "https://e.org/a", "Worth it")),
        ({"title": "A page", "text": "Why is it so?"}, ("A page", "", "Why is it so?")),
    ],
)
def test_what_a_phone_shares_is_in_the_form(site_store, alice, shared, filled):
    page = browser_of(alice).get(f"/post/?{urlencode(shared)}").text

    title, link = (re.search(rf'<input[^>]*name="{name}"[^>]*>', page)[0] for name in ("title", "link"))
    text = re.search(r'<textarea[^>]*name="text"[^>]*>\s*(.*?)</textarea>', page, re.DOTALL)[1]
    values = [(re.search(r'value="([^"]*)"', field) or ["", ""])[1] for field in (title, link)]
    assert (*values, text.strip()) == filled


def test_the_bookmarklet_opens_the_form_with_link_and_title(site_store):
    (address,) = re.findall(r'href="(javascript:[^"]+)"', Client().get("/about/").text)

    assert unquote(unescape(address)) == (
        "javascript:location.href='http://testserver/post/?link='+encodeURIComponent(location.href)"
        "+'&title='+encodeURIComponent(document.title)"
    )


def test_the_worker_controls_every_page_and_is_open_on_a_site_for_members(client, settings, site_store):
    settings.READING = "members"

    answer = client.get("/worker.js")

    assert answer["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert client.get("/worker.js", headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_each_page_says_whose_it_is_and_what_to_say_offline(alice, client, site_store):
    for reader, number in ((client, 0), (browser_of(alice), alice.pk)):
        html = reader.get("/").text
        assert f' data-reader="{number}"' in html
        assert ' data-offline="You are offline, or the site is down. This page is from {when}."' in html
        assert "<!--kept-page-->" in html
    for private in ("/inbox/", "/settings/", "/post/", "/mine/saved/", "/hidden/", "/following/"):
        assert "data-offline" not in browser_of(alice).get(private).text, private
