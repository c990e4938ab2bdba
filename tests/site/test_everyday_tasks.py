"""The commands of "Everyday tasks" in docs/operation.md, run one after the other on a whole site."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests import postgres_server
from tests.postgres_server import PostgresServer
from tests.site_process import Site, store_of, variables
from tests.waiting import until

CODE = (
    "accounts", "articles", "links", "locale", "moderation", "owner", "static", "templates",
    "voting_site", "manage.py",
)  # fmt: skip
PASSWORD = "correct horse battery"


def tasks() -> list[tuple[str, str]]:
    """Return the mark and the commands of each block."""
    text = Path(settings.BASE_DIR, "docs", "operation.md").read_text("utf-8")
    part = text.split("### Everyday tasks\n")[1].split("\n### ")[0]
    found = re.findall(r"(?:<!-- (\w+) -->\n)?```console\n(.*?)\n```", part, re.DOTALL)
    assert len(found) == part.count("```console")
    return found


@pytest.fixture
def checkout(tmp_path, filled_data) -> Path:
    """A checkout with settings of its own and content, whose first member is alice."""
    folder = tmp_path / "checkout"
    for name in CODE:
        source, target = settings.BASE_DIR / name, folder / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / ".env").write_text("SITE_URL=http://localhost:8000\n")
    shutil.copytree(filled_data, folder / "var")
    return folder


@pytest.fixture
def begin(checkout, monkeypatch):
    """A function that starts the site of the checkout, with the settings in its `.env`."""
    monkeypatch.delenv("SITE_URL")
    sites = []

    def begin() -> Site:
        sites.append(Site(checkout / "var", program=checkout))
        sites[-1].wait_until_up()
        return sites[-1]

    yield begin
    for site in sites:
        site.stop()


def do(site: Site, commands: str, answers: str = "") -> str:
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=site.program,
        env=variables({"DATA_DIR": str(site.data_dir)}),
        input=answers,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # without a terminal, answers are read from the standard input
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def postgres():
    if reason := postgres_server.missing():
        pytest.skip(reason)
    server = PostgresServer()
    try:
        until(server.answers)
        yield server
    finally:
        server.stop()


@pytest.mark.long
def test_the_everyday_tasks_of_an_operator(begin, checkout, postgres, tmp_path):
    (_, password), (_, rename), (_, delete), (_, key), (_, domain), (_, backup), (_, restore) = tasks()
    site = begin()
    for name in ("alice", "carol"):
        create = f"createsuperuser --noinput --username={name} --email={name}@example.org"
        do(site, f"DJANGO_SUPERUSER_PASSWORD='{PASSWORD}' .venv/bin/python manage.py {create}")

    assert "changed successfully" in do(site, password, f"{PASSWORD} staple\n" * 2)
    assert "alice is alison now" in do(site, rename)
    assert site.get("/users/alison/")[0] == 200
    assert "alison is deleted" in do(site, delete)
    assert site.get("/users/alison/")[0] == 404
    assert site.stop() == 0

    before = (checkout / "var" / "secret_key").read_text()
    do(site, key)
    do(site, domain)
    site = begin()
    assert (checkout / "var" / "secret_key").read_text() != before
    assert "<link>https://news.example.org/</link>" in site.get("/feeds/front.rss")[1]

    replaced = {"/var/backups/voting-site": str(tmp_path / "backups")}
    replaced |= {"postgres://voting_site:PASSWORD@localhost/voting_site": postgres.url}
    for text, own in replaced.items():
        assert text in backup + restore
        backup, restore = backup.replace(text, own), restore.replace(text, own)
    do(site, backup)
    articles = store_of(site).lists.get_page("score").total
    assert site.stop() == 0
    assert "The audit found nothing" in do(site, restore)
    site = begin()
    assert store_of(site).lists.get_page("score").total == articles > 0
    assert not (checkout / "var" / "accounts.sqlite3").exists()
    assert site.stop() == 0
