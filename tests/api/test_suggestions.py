"""GET, POST, PUT and DELETE /api/articles/<id>/suggestions."""

import pytest

from accounts.models import Token
from tests.caller import Caller, error_of, with_token
from tests.factories import browser_of


@pytest.fixture
def path(article, python, bob, mallory):
    for one in (bob, mallory):
        one.trust()
    return f"articles/{article}/suggestions"


def test_members_suggest_support_and_take_back(as_bob, site_store, article, path, mallory):
    other = with_token(mallory)

    for _ in range(2):
        body = as_bob.post(path, {"title": "Better"}).json()
    (one,) = body["suggestions"]
    assert (body["title"], body["quorum"]) == ("An article", 2)
    assert (one["title"], one["groups"], one["supporters"], one["supported"]) == ("Better", None, 1, True)
    assert other.get(path).json()["suggestions"] == [one | {"supported": False}]
    assert as_bob.send("DELETE", f"{path}/{one['id']}").json()["suggestions"] == []

    for caller in (as_bob, other):
        body = caller.post(path, {"groups": ["python"]}).json()
    assert (body["groups"], body["suggestions"]) == (["python"], [])
    assert site_store.articles.get(article).groups == ("python",)


def test_the_poster_and_moderators_decide_and_undo(as_alice, as_bob, as_carol, site_store, article, path):
    for decider in (as_alice, as_carol):
        title = f"Better by {decider.headers['authorization'][-4:]}"
        (one,) = as_bob.post(path, {"title": title}).json()["suggestions"]
        assert error_of(as_bob.put(f"{path}/{one['id']}", {"accepted": True})) == (403, "forbidden")
        assert decider.put(f"{path}/{one['id']}", {"accepted": True}).json()["title"] == title
        undo, entry = f"articles/{article}/log/undo", decider.get(f"articles/{article}/log").json()["entries"][0]
        assert entry["action"] == "apply-suggestion"
        assert error_of(as_bob.post(undo, {"time": entry["time"]})) == (403, "forbidden")
        assert decider.post(undo, {"time": entry["time"]}).json()["title"] == "An article"
        assert error_of(decider.post(undo, {"time": 1.5})) == (
            404,
            "suggestion-not-found",
        )
        assert error_of(decider.put(f"{path}/{one['id']}", {"accepted": False})) == (404, "suggestion-not-found")


def test_what_is_refused(as_alice, as_bob, as_carol, path, article):
    refused = {
        (400, "invalid"): [{}, {"title": "A", "groups": []}],
        (400, "unknown-group"): [{"groups": ["nowhere"]}],
        (409, "suggestion-unchanged"): [{"title": "An article"}, {"groups": []}],
    }
    for answer, bodies in refused.items():
        assert [error_of(as_bob.post(path, body)) for body in bodies] == [answer] * len(bodies)
    assert error_of(as_bob.post(path, {"title": " "}))[0] == 400
    assert error_of(as_alice.post(path, {"title": "Better"})) == (403, "own-article")
    assert error_of(as_bob.get(f"articles/{article + 1}/suggestions")) == (404, "article-not-found")
    (one,) = as_bob.post(path, {"title": "Better"}).json()["suggestions"]
    as_alice.put(f"{path}/{one['id']}", {"accepted": False})
    assert error_of(as_bob.post(path, {"title": "Better"})) == (409, "suggestion-closed")


def test_new_members_and_tokens_without_the_scope_are_refused(path, article, bob, alice):
    bob.trusted_at = None
    bob.save()
    assert error_of(with_token(bob).post(path, {"title": "Better"})) == (403, "not-trusted-yet")
    _token, plaintext = Token.objects.issue(alice, "a program", scopes=["read"])
    reading = Caller(browser_of(strict=True), authorization=f"Bearer {plaintext}")
    for answer in (
        reading.post(f"articles/{article}/log/undo", {"time": 1.5}),
        reading.put(f"{path}/x", {"accepted": True}),
    ):
        assert error_of(answer) == (403, "missing-scope")


def test_a_site_without_suggestions_has_no_such_address(as_bob, path, settings):
    settings.SUGGESTIONS = 0

    assert as_bob.get(path).status_code == 404
    assert as_bob.post(path, {"title": "Better"}).status_code == 404
