"""nginx and Caddy as deploy/ configures them agree with the site's own limits and settings."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from voting_site.serving.web_server import PATIENCE

FOLDER = Path(settings.BASE_DIR, "deploy")
FILES = ("nginx/voting-site.conf", "Caddyfile")
IDLE = re.compile(r"keepalive(?:_timeout)? (\d+)s\b")
BODY = re.compile(r"max_(?:body_)?size (\d+)(m|MB)\b", re.IGNORECASE)
UPSTREAM = re.compile(r"(?:server |SITE_UPSTREAM:)(127[\d.]+):(\d+)")
UNITS = {"m": 1024 * 1024, "MB": 1000 * 1000}


@pytest.mark.parametrize("name", FILES)
def test_the_proxy_drops_idle_connections_before_the_site_cuts_them(name):
    (seconds,) = IDLE.findall((FOLDER / name).read_text("utf-8"))

    assert float(seconds) < PATIENCE


@pytest.mark.parametrize("name", FILES)
def test_the_proxy_lets_through_what_the_site_accepts_and_hardly_more(name):
    ((number, unit),) = BODY.findall((FOLDER / name).read_text("utf-8"))

    accepted = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    assert accepted <= int(number) * UNITS[unit] <= 1.1 * accepted


@pytest.mark.parametrize("name", FILES)
def test_the_proxy_and_the_site_name_each_other(name):
    sample = (FOLDER / ".env.sample").read_text("utf-8")
    ((host, port),) = UPSTREAM.findall((FOLDER / name).read_text("utf-8"))

    assert {f"HOST={host}", f"PORT={port}", f"TRUSTED_PROXIES={host}", "BEHIND_PROXY=1"} <= set(
        sample.splitlines()
    )
