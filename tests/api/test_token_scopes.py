"""What a token allows: a program can do no more, and is told which scope it lacks."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import SCOPES, Token
from tests.caller import Caller, error_of
from tests.factories import browser_of

NEW = {"title": "A title", "link": "https://example.org/new", "groups": []}
NEEDS = {
    "vote": [
        ("PUT", "articles/{}/vote", {"choice": "vote"}),
        ("PUT", "articles/{}/saved", {"saved": True}),
        ("PUT", "groups/python/followed", {"followed": True}),
        ("PUT", "me/hidden", {"kind": "word", "value": "news", "hidden": True}),
        ("PUT", "inbox/read", {}),
        ("PUT", "articles/{}/muted", {"muted": True}),
        ("PUT", "users/alice/blocked", {"blocked": True}),
        ("PUT", "comments/1000001/vote", {"choice": "vote"}),
    ],
    "post": [
        ("POST", "articles", NEW),
        ("POST", "articles/{}/comments", {"text": "A"}),
        ("DELETE", "comments/1000001", None),
    ],
    "moderate": [
        ("PATCH", "articles/{}", {"title": "Another"}),
        ("PUT", "articles/{}/removed", {"removed": True, "reason": "spam"}),
        ("PUT", "articles/{}/groups", {"groups": [], "reason": ""}),
        ("POST", "groups", {"title": "Redis"}),
        ("PATCH", "groups/python", {"title": "Py", "reason": ""}),
        ("POST", "groups/python/merge", {"into": "web", "reason": ""}),
        ("GET", "queue", None),
        ("PUT", "articles/{}/kept", {}),
        ("GET", "users/alice/bans", None),
        ("PUT", "users/alice/bans/both", {"banned": True, "reason": "Spam"}),
        ("PUT", "users/alice/left-out", {"left_out": True, "reason": "Spam"}),
        ("POST", "users/alice/sweeps", {"days": 1, "reason": "Spam"}),
        ("POST", "users/alice/notes", {"text": "Spam"}),
        ("PUT", "blocked-hosts", {"host": "spam.example", "blocked": True, "reason": "Spam"}),
        ("GET", "removed/comments", None),
    ],
}
OPERATIONS = [(scope, *operation) for scope, operations in NEEDS.items() for operation in operations]


def program(member, *scopes, **options):
    """Return a program with a token of this member that has these scopes, besides reading."""
    _token, plaintext = Token.objects.issue(member, "a program", scopes=scopes, **options)
    return Caller(browser_of(strict=True), authorization=f"Bearer {plaintext}")


@pytest.mark.parametrize(("scope", "method", "path", "body"), OPERATIONS)
def test_an_operation_needs_its_scope_and_names_it(site_store, article, carol, python, scope, method, path, body):
    others = [other for other in SCOPES if other != scope]

    answer = program(carol, *others).send(method, path.format(article), body)

    assert error_of(answer) == (403, "missing-scope")
    assert answer.json()["error"]["scope"] == scope
    assert answer["WWW-Authenticate"] == f'Bearer error="insufficient_scope", scope="{scope}"'


def test_each_scope_suffices_for_its_operations(site_store, article, alice, carol, python):
    assert program(carol, "vote").put(f"articles/{article}/vote", {"choice": "vote"}).status_code == 200
    assert program(carol, "vote").put(f"articles/{article}/saved", {"saved": True}).status_code == 200
    assert program(carol, "post").post("articles", NEW).status_code == 201
    assert program(alice, "post").patch(f"articles/{article}", {"title": "Another"}).status_code == 200
    assert program(carol, "moderate").post("groups", {"title": "Redis"}).status_code == 201
    assert program(carol, "moderate").patch(f"articles/{article}", {"title": "3"}).status_code == 200


def test_editing_an_own_article_needs_the_scope_post(article, alice):
    answer = program(alice, "vote", "moderate").patch(f"articles/{article}", {"title": "Another"})

    assert error_of(answer) == (403, "missing-scope")
    assert answer.json()["error"]["scope"] == "post"


def test_posting_does_not_include_editing_other_members_articles(article, carol, bob):
    answer = program(carol, "post").patch(f"articles/{article}", {"title": "Another"})

    assert error_of(answer) == (403, "missing-scope")
    assert error_of(program(bob, "post").patch(f"articles/{article}", {"title": "X"}))[1] == "not-the-poster"


def test_every_token_reads(article, bob):
    reader = program(bob)

    for path in ("me", "me/voted", "articles", f"articles/{article}", "log"):
        assert reader.get(path).status_code == 200


def test_a_token_expires(article, bob):
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    with time_machine.travel(noon, tick=False):
        reader = program(bob, expires_at=noon + timedelta(days=1))
        assert reader.get("me").status_code == 200
    with time_machine.travel(noon + timedelta(days=1), tick=False):
        assert error_of(reader.get("me")) == (401, "bad-token")
