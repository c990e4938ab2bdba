"""Compression: quicker for pages of one reader, and always with a length that reveals nothing."""

import gzip
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from articles.web.caching import accepted_encodings
from tests.factories import browser_of
from voting_site.serving.requests import BodyMiddleware

PACKED = {"Accept-Encoding": "gzip"}
PAGE = Path("docs/operation.md").read_bytes()  # as rich in words as a page


def packed(content=PAGE, accepts="gzip", **headers):
    request = RequestFactory().get("/", HTTP_ACCEPT_ENCODING=accepts)
    return BodyMiddleware(lambda _request: HttpResponse(content, headers=headers))(request)


def test_a_page_of_a_member_is_the_same_packed(site_store, article, alice):
    response = browser_of(alice).get("/", headers=PACKED)

    assert response["Content-Encoding"] == "gzip"
    assert response["Content-Length"] == str(len(response.content))
    assert b'class="me"' in gzip.decompress(response.content)


def test_pages_that_are_short_or_packed_already_or_not_to_be_packed_stay_as_they_are():
    private = {"Cache-Control": "private"}

    assert packed(b"short", **private).content == b"short"
    assert packed(accepts="br", **private).content == PAGE
    assert packed(**private, **{"Content-Encoding": "zstd"}).content == PAGE


def test_a_strong_etag_becomes_weak():
    assert packed(**{"Cache-Control": "private", "ETag": '"strong"'})["ETag"] == 'W/"strong"'


ACCEPTED = {
    "": [
        "", "identity;q=0", "identity; q=1.0, gzip;q=0.5, *;q=0", "gzip;q=0", "gzip;q=0.0", "gzip;q=0.000",
        "gzip ; Q=0.", "x-gzip;q=0", "gzip;q=0, *;q=0", "*;q=0", "gzip, gzip;q=0", "x-gzip;q=0, gzip",
        "supergzip", "gzip-1", "not-gzip, deflate", "gzip deflate", "gzip;q=", "gzip;q=abc", "gzip;q=-1",
        "gzip;q=2", "gzip;q=1foo", "gzip;q=0.0000", "gzip;q=0;q=1", "gzip;;q=1", "gzip;level=9", "gzip;",
        '"gzip"', "gzip\0", ";q=1", "gzip," + "a" * 1000, "gzip;q=0" + "," * 100,
    ],
    "gzip": [
        "gzip", "GZip", "x-gzip", "X-GZIP;Q=0.5", "\tgzip\t;\tq=1.000\t,", "gzip;q=0.001", ", ,gzip,, ",
        "*;q=0, gzip", "gzip, *;q=0", "br;q=0, *", "identity;q=0, gzip", "gzip, identity",
        "gzip;q=1.0, identity; q=0.5, *;q=0", "identity, br;q=0.9, gzip", "deflate;q=0, gzip;q=0.1",
    ],
    "br,gzip": ["gzip, deflate, br, zstd", "br;q=0.4, gzip; q=0.8", "*", "*;q=0.1", "identity;q=0, *"],
    "br": ["gzip;q=0, *", "br, gzip;q=0"],
}  # fmt: skip
"""By what is accepted: headers, as RFC 9110 says; of malformed ones nothing is."""


def test_an_encoding_is_accepted_as_the_standard_says():
    for accepted, headers in ACCEPTED.items():
        assert {header: accepted_encodings(header) for header in headers} == dict.fromkeys(headers, accepted)


@pytest.mark.parametrize("path", ["/", "/feeds/front.atom", "/api/articles", "/api/openapi.json", "/settings/"])
def test_no_page_is_packed_for_a_client_that_refuses_it(site_store, article, alice, path):
    wishes = {"gzip;q=0": None, "gzip;q=0.0, *": None, "*;q=0, gzip": "gzip", "GZIP": "gzip"}
    for header, encoding in wishes.items():
        for client in (Client(), browser_of(alice)):
            response = client.get(path, headers={"Accept-Encoding": header}, follow=True)
            assert response.headers.get("Content-Encoding") == encoding, (header, path)
            assert "Accept-Encoding" in response.headers["Vary"]
