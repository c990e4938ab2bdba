"""Clients of the API: programs with a token, and pages."""

import json

from django.test import Client

from accounts.models import Token, User
from articles.domain.moderation_log import Actor
from tests import contract
from tests.factories import browser_of

CAROL = Actor(3, "carol")


class Caller:
    """A client of the API, either a program or a page. Checks every response against the document."""

    def __init__(self, client: Client, **headers: str) -> None:
        self.client, self.headers = client, headers

    def send(self, method: str, path: str, body: object = None, **options):
        """Send a request to /api/<path>; send a body that is not bytes as JSON."""
        if body is not None:
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            options = {"data": raw, "content_type": "application/json"} | options
        headers = self.headers | options.pop("headers", {})
        answer = self.client.generic(method, f"/api/{path}", headers=headers, **options)
        contract.check(method, f"/api/{path}".partition("?")[0], answer)
        return answer

    def get(self, path: str, **options):
        return self.send("GET", path, **options)

    def post(self, path: str, body: object, **options):
        return self.send("POST", path, body, **options)

    def patch(self, path: str, body: object, **options):
        return self.send("PATCH", path, body, **options)

    def put(self, path: str, body: object, **options):
        return self.send("PUT", path, body, **options)


def with_token(user: User) -> Caller:
    """Return a program with a token of this member; its client enforces CSRF checks."""
    _token, plaintext = Token.objects.issue(user, "a program")
    return Caller(browser_of(strict=True), authorization=f"Bearer {plaintext}")


def error_of(answer) -> tuple[int, str]:
    """Check the shape of an error response; return its status and code."""
    assert answer["Content-Type"].startswith("application/json"), answer.content
    (error,) = answer.json().values()
    assert answer.json().keys() == {"error"}
    assert error["code"]
    assert error["message"].endswith(".")
    return answer.status_code, error["code"]
