"""What the core's tests have of apps that ask members for permission."""

import json
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlencode

from django.test import Client

from accounts.models import User
from articles.repository import Repository
from extras.oauth.models import App, AppRequest, Grant
from extras.oauth.pages import Change

_BACK = "https://app.example.org/back"
_ASKED = {
    "response_type": "code",
    "code_challenge": "c" * 43,
    "code_challenge_method": "S256",
    "redirect_uri": _BACK,
}


def _asks(client_id: str, scope: str) -> str:
    return f"/oauth/authorize/?{urlencode(_ASKED | {'client_id': client_id, 'scope': scope, 'state': 'x'})}"


PAGES = (
    ("permission for an app", _asks("A" * 22, "vote post moderate"), "member"),
    ("permission for an app that asks wrongly", "/oauth/authorize/?client_id=x", "member", 400),
)
WITHOUT_PAGE = {
    "JSON for apps": "articles:app_metadata articles:app_token articles:register_app articles:revoke_app_token",
}
FOR_PROGRAMS = tuple(f"/oauth/{name}/" for name in ("token", "revoke", "register"))
READ_BY_PROGRAMS = ("/.well-known/oauth-authorization-server",)


def _allow(browser: Client) -> None:
    facts = {"client_name": "Club", "redirect_uris": [_BACK]}
    app = browser.post("/oauth/register/", json.dumps(facts), content_type="application/json").json()
    browser.post(_asks(app["client_id"], "vote"), {"decision": "allow", "scopes": ["vote"]})


CHANGES = {Change.ALLOWED: _allow}


def stage(_told: Mapping[str, object], _repository: Repository) -> None:
    """Let a member have allowed something to an app with a long name."""
    app = App.objects.create(client_id="A" * 22, name="Reader" + "r" * 44, addresses=_BACK)
    mia = User.objects.get(canonical_name="mia")
    Grant.objects.give(app, mia, "read vote post", "avs_x", "avr_x.y", timedelta(hours=1))


def fill(member: User) -> None:
    app = App.objects.register("Reader", [_BACK])
    Grant.objects.give(app, member, "read", "avs_x", "avr_x.y", timedelta(hours=1))


def use(member: User) -> None:
    """Allow an app something that it has not fetched yet."""
    AppRequest.objects.add(App.objects.earliest("pk"), "a code", timedelta(minutes=1), user=member)
