"""A new extra works when its folder is copied in, and leaves nothing behind when it is deleted."""

import json
import re
import shutil
from urllib.request import urlopen

import pytest

from tests.site_process import Site
from tests.waiting import until
from tests.without import Stopped, copy_of_checkout, demand, started

pytestmark = pytest.mark.site

FILES = {
    "rows.py": """
from articles.domain.extras import Key, Rows, Setting, View
ROWS = Rows(
    settings=(Setting("GONGS", "yes/no", "1", in_browser=True, label="Gongs", page="programs"),),
    backed_up=("gongs.Stroke",),
    keys=(Key("gonged:<user>", "string"),),
    article_fields=("gongs",),
    views=(View("articles:gongs", is_open=True, is_crawled=False, limits_of_reading=("feeds",)),
           View("articles:strokes", cache="list")),
    other_origins=("/gongs/",),
    hashers=("extras.gongs.hashing.GongHasher",),
)
""",
    "models.py": """
from django.db import models
class Stroke(models.Model):
    at = models.FloatField()
""",
    "jinja2/gongs/gongs.html": """
{% extends "base.html" %}
{% block content %}<h1>Gongs</h1><p>{{ strokes }} strokes</p>{% endblock %}
""",
    "pages.py": """
from django.shortcuts import render
from django.urls import path
from extras.gongs.models import Stroke
def gongs(request):
    return render(request, "gongs/gongs.html", {"strokes": Stroke.objects.count()})
urlpatterns = [path("gongs/", gongs, name="gongs"), path("gongs/strokes.json", gongs, name="strokes")]
""",
    "apps.py": """
from articles.web.extras import Entry, Extra, Link, Step
class Gongs(Extra):
    name = "extras.gongs"
    def prepare(self, repository):
        return f"The gongs hang over {repository.imports.count()} articles."
    def steps(self):
        from extras.gongs.sending import strike
        return (Step("gongs", strike, "task", "queued"),)
    def entries(self):
        from articles.configuration.choices import chosen
        return (Entry("administration", "articles:gongs", "Gongs", lambda: chosen.GONGS),
                Entry("footer", "articles:strokes", "Strokes", lambda: True))
    def links(self, place, request, thing):
        return (Link("/gongs/", "Hear the gongs"),) if place == "article.foot" else ()
""",
    "hashing.py": """
from django.contrib.auth.hashers import MD5PasswordHasher
class GongHasher(MD5PasswordHasher):
    algorithm = "gong"
""",
    "doctor.py": """
from articles.doctor.examination import Check, fine
CHECKS = (Check("mail", "gongs", lambda _examination: [fine("The gong hangs.")]),)
""",
    "sending.py": """
import tasks
from django_tasks import task
from extras.gongs.models import Stroke
@task(queue_name="out")
def ring():
    Stroke.objects.create(at=0.0)
def strike(repository, seconds):
    tasks.add(ring)
    shard = repository.store.shards.of(1)
    repository.store.client.set(f"{shard.prefix}gonged:1", "1")
    repository.store.client.hset(shard.article(1), "gongs", "1")
    return 1
""",
    "__init__.py": "",
    "migrations/__init__.py": "",
}

# What a site has, by which it can be told that an extra was there.
_STATE = """
import json
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django_tasks_db.models import DBTaskResult
from articles.models import ExtraRecord, SiteSetting
from articles.web.wiring import repository
store = repository().store
print(json.dumps({
    "tables": sorted(connection.introspection.table_names()),
    "migrations": sorted(MigrationRecorder(connection).applied_migrations()),
    "kinds": sorted(ContentType.objects.values_list("app_label", "model")),
    "permissions": sorted(Permission.objects.values_list("codename", flat=True)),
    "settings": sorted(SiteSetting.objects.filter(name__regex="^[A-Z_]+$").values_list("name", flat=True)),
    "tasks": DBTaskResult.objects.filter(task_path__contains="gongs").exists(),
    "keys": sorted(store.client.scan_iter("*gonged*")),
    "field": store.client.hexists(store.shards.of(1).article(1), "gongs"),
    "extras": sorted(ExtraRecord.objects.values_list("name", flat=True)),
}))
"""

_SWITCH_OFF = """
import json
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.test import Client
from accounts.models import User
from articles.models import SiteSetting
root = User.objects.create_superuser("root", password="from elsewhere")
root.password = make_password("from elsewhere", hasher="gong")
browser = Client(headers={"host": "localhost"})
browser.force_login(User.objects.get(username="root"))
page = "/administration/programs/"
shown = browser.get(page).content.decode()
values = {name: variable.default for name, variable in settings.BROWSER_SETTINGS.items()}
answer = browser.post(page, values | {"GONGS": "0"})
print(json.dumps([root.check_password("from elsewhere"), '"/gongs/"' in shown, "Gongs" in shown,
                  answer.status_code, *SiteSetting.objects.filter(name="GONGS").values_list("text", flat=True),
                  '"/gongs/"' in browser.get(page).content.decode()]))
"""


def asked(site: Site, script: str):
    return json.loads(demand(site, "shell", "--verbosity", "0", "-c", script).splitlines()[-1])


def test_a_new_extra_works_when_copied_in_and_leaves_nothing_behind(tmp_path, filled_data):
    data, program = tmp_path / "data", copy_of_checkout(tmp_path / "site", [])
    own = program / "extras" / "gongs"
    shutil.copytree(filled_data, data)
    with started(data, program) as site:
        before = asked(site, _STATE)
    for name, text in FILES.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text.lstrip())
    demand(Stopped(data, program), "makemigrations", "gongs")

    with started(data, program) as site:
        assert re.search(r"The gongs hang over [1-9]\d* articles\.\n.*The site is at", site.told(), re.DOTALL)
        demand(site, "check", says="no issues")
        assert asked(site, _SWITCH_OFF) == [True, True, True, 302, "0", False]
        assert "The gong hangs." in site.manage("doctor").stdout
        assert "Hear the gongs" in site.get("/articles/1/")[1]
        assert '<li><a href="/gongs/strokes.json">Strokes</a></li>' in site.get("/about/")[1]
        with urlopen(f"http://127.0.0.1:{site.port}/gongs/strokes.json") as answer:
            assert answer.headers["Cache-Control"] == "public, max-age=0, s-maxage=10"
            assert answer.headers["Access-Control-Allow-Origin"] == "*"
        until(lambda: re.search("[1-9]\\d* strokes", site.get("/gongs/")[1]))
        assert "Disallow: /gongs/\n" in site.get("/robots.txt")[1]
        demand(site, "backup", str(tmp_path / "backups"))
        (manifest,) = tmp_path.glob("backups/*/manifest.json")
        assert json.loads(manifest.read_text())["counts"]["gongs.Stroke"] > 0
        now = asked(site, _STATE)
        assert {name for name in before if now[name] == before[name]} <= {"tasks"}  # those are done at once

    shutil.rmtree(own)
    with started(data, program) as site:
        assert site.get("/gongs/")[0] == 404
        demand(site, "check", says="forget_extra gongs")
        demand(site, "audit", says="1 finding.", status=1)
        demand(site, "forget_extra", "gongs", says="All data of gongs is removed.")
        assert asked(site, _STATE) == before
        demand(site, "audit", says="no findings")
