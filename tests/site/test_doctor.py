"""`manage.py doctor` on installations that are broken for real, with the site running or stopped."""

import json
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from django.conf import settings

from articles.repository import LAYOUT_VERSION
from tests.form_browser import FormBrowser
from tests.postgres_server import PostgresServer, missing
from tests.site.forwarding import Forwarder, new_certificate
from tests.site.own_store import OwnStore
from tests.site_process import free_port, variables
from tests.store_state import with_login
from tests.topologies import binaries
from tests.waiting import until
from tests.web_processes import hanging_store, store_of
from voting_site.embedded import StorePaths

NOWHERE = "127.0.0.1:1"


class Installation:
    """A data directory, and the settings of its site."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.data_dir = data_dir
        self.environment = {
            "DATA_DIR": str(data_dir),
            "PORT": str(free_port()),
            "STORE_TIMEOUT_MS": "10000",
            "LIMITS": "",
        } | environment

    def run(self, *arguments: str, through: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [*through, sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env=variables(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def examine(self, *arguments: str, through: tuple[str, ...] = ()) -> "Findings":
        return Findings(self.run("doctor", "--json", *arguments, through=through))


class Findings:
    """A report that was printed as JSON."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.report = json.loads(done.stdout)
        self.status = done.returncode
        assert self.status == self.report["status"]
        assert done.stderr == ""

    def of(self, section: str, check: str) -> list[tuple[str, str]]:
        """Return level and text, with what other programs say, of a check's findings."""
        return [
            (one["level"], f"{one['text']} {one['detail']}".strip())
            for one in self.report["findings"]
            if (one["section"], one["check"]) == (section, check)
        ]

    def problems(self) -> list[str]:
        return [one["text"] for one in self.report["findings"] if one["level"] in ("warning", "error")]


@pytest.fixture
def installation(filled_data, tmp_path):
    """A stopped site with content."""
    shutil.copytree(filled_data, tmp_path / "data")
    return Installation(tmp_path / "data")


def snapshot(folder: Path):
    """Return size and time of change of each file."""
    return {str(path): (facts.st_size, facts.st_mtime_ns) for path in folder.rglob("*") if (facts := path.lstat())}


def accounts(installation):
    return sqlite3.connect(installation.data_dir / "accounts.sqlite3", isolation_level=None)


def test_a_stopped_site_is_examined_and_left_as_it_is(installation):
    before = snapshot(installation.data_dir)

    findings = installation.examine()

    assert findings.problems() == []
    assert findings.status == 0
    ((level, text),) = findings.of("store", "embedded")
    assert (level, "The site is not running" in text) == ("note", True)
    assert findings.of("database", "migrations") == [("fine", "All migrations are applied.")]
    assert findings.of("database", "integrity") == [("fine", "SQLite finds no damage in the accounts' file.")]
    assert findings.of("store", "fit") == [], "a check without what it needs is left out"
    assert snapshot(installation.data_dir) == before


@pytest.mark.site
def test_before_the_first_start_nothing_is_created(tmp_path):
    findings = Installation(tmp_path / "new").examine()

    assert findings.problems() == []
    assert [level for level, _text in findings.of("database", "answers")] == ["note"]
    assert findings.of("store", "embedded") == [("note", "There is no store yet.")]
    assert list(tmp_path.iterdir()) == []


def test_a_running_site_is_examined_and_a_store_that_hangs_is_found(start):
    site = start()
    site.wait_until_up()
    installation = Installation(site.data_dir, PORT=str(site.port))
    until(lambda: "Housekeeping last ran" in str(installation.examine().report))

    findings = installation.examine()

    assert findings.problems() == []
    assert findings.of("store", "fit") == [
        ("fine", f"The store belongs to this site (layout: {LAYOUT_VERSION}, shards: 1).")
    ]
    assert findings.of("store", "sync") == [("fine", "Votes are confirmed when they are on disk.")]
    assert findings.of("database", "age") == [("fine", "The accounts are as new as the store.")]

    installation.environment["STORE_TIMEOUT_MS"] = "500"
    with hanging_store(store_of(site)):
        findings = installation.examine()
    assert findings.status == 2
    ((level, text),) = findings.of("store", "embedded")
    assert level == "error"
    assert "although the site is running" in text
    assert site.get("/")[0] == 200


def test_migrations_that_are_pending_or_of_a_newer_version_are_found(installation):
    with accounts(installation) as database:
        of_accounts = "FROM django_migrations WHERE app = 'accounts'"
        (newest,) = database.execute(f"SELECT max(name) {of_accounts}").fetchone()
        database.execute(f"DELETE {of_accounts} AND name = ?", [newest])
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('articles', '9999_later', 0)")
    database.close()

    findings = installation.examine()

    newer, pending = findings.of("database", "migrations")
    assert newer == ("error", "A newer version of the site has changed the database: articles.9999_later.")
    assert pending[0] == "warning"
    assert f"accounts.{newest}" in pending[1]
    assert findings.status == 2


def test_a_damaged_accounts_file_is_found(installation):
    file = installation.data_dir / "accounts.sqlite3"
    with accounts(installation) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'accounts_user'").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    database.close()
    with file.open("r+b") as raw:
        raw.seek((page - 1) * size)
        raw.write(b"\xff" * size)

    assert [level for level, _text in installation.examine().of("database", "integrity")] == ["error"]

    file.write_bytes(b"This is no database. " * 1000)
    findings = installation.examine()
    assert findings.of("database", "answers") == [
        ("error", "The accounts database does not answer. file is not a database")
    ]


def test_accounts_that_a_killed_site_left_are_read_and_left_as_they_are(installation, tmp_path):
    with accounts(installation) as database:
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('articles', '9999_later', 0)")
        left = tmp_path / "left"
        shutil.copytree(installation.data_dir, left)
    database.close()
    content = {
        file.name: file.read_bytes() for file in left.glob("accounts.sqlite3*") if file.suffix != ".sqlite3-shm"
    }
    assert len(content) == 2, "the change is in a file beside the accounts"

    findings = Installation(left).examine()

    assert "articles.9999_later" in str(findings.of("database", "migrations"))
    assert {name: (left / name).read_bytes() for name in content} == content


def test_wrong_settings_are_all_reported(tmp_path):
    installation = Installation(tmp_path, PORT="x", WEB_WORKERS="0")

    findings = installation.examine()

    assert findings.status == 2
    found = [text for _level, text in findings.of("settings", "values")]
    assert found == ["PORT='x' is not a number.", "WEB_WORKERS=0 is outside 1–64."]
    text = installation.run("doctor", "--quiet")
    assert text.returncode == 2
    assert text.stdout.splitlines() == [
        "Settings",
        "  ERROR    PORT='x' is not a number.",
        "  ERROR    WEB_WORKERS=0 is outside 1–64.",
    ]


@pytest.mark.site
def test_a_store_and_a_database_that_are_away_are_findings(tmp_path):
    installation = Installation(
        tmp_path, REDIS_URL=f"redis://{NOWHERE}/0", DATABASE_URL=f"postgres://nobody@{NOWHERE}/none"
    )

    findings = installation.examine()

    assert findings.status == 2
    for section in ("store", "database"):
        ((level, text),) = findings.of(section, "answers")
        assert level == "error"
        assert "does not answer" in text
    assert findings.of("store", "files") == [], "it is another machine's"


@pytest.mark.long
def test_a_site_works_with_the_documented_rules_of_its_user_and_nothing_is_denied(start, tmp_path):
    (tmp_path / "own").mkdir()
    rules = Path(settings.BASE_DIR, "deploy", "store.acl").read_text("utf-8").replace("CHANGE-THIS", "secret")
    (tmp_path / "own" / "store.acl").write_text(rules)
    store = OwnStore(tmp_path / "own", "--aclfile", str(tmp_path / "own" / "store.acl"), login="operator:secret@")
    try:
        own = {"REDIS_URL": with_login(store.url, "site", "secret"), "BACKUP_DIR": str(tmp_path / "backups")}
        site = start(first=True, **own)
        site.wait_until_up()
        site.fill()
        alma = FormBrowser(site)
        alma.sign_up("alma")
        posted = alma.send("/post/", "/post/", title="Hello", link="https://example.org/hello")
        article = re.search(r"/articles/(\d+)/save/", posted)[1]
        alma.send(f"/articles/{article}/", f"/articles/{article}/vote/", choice="vote", next="/")
        assert f'data-votes-of="{article}" data-votes="1"' in alma.get(f"/articles/{article}/")
        pages = ("/", "/hot/", "/newest/", "/search/?q=hello", "/feeds/newest.atom", "/mine/voted/", "/readyz")
        for path in pages:
            alma.get(path)
        until(lambda: "Housekeeping last ran" in str(Installation(site.data_dir, **own).examine().report))
        for command in ("audit", "repair", "tick"):
            assert site.manage(command).returncode == 0, command

        findings = Installation(site.data_dir, **own).examine()
        assert findings.problems() == []
        assert findings.of("store", "permissions") == []
        with redis.Redis.from_url(store.url, decode_responses=True) as operator:
            assert operator.acl_log() == []
    finally:
        store.stop()


def test_files_that_the_store_would_refuse_are_found_without_a_start(installation):
    paths = StorePaths(installation.data_dir)
    stamp = paths.stamp.read_text()
    paths.stamp.write_text('{"name": "valkey", "version": "99.0.0"}')
    ((level, text),) = installation.examine().of("store", "files")
    assert level == "error"
    assert "was written by valkey 99.0.0" in text

    paths.stamp.write_text(stamp)
    (base,) = [path.name for path in paths.manifest.parent.glob("*.base.*")]
    damage = {"blocks": {}, "damaged": {base: 4096}, "at": None, "passed_at": 0.0}
    paths.verification.write_text(json.dumps(damage))
    ((level, text),) = installation.examine().of("store", "files")
    assert level == "error"
    assert f"{base} from byte 4,096 on" in text

    paths.manifest.unlink()
    ((level, text),) = installation.examine().of("store", "files")
    assert level == "error"
    assert f"{paths.manifest} is missing" in text

    paths.directory.rename(installation.data_dir / "elsewhere")
    paths.directory.symlink_to(installation.data_dir / "elsewhere")
    ((level, text),) = installation.examine().of("store", "files")
    assert level == "error"
    assert "it is not a directory but a link" in text


@pytest.mark.long
def test_a_site_on_a_chosen_server_is_served_by_it_and_the_doctor_says_how_old_it_is(start):
    if binaries.redis() is None:
        pytest.skip(binaries.REDIS_MISSING)
    site = start(is_empty=True, STORE_SERVER=str(binaries.redis()))
    site.wait_until_up()
    assert FormBrowser(site).sign_up("alma")

    findings = Installation(site.data_dir, STORE_SERVER=str(binaries.redis())).examine()
    assert findings.of("store", "answers")[0][1].startswith("Redis ")
    ((_level, text),) = findings.of("store", "program")
    assert re.match(rf"The installed server, {binaries.redis()}, is Redis 7\S*, built .* ago\.", text)

    site.stop()
    again = start(is_empty=True)
    again.wait_until_up()
    assert "alma" in FormBrowser(again).get("/users/alma/")
    again.stop()
    site = start(is_empty=True, STORE_SERVER=str(binaries.redis()))
    assert site.process.wait(60) == 1
    assert "which cannot read its files: install Valkey" in site.told()


def test_a_low_limit_of_open_files_is_found(installation):
    limited = ("sh", "-c", 'ulimit -n 256 && exec "$@"', "sh")

    ((level, text),) = installation.examine(through=limited).of("limits", "open files")

    assert level == "warning"
    assert "Only 256 files" in text


def test_what_the_launcher_would_refuse_is_found(installation):
    (installation.data_dir / "static" / ".source").unlink()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        installation.environment["PORT"] = str(port)
        findings = installation.examine()

    ((level, text),) = findings.of("settings", "port")
    assert (level, f"Cannot listen on 127.0.0.1:{port}: " in text) == ("error", True)
    ((level, text),) = findings.of("files", "static")
    assert (level, f"{installation.data_dir / 'static'} has files" in text) == ("error", True)
    assert installation.examine("--skip", "files").of("files", "static") == []


@pytest.fixture
def forwarded(start):
    """A function that starts a site behind a proxy; returns the installation and the proxy."""
    proxies = []

    def begin(certificate=None, **environment):
        port = free_port()
        proxies.append(Forwarder(port, certificate))
        own = {"SITE_URL": proxies[0].address, "BEHIND_PROXY": "1", "TRUSTED_PROXIES": "127.0.0.1"} | environment
        site = start(PORT=str(port), **own)
        site.wait_until_up()
        return Installation(site.data_dir, PORT=str(port), **own), proxies[0]

    yield begin
    for proxy in proxies:
        proxy.stop()


def test_a_request_through_the_public_address_shows_what_the_site_sees(forwarded):
    installation, proxy = forwarded()

    assert installation.examine().of("proxy", "request") == [
        ("fine", f"The site sees http, {proxy.host} and the reader's address 203.0.113.7.")
    ]

    proxy.headers = {"Host": f"localhost:{installation.environment['PORT']}", "X-Forwarded-Proto": "https"}
    findings = [text for _level, text in installation.examine().of("proxy", "request")]
    assert [text.partition(" where")[0] for text in findings] == [
        "The site sees https",
        f"The site sees the host localhost:{installation.environment['PORT']}",
        "The proxy at 127.0.0.1 does not say who its readers are.",
    ]

    installation.environment["SITE_URL"] = f"http://localhost:{free_port()}"
    ((level, text),) = installation.examine().of("proxy", "request")
    assert level == "warning"
    assert "cannot be reached" in text
    assert installation.examine("--skip", "proxy").of("proxy", "request") == []


def test_a_public_address_with_https_needs_a_certificate_that_this_machine_trusts(forwarded, tmp_path):
    certificate = new_certificate(tmp_path)
    installation, proxy = forwarded(certificate)

    ((level, text),) = installation.examine().of("proxy", "request")
    assert level == "warning"
    assert "certificate verify failed" in text

    installation.environment["SSL_CERT_FILE"] = str(certificate)
    assert installation.examine().of("proxy", "request") == [
        ("fine", f"The site sees https, {proxy.host} and the reader's address 203.0.113.7.")
    ]

    proxy.headers.pop("X-Forwarded-Proto")
    found = installation.examine().of("proxy", "request")[0]
    assert found == ("error", "The site sees http where readers use https.")


@pytest.mark.long
@pytest.mark.site
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_the_settings_of_a_postgresql_server_are_examined(tmp_path):
    server = PostgresServer()  # its fsync is off
    try:
        installation = Installation(tmp_path / "site", DATABASE_URL=server.url)
        until(lambda: installation.examine().of("database", "answers")[0][0] == "fine")
        findings = installation.examine()
        assert "PostgreSQL" in findings.of("database", "answers")[0][1]
        assert findings.of("database", "migrations")[0][0] == "note"
        assert findings.of("database", "server settings")[0][0] == "error"

        short = Installation(tmp_path / "site", DATABASE_URL=server.url, PGOPTIONS="-c statement_timeout=2s")
        texts = [text for level, text in short.examine().of("database", "server settings") if level == "warning"]
        assert texts == ["PostgreSQL's `statement_timeout` is 2000 ms: migrations and housekeeping may fail."]
        with server.hanging():
            assert installation.examine().of("database", "answers")[0][0] == "error"
    finally:
        server.stop()
