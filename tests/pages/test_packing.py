"""Compression: quicker for pages of one reader, and always with a length that reveals nothing."""

import gzip
from pathlib import Path

from django.http import HttpResponse
from django.test import RequestFactory

from tests.factories import browser_of
from voting_site.serving.requests import BodyMiddleware

PACKED = {"Accept-Encoding": "gzip"}
PAGE = Path("docs/operation.md").read_bytes()
"""As rich in words as a page."""


def packed(content=PAGE, accepts="gzip", **headers):
    request = RequestFactory().get("/", HTTP_ACCEPT_ENCODING=accepts)
    return BodyMiddleware(lambda _request: HttpResponse(content, headers=headers))(request)


def test_a_page_of_a_member_is_the_same_packed(site_store, article, alice):
    response = browser_of(alice).get("/", headers=PACKED)

    assert response["Content-Encoding"] == "gzip"
    assert response["Content-Length"] == str(len(response.content))
    assert b'class="me"' in gzip.decompress(response.content)


def test_a_page_of_one_reader_is_packed_with_less_effort_than_a_shared_one():
    own, shared = packed(**{"Cache-Control": "private, no-cache"}), packed(**{"Cache-Control": "public"})

    assert gzip.decompress(own.content) == gzip.decompress(shared.content) == PAGE
    assert len(shared.content) + 100 < len(own.content) < len(PAGE) / 2


def test_the_length_of_a_page_of_one_reader_varies():
    lengths = {len(packed(**{"Cache-Control": "private"}).content) for _ in range(30)}

    assert len(lengths) > 5
    assert max(lengths) - min(lengths) < BodyMiddleware.max_random_bytes


def test_pages_that_are_short_or_packed_already_or_not_to_be_packed_stay_as_they_are():
    private = {"Cache-Control": "private"}

    assert packed(b"short", **private).content == b"short"
    assert packed(accepts="br", **private).content == PAGE
    assert packed(**private, **{"Content-Encoding": "zstd"}).content == PAGE


def test_a_strong_etag_becomes_weak():
    assert packed(**{"Cache-Control": "private", "ETag": '"strong"'})["ETag"] == 'W/"strong"'
