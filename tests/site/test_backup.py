"""Backups of a running site, restored into other servers, databases and numbers of shards."""

import re
import shutil
import signal
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from articles.backup import folders
from articles.repository import OLDEST_VERSION
from tests import extras
from tests.cast import PASSWORD
from tests.form_browser import FormBrowser
from tests.postgres_server import PostgresServer, missing
from tests.site_process import Site, store_of
from tests.store_state import get_notes
from tests.waiting import until

EARLIER = Path(__file__).with_name("earlier_backups")
"""Backups of a demo site, each made by the version it is named after."""


@pytest.fixture(scope="module")
def used(module_start, tmp_path_factory):
    """A backup made while members vote; the data directory of its site; which votes were confirmed before."""
    site = module_start(WEB_WORKERS="1", LIMITS="off")
    site.wait_until_up()
    alice = FormBrowser(site)
    alice.sign_up("alice-2")
    ids = re.findall(r'id="article-(\d+)"', alice.get("/newest/"))[:12]
    for number in ids[:6]:
        alice.send("/settings/", f"/articles/{number}/vote/", choice="vote", next="/")
    alice.send("/settings/", f"/articles/{ids[0]}/save/", saved="save", next="/")
    alice.get(f"/articles/{ids[1]}/")
    folder = tmp_path_factory.mktemp("backups")
    with voting(site, "bob-2", ids):
        made = site.manage("backup", str(folder))
    assert made.returncode == 0, made.stdout + made.stderr
    site.stop()
    return folder, site.data_dir, ids[:6]


@contextmanager
def voting(site, name, ids):
    """Let a new member vote and oppose without pause."""
    bob, ended = FormBrowser(site), threading.Event()
    bob.sign_up(name)
    first = threading.Event()

    def vote():
        while not ended.is_set():
            for number in ids:
                for choice in ("vote", "oppose"):
                    bob.send("/settings/", f"/articles/{number}/vote/", choice=choice, next="/")
            first.set()

    thread = threading.Thread(target=vote)
    thread.start()
    first.wait(60)
    yield
    ended.set()
    thread.join(60)


def check(site, voted):
    """Check that a restored site is whole, and that alice finds what is hers."""
    audit = site.manage("audit")
    assert audit.returncode == 0, audit.stdout + audit.stderr
    site.wait_until_up()
    alice = FormBrowser(site)
    alice.send("/login/", "/login/", username="alice-2", password=PASSWORD)
    assert re.findall(r'id="article-(\d+)"', alice.get("/mine/voted/"))[::-1] == voted
    assert re.findall(r'id="article-(\d+)"', alice.get("/mine/saved/")) == voted[:1]


def restore(folder, target, static_files, **environment):
    """Restore the newest backup into an empty data directory; return the site, which is starting."""
    shutil.copytree(static_files, target / "static")
    stopped = Stopped(target, **environment)
    restored = stopped.manage("restore", str(folder))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert "The audit found nothing." in restored.stdout
    return Site(target, WEB_WORKERS="1", **environment)


class Stopped(Site):
    """A site that is not started, for its commands."""

    def __init__(self, data_dir, **environment):
        self.port, self.data_dir, self.environment, self.program = 1, data_dir, environment, settings.BASE_DIR


@contextmanager
def ended(site):
    try:
        yield site
    finally:
        site.stop(signal.SIGTERM)


@pytest.mark.parametrize("shards", [pytest.param("1", marks=pytest.mark.long), "4"])
def test_a_backup_made_under_votes_is_restored(used, tmp_path, static_files, shards):
    folder, _, voted = used
    with ended(restore(folder, tmp_path / "data", static_files, STORE_SHARDS=shards)) as site:
        check(site, voted)


@pytest.mark.site
@pytest.mark.parametrize("folder", sorted(EARLIER.iterdir()), ids=lambda folder: folder.name)
def test_a_backup_of_each_earlier_version_is_restored(folder, tmp_path, static_files):
    checked = Stopped(tmp_path / "checked").manage("restore", "--check", str(folder))
    assert "is whole and can be restored." in checked.stdout, checked.stderr

    with ended(restore(folder, tmp_path / "data", static_files)) as site:
        for command in extras.all_of("CHECK"):
            verified = site.manage(command)
            assert verified.returncode == 0, verified.stdout + verified.stderr
        site.wait_until_up()
        member = FormBrowser(site)
        member.send("/login/", "/login/", username="demo", password="5nDc1txA_q68V3N9")
        assert 'id="article-' in member.get("/mine/voted/")


@pytest.mark.long
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_a_backup_of_the_first_version_is_restored_into_postgresql(tmp_path, static_files):
    server = PostgresServer()
    try:
        until(server.answers)
        folder = EARLIER / OLDEST_VERSION
        with ended(restore(folder, tmp_path / "data", static_files, DATABASE_URL=server.url)) as site:
            assert {site.manage(command).returncode for command in extras.all_of("CHECK")} <= {0}
    finally:
        server.stop()


@pytest.mark.long
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_a_backup_of_sqlite_is_restored_into_postgresql_and_back(used, tmp_path_factory, static_files):
    folder, _, voted = used
    place = tmp_path_factory.mktemp("restored")
    server = PostgresServer()
    try:
        until(server.answers)
        with ended(
            restore(folder, place / "data", static_files, DATABASE_URL=server.url, STORE_SHARDS="3")
        ) as site:
            check(site, voted)
            FormBrowser(site).sign_up("carol-2")
            assert site.manage("backup", str(place / "backups")).returncode == 0
        with ended(restore(place / "backups", place / "back", static_files)) as site:
            check(site, voted)
            FormBrowser(site).send("/login/", "/login/", username="carol-2", password=PASSWORD)
    finally:
        server.stop()


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("redis-server"), reason="Redis is not installed")
def test_a_backup_of_the_embedded_store_is_restored_into_redis_and_back(used, tmp_path, static_files):
    folder, _, voted = used
    socket = tmp_path / "r.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until(socket.exists)
        url = f"unix://{socket}?db=0"
        with ended(restore(folder, tmp_path / "data", static_files, REDIS_URL=url)) as site:
            check(site, voted)
            assert site.manage("backup", str(tmp_path / "backups")).returncode == 0
        with ended(restore(tmp_path / "backups", tmp_path / "back", static_files, STORE_SHARDS="2")) as site:
            check(site, voted)
    finally:
        server.terminate()
        server.wait(60)


def test_housekeeping_makes_backups_and_the_site_serves_meanwhile(start, tmp_path):
    site = start(BACKUP_DIR=str(tmp_path / "backups"), WEB_WORKERS="1")
    site.wait_until_up()
    until(lambda: folders.list_backups(tmp_path / "backups"), 60, site.told)
    until(lambda: "backup" in get_notes(store_of(site)), 60, site.told)

    assert site.get("/")[0] == 200
    site.stop()
    (made,) = folders.list_backups(tmp_path / "backups")
    assert f"backup: {made.name} made" in site.told()
