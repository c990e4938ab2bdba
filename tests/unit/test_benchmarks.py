"""Benchmarks start: they are run seldom, and each would fail unnoticed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
OTHER_SETTINGS = (ROOT / "bench" / "orm_peer", ROOT / "bench" / "others")
"""Sites of their own, with settings of their own: see `PEER`; those of others run in their own environments."""

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "bench").rglob("*.py")
    if path.stem != "__init__" and not set(OTHER_SETTINGS) & set(path.parents)
)


def test_every_benchmark_can_be_imported_without_settings():
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    command = [sys.executable, "-c", script, *MODULES]
    environ = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}

    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False)

    assert {"bench.rules", "bench.site.report.table", "bench.site.peers.hello"} <= set(MODULES)
    assert done.returncode == 0, done.stderr


def test_the_web_server_can_be_imported_for_another_project():
    environ = os.environ | {"DJANGO_SETTINGS_MODULE": "bench.site.peers.hello"}
    command = [sys.executable, "-c", "import voting_site.serving.workers.worker"]

    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr


PEER = """
import json

import django

from bench.orm_peer import settings

file = {"ENGINE": "django.db.backends.sqlite3", "NAME": settings.DATA_DIR / "peer.sqlite3"}
settings.DATABASES = {"default": file}
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
settings.ALLOWED_HOSTS.append("testserver")
django.setup()

from django.test import Client

from bench.orm_peer import models
from bench.orm_peer.fill import fill

content = fill(60)
article = models.Article.objects.get(pk=content.open_articles[0])
reader, member = Client(), Client(headers={"cookie": f"sessionid={content.sessions[0]}"})
pages = {"front": reader.get("/").text, "own front": member.get("/").text}
vote = member.post(f"/articles/{article.pk}/vote/", {"choice": "vote", "next": "/"})
after = models.Article.objects.get(pk=article.pk)
print(json.dumps(pages | {"status": vote.status_code, "added": after.votes - article.votes}))
"""


@pytest.mark.site
def test_the_peer_with_the_orm_draws_the_sites_pages_and_counts_votes(tmp_path):
    own = {"DATA_DIR": str(tmp_path), "ORM_PEER_SOCKETS": str(tmp_path), "LOG_LEVEL": "ERROR"}
    environ = os.environ | own | {"DJANGO_SETTINGS_MODULE": "bench.orm_peer.settings"}
    command = [sys.executable, "-c", PEER]

    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["front"].count('class="row"'), shown["own front"].count('class="row"')) == (25, 25)
    assert shown["own front"].count('aria-pressed="true"') >= 8
    assert (shown["status"], shown["added"]) == (302, 1)
