"""Every failure has the same shape, whatever its cause."""

import logging
import re
from pathlib import Path

import pytest
from django.db import OperationalError
from django.test import Client

import moderation
from accounts.models import TokenManager
from articles import api
from articles.api.protocol.problems import MEANINGS
from articles.domain import errors
from articles.domain.errors import GENERIC_CODE, REFUSALS
from articles.middleware import ReaderMiddleware
from articles.operation import outages
from tests.caller import Caller, error_of
from tests.internals import Lists, failing


@pytest.mark.parametrize(
    "path", ["nothing", "articles/", "articles/1/", "articles/1/vote/", "v2/articles", "a%0Ab", "%00"]
)
def test_unknown_addresses_are_not_found(anyone, article, path):
    for method in ("GET", "POST", "DELETE"):
        assert error_of(anyone.send(method, path)) == (404, "not-found")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
        "multipart/form-data", "application/json; charset=latin-1", "application/json; charset=utf-16",
        "application/xml", "", "nonsense",
    ],
)  # fmt: skip
def test_a_body_that_is_not_json_is_an_unsupported_media_type(as_bob, session_of_bob, article, content_type):
    for caller in (as_bob, session_of_bob):
        answer = caller.put(f"articles/{article}/vote", {"choice": "vote"}, content_type=content_type)
        assert error_of(answer) == (415, "unsupported-media-type")


@pytest.fixture
def session_of_bob(as_bob, bob):
    caller = Caller(Client())
    caller.client.force_login(bob)
    return caller


@pytest.mark.parametrize("error", [errors.StoreUnavailable("gone"), errors.StoreUnfit("other layout")])
def test_a_stopped_store_is_reported_as_unavailable(anyone, article, monkeypatch, error, caplog):
    monkeypatch.setattr(outages, "STORE", outages.Outage("the store"))

    with failing(Lists, "get_page", error):
        answer = anyone.get("articles")

    assert error_of(answer) == (503, "unavailable")
    assert int(answer["Retry-After"]) > 0
    assert answer["Cache-Control"] == "no-store"
    assert str(error) not in answer.content.decode()
    assert f"the store is unavailable: {type(error).__name__}: {error}" in caplog.text


def test_a_failing_accounts_database_is_reported_as_unavailable(as_bob, anyone, article):
    with failing(TokenManager, "find", OperationalError("database is locked")):
        answer = as_bob.put(f"articles/{article}/vote", {"choice": "vote"})

    assert error_of(answer) == (503, "unavailable")
    assert "locked" not in answer.content.decode()
    assert anyone.get("articles").status_code == 200


def test_details_of_internal_errors_appear_only_in_the_log(anyone, caplog, settings):
    for settings.DEBUG in (False, True):
        with caplog.at_level(logging.ERROR), failing(Lists, "get_page", ZeroDivisionError("a secret")):
            answer = anyone.get("articles")

        assert error_of(answer) == (500, "internal-error")
        assert "secret" not in answer.content.decode()
        assert "a secret" in caplog.text


def test_failures_are_in_the_readers_language_and_keep_their_codes(anyone, article):
    answer = anyone.get("nothing", headers={"Accept-Language": "zh-CN"})

    assert answer["Content-Language"] == "zh-hans"
    assert answer.json()["error"] == {"code": "not-found", "message": "这个地址没有内容。"}


def test_an_error_before_any_view_is_a_problem_too(anyone):
    anyone.client.raise_request_exception = False

    with failing(ReaderMiddleware, "__call__", ZeroDivisionError("a secret")):
        answer = anyone.get("articles")

    assert error_of(answer) == (500, "internal-error")
    assert "secret" not in answer.content.decode()


def test_every_code_is_documented():
    folders = [Path(package.__path__[0]) for package in (api, moderation)]
    written = "".join(file.read_text("utf-8") for folder in folders for file in folder.rglob("*.py"))
    raised = {(int(status), code) for status, code in re.findall(r'\(\s*(\d{3}), "([a-z-]+)"', written)}
    documented = {(status, code) for status, meaning in MEANINGS.items() for code in meaning.codes}

    assert len(raised) > 10
    assert raised - documented == set()
    assert {(row.http, row.code) for row in REFUSALS if row.code != GENERIC_CODE} <= documented
