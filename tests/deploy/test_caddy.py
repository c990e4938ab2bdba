"""Caddy with deploy/Caddyfile before the site."""

import os
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings

from tests.deploy.visitor import HOST, Visitor
from tests.site_process import free_port
from tests.waiting import until

CADDYFILE = Path(settings.BASE_DIR, "deploy", "Caddyfile")

ALLOWED = "Access-Control-Allow-Origin"

pytestmark = pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is not installed")


@pytest.fixture
def caddy(tmp_path):
    """A function that starts a command of Caddy with these settings and a home of its own."""
    started = []

    def start(command, **settings):
        own = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        own["CADDY_ADMIN"] = f"unix/{tmp_path}/admin.sock"
        arguments = ["caddy", command, "--config", str(CADDYFILE), "--adapter", "caddyfile"]
        with (tmp_path / "log").open("ab") as log:
            own |= {"PATH": os.environ["PATH"]} | settings
            started.append(subprocess.Popen(arguments, env=own, stdout=log, stderr=log))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize("settings", [{}, {"SITE_URL": "https://a.example", "SITE_UPSTREAM": "web:8000"}])
def test_caddy_accepts_the_file(caddy, tmp_path, settings):
    assert caddy("validate", **settings).wait(60) == 0, (tmp_path / "log").read_text()


def test_the_site_behind_caddy_knows_how_readers_came_and_large_bodies_are_refused(caddy, tmp_path, public_site):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    caddy("run", SITE_URL=f"http://:{port}", SITE_UPSTREAM=f"127.0.0.1:{public_site.port}")
    until(lambda: status_of(f"{address}/healthz") == 200, told=(tmp_path / "log").read_text)

    large = urllib.request.Request(
        f"{address}/api/articles", b"x" * 1_500_000, {"Content-Type": "application/json"}
    )

    # 502 is what Caddy 2.6 answers, and 308 what the site does if it is quicker than Caddy's limit.
    until(lambda: status_of(large) in (413, 502), told=(tmp_path / "log").read_text)
    assert Visitor(port, None).ask("POST", "/api/articles", large.data).headers.get_all(ALLOWED) == ["*"]
    plain = Visitor(port, None).get("/newest/")
    assert (plain.status, plain.headers["Location"]) == (308, f"https://{HOST}/newest/"), "Caddy said: by http"


@pytest.mark.site
def test_other_origins_can_read_that_the_site_is_away(caddy, tmp_path):
    port = free_port()
    caddy("run", SITE_URL=f"http://:{port}", SITE_UPSTREAM=f"127.0.0.1:{free_port()}")
    until(lambda: status_of(f"http://127.0.0.1:{port}/api/articles") == 502, told=(tmp_path / "log").read_text)

    for path, header in (("/api/articles", "*"), ("/newest/", None)):
        answer = Visitor(port, None).get(path)
        assert (answer.status, answer.headers[ALLOWED]) == (502, header)


def status_of(request):
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
