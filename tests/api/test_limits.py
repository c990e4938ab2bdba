"""Rate limits of the API: per member, with all tokens, and per network for programs without one."""

import time
from collections import defaultdict

import pytest

from accounts.models import Token
from articles.api.documentation import document
from articles.domain.errors import LimitReached
from articles.domain.limits import Rate
from articles.web import wiring
from tests import extras
from tests.caller import Caller, error_of, with_token
from tests.factories import browser_of
from tests.internals import failing

USES = 4


@pytest.fixture(autouse=True)
def _limited(limits, limits_clock) -> None:
    """Limit each of these actions to so many uses."""
    few = dict.fromkeys(("api", "changes", "views", "search", "votes", "posts"), Rate(USES, USES * 600))
    limits(**few)


def outcomes(send, times: int) -> list[int]:
    return [send().status_code for _ in range(times)]


def test_a_token_is_limited_and_the_response_says_when_to_try_again(as_alice):
    assert outcomes(lambda: as_alice.get("me/saved"), USES) == [200] * USES

    response = as_alice.get("me/saved")

    assert error_of(response) == (429, "rate-limited")
    assert response["Retry-After"] == "600"
    assert response.json()["error"]["message"] == "Too many requests in a short time. Try again in 10 minutes."


def test_all_tokens_of_a_member_share_the_limits(as_alice, alice, as_bob):
    outcomes(lambda: as_alice.get("me/saved"), USES)

    assert with_token(alice).get("me/saved").status_code == 429
    assert as_bob.get("me/saved").status_code == 200


def test_every_change_takes_a_use_before_its_body_is_read(article, as_carol):
    words = {"slug": "python", "name": "alice", "scope": "posting"} | extras.joined("API_PARAMETERS")
    ids = defaultdict(lambda: 1, words, article_id=article, comment_id=1_000_001)
    changes = [
        (method.upper(), template.removeprefix("/api/").format_map(ids))
        for template, methods in document()["paths"].items()
        for method in {"post", "put", "patch", "delete"} & set(methods)
    ]

    assert len(changes) >= 25
    with failing(type(wiring.repository().limits), "take", LimitReached("changes", 60_000)):
        assert {as_carol.send(*change, b"{").status_code for change in changes} == {429}


def test_changes_share_the_members_limit_with_the_pages_whether_refused_or_not(article, alice, as_alice, limits):
    limits(api=None)
    path, body = f"articles/{article}", {"title": "x" * 301}

    assert outcomes(lambda: as_alice.patch(path, body), USES) == [400] * USES
    assert with_token(alice).put(f"articles/{article}/saved", {"saved": True}).status_code == 429
    assert browser_of(alice).post("/preferences/", {"theme": "dark"}).status_code == 429
    assert as_alice.put(f"articles/{article}/vote", {"choice": "vote"}).status_code == 200


def test_a_request_without_the_scope_takes_a_use(alice, article):
    _token, plaintext = Token.objects.issue(alice, "a reader", scopes=[])
    program = Caller(browser_of(strict=True), authorization=f"Bearer {plaintext}")

    assert outcomes(lambda: program.send("DELETE", f"articles/{article}"), USES + 1) == [403] * USES + [429]


def test_programs_without_a_token_are_limited_by_network(anyone, as_alice):
    def get(address: str):
        return anyone.get("articles?order=time", REMOTE_ADDR=address)

    assert outcomes(lambda: get("203.0.113.7"), 5 * USES + 1) == [200] * 5 * USES + [429]
    assert get("198.51.100.9").status_code == 200
    assert as_alice.get("articles?order=time", REMOTE_ADDR="203.0.113.7").status_code == 200


def test_guesses_of_tokens_are_limited_by_network(site_store):
    def guess():
        return Caller(browser_of(), authorization=f"Bearer avs_{time.perf_counter_ns()}").get("me/saved")

    assert outcomes(guess, 5 * USES + 1) == [401] * 5 * USES + [429]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "articles/{article}/vote", {"choice": "vote"}),
        ("POST", "views", {"articleId": 0}),
        ("GET", "search?q=a", None),
    ],
)
def test_actions_have_limits_of_their_own(as_bob, article, method, path, body, limits):
    limits(api=Rate(USES + 2, 86400))
    if body and "articleId" in body:
        body = {"articleId": article}

    def send():
        return as_bob.send(method, path.format(article=article), body)

    assert outcomes(send, USES + 1) == [200] * USES + [429]
    assert as_bob.get("me/saved").status_code == 200, "the limit of other requests is not affected"
