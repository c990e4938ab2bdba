"""How the site sees a request that came through its public address."""

import json
from dataclasses import replace

import pytest
from django.core import signing
from django.test import Client

from articles.doctor.proxy import HEADER, Arrival, _signer, judge

RIGHT = Arrival("https", "news.example.org", "198.51.100.7", "127.0.0.1", "198.51.100.7")


def test_a_right_request_has_no_problem(public):
    assert [finding.level.label for finding in judge(RIGHT)] == ["fine"]


def test_the_reader_may_have_the_proxy_s_address(public):
    same = replace(RIGHT, address="127.0.0.1", forwarded="127.0.0.1")

    assert [finding.level.label for finding in judge(same)] == ["fine"]


@pytest.mark.parametrize(
    ("changes", "level", "text"),
    [
        ({"scheme": "http"}, "error", "The site sees http where readers use https."),
        ({"host": "127.0.0.1:8000"}, "error", "The site sees the host 127.0.0.1:8000"),
        ({"forwarded": ""}, "warning", "The proxy at 127.0.0.1 does not say who its readers are."),
        ({"peer": "10.0.0.9"}, "warning", "The site takes every reader for the proxy at 10.0.0.9."),
        ({"peer": ""}, "warning", "The site takes every reader for the proxy at its Unix socket."),
    ],
)
def test_what_a_proxy_does_wrong_is_found(public, changes, level, text):
    findings = judge(replace(RIGHT, **changes))

    assert [(one.level.label, text in one.text) for one in findings] == [(level, True)]


def test_only_a_signed_request_is_answered_with_how_it_arrived(settings):
    for forged in (
        "",
        "doctor",
        signing.TimestampSigner(key="another", salt="articles.doctor.proxy").sign("doctor"),
    ):
        assert Client().get("/healthz", headers={HEADER: forged}).content == b"alive\n"

    answer = Client().get("/healthz", headers={HEADER: _signer().sign("doctor")})

    assert json.loads(answer.content) == {
        "scheme": "http",
        "host": "testserver",
        "address": "127.0.0.1",
        "peer": "127.0.0.1",
        "forwarded": "",
    }
    assert "no-store" in answer.headers["Cache-Control"]


def test_a_signature_expires(monkeypatch):
    old = _signer().sign("doctor")
    now = signing.time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + 61)

    assert Client().get("/healthz", headers={HEADER: old}).content == b"alive\n"
