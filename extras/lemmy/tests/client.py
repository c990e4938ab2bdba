"""A client of Lemmy's API."""

import json
from typing import Any

from django.test import Client

from accounts.models import Token, User
from tests.cast import password_of

ROOT = "/api/v3/"


class Lemmy:
    """An app, of a member if one is given. Checks that every failure is one of Lemmy's."""

    def __init__(self, member: User | None = None, browser: Client | None = None, **headers: str) -> None:
        self.browser, self.headers = browser or Client(enforce_csrf_checks=True), headers
        if member:
            self.headers = {"authorization": f"Bearer {Token.objects.issue(member, 'an app')[1]}"} | headers

    def send(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        sent = {"data": data, "content_type": "application/json"} if method != "GET" else {}
        answer = self.browser.generic(method, ROOT + path, headers=self.headers, **sent | options)
        assert answer["Content-Type"].startswith("application/json"), answer.content
        if answer.status_code >= 400:
            said = answer.json()
            assert said.keys() == {"error", "message"}, said
            assert "_" in said["error"] or said["error"] in ("unknown", "locked", "deleted"), said
            assert said["message"].endswith("."), said
            assert answer.get("Content-Length") in (None, str(len(answer.content)))
        return answer

    def get(self, path: str, **query: object) -> Any:
        """Return what a reading answers, or the word of its refusal."""
        answer = self.send("GET", path, query_params=query)
        return said_in(answer)

    def post(self, path: str, **body: object) -> Any:
        return said_in(self.send("POST", path, body))

    def put(self, path: str, **body: object) -> Any:
        return said_in(self.send("PUT", path, body))


def said_in(answer: Any) -> Any:
    """Return what an answer says, or the word of a refusal."""
    said = answer.json()
    return said if answer.status_code == 200 else said["error"]


def log_in(app: Lemmy, name: str = "alice", password: str | None = None, **more: object) -> object:
    return app.post("user/login", username_or_email=name, password=password or password_of(name), **more)
