"""Requests that are not UTF-8 text: refused in words, and nothing is stored."""

import base64

import pytest
from django.test import Client

from articles.domain.lists import Order
from tests.cases import for_each
from tests.factories import browser_of

URL_ENCODED = "application/x-www-form-urlencoded"
BOUNDARY = "limit"
INVALID = [b"%ff", b"\xff", b"%C3%28", b"%ed%a0%80", b"%c0%af", b"%F4%90%80%80", b"\xe6\x96", b"%e6%96"]
INVALID += [b"%%ff", b"%e6%%96%87", b"==%e6", b"%e6%\n%96%87", b"=\r%ff"]


def multipart(value, *headers):
    head = "\r\n".join(['Content-Disposition: form-data; name="title"', *headers])
    rest = 'Content-Disposition: form-data; name="link"\r\n\r\nhttps://example.org/'
    return (
        f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode()
        + value
        + f"\r\n--{BOUNDARY}\r\n{rest}\r\n--{BOUNDARY}--\r\n".encode()
    )


def titles(repository):
    return [article.title for article in repository.lists.get_page(Order.TIME).articles]


@for_each("invalid", INVALID)
def test_a_form_that_is_not_utf_8_stores_nothing(site_store, bob, invalid):
    body = b"title=A+title" + invalid + b"&link=https%3A%2F%2Fexample.org%2F&groups="

    answer = browser_of(bob).generic("POST", "/post/", body, URL_ENCODED)

    assert answer.status_code == 400
    assert "understand that request" in answer.text
    assert titles(site_store) == []


def test_signs_of_escapes_alone_are_text(site_store, bob):
    body = b"title=100%%+%25+%+%4+%zz+=+%E6%96%87%%&link=https%3A%2F%2Fexample.org%2F&groups="

    assert browser_of(bob).generic("POST", "/post/", body, URL_ENCODED).status_code == 302
    assert titles(site_store) == ["100%% % % %4 %zz = 文%%"]


@pytest.mark.parametrize(
    ("value", "headers"),
    [(b"A title \xff", []), (base64.b64encode(b"A title \xff"), ["Content-Transfer-Encoding: base64"])],
)
def test_a_multipart_form_that_is_not_utf_8_stores_nothing(site_store, bob, value, headers):
    content_type = f"multipart/form-data; boundary={BOUNDARY}"

    answer = browser_of(bob).generic("POST", "/post/", multipart(value, *headers), content_type)

    assert answer.status_code == 400
    assert titles(site_store) == []


@pytest.mark.parametrize(
    "content_type", [f"{URL_ENCODED}; charset=gbk", "multipart/form-data; boundary=limit; charset=gbk"]
)
def test_a_form_in_another_encoding_is_refused(site_store, bob, content_type):
    body = multipart("标题".encode("gbk")) if "multipart" in content_type else b"title=A&link=https://example.org/"

    assert browser_of(bob).generic("POST", "/post/", body, content_type).status_code == 400
    assert titles(site_store) == []


@pytest.mark.parametrize("invalid", ["%ff", "%C3%28", "%ed%a0%80"])
@pytest.mark.parametrize("path", ["/search/?q={}", "/?after={}", "/feeds/search.atom?q={}", "/api/search?q={}"])
def test_a_query_that_is_not_utf_8_is_refused(client, path, invalid):
    answer = client.get(path.format(invalid))

    assert answer.status_code == 400
    if path.startswith("/api/"):
        assert answer.json()["error"]["code"] == "bad-request"


def test_text_in_any_script_is_read(site_store, bob):
    browser = browser_of(bob)
    replacement = {"title": "标题 😀 \ufffd", "link": "https://example.org/"}

    assert browser.post("/post/", replacement).status_code == 302  # multipart
    assert browser.get("/search/?q=%E6%A0%87%E9%A2%98").status_code == 200
    assert titles(site_store) == ["标题 😀 \ufffd"]
    urlencoded = "title=%E6%A0%87+%EF%BF%BD&link=https%3A%2F%2Fexample.org%2F2"
    assert browser.generic("POST", "/post/", urlencoded, URL_ENCODED).status_code == 302
    assert titles(site_store)[0] == "标 \ufffd"


def test_a_bad_body_of_the_api_is_refused(client):
    answer = client.generic("POST", "/api/views", b'{"articleId": "\xff"}', "application/json")

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid-json"


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=" + "x" * 300])
@pytest.mark.parametrize("path", ["/api/views", "/api/search?q=a", "/login/"])
def test_a_multipart_form_without_its_boundary_is_refused(site_store, path, content_type):
    browser = Client(raise_request_exception=False)

    answer = browser.generic("POST", path, multipart(b"A title"), content_type)

    assert answer.status_code == 400
    if path.startswith("/api/"):
        assert answer.json()["error"]["code"] == "bad-request"


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 5_000])
def test_a_length_that_is_no_small_number_is_refused(site_store, length):
    browser = Client(raise_request_exception=False)

    answer = browser.generic("POST", "/login/", b"username=alice", URL_ENCODED, CONTENT_LENGTH=length)

    assert answer.status_code == 413
