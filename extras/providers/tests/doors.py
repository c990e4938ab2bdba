"""What the core's tests have of signing in with other providers."""

from django.test import Client, override_settings

from accounts.models import User
from extras.providers import identities
from extras.providers.models import Identity
from extras.providers.provider import Person, Provider

_ACTS = ("link_identity", "provider_confirm", "provider_login", "unlink_identity")
WITHOUT_PAGE = {
    "a form's target": " ".join(f"articles:{act}" for act in _ACTS),
    "a provider leads there": "articles:provider_back",
    "only for a person from a provider: see extras/providers/tests/test_browser.py": "articles:finish_signup",
}
OWN = "/settings/identities/"
EXPORTED = ("logins_elsewhere",)
_ISSUER = "https://login.example"


def _link(browser: Client, *, is_undone: bool = False) -> None:
    member = User.objects.get(pk=browser.session["_auth_user_id"])
    person = Person("club", _ISSUER, "1", "alice", "", False, [], False)
    with override_settings(PROVIDERS={"club": Provider("club", "Club", _ISSUER, "a", "b", "openid")}):
        identity = identities.link(member, person)
        if is_undone:
            identities.unlink(identity)


CHANGES = {
    identities.Change.ADDED: _link,
    identities.Change.REMOVED: lambda browser: _link(browser, is_undone=True),
}


def fill(member: User) -> None:
    Identity.objects.create(user=member, issuer=_ISSUER, subject="7", label="alice@login.example")
