"""The accounts' SQLite file of a running site, to which its web processes stay connected."""

import sqlite3
from contextlib import closing

import pytest
from django.db import OperationalError, connections
from django.db.backends.signals import connection_created

from tests.form_browser import FormBrowser
from tests.site_process import DEADLINE
from tests.waiting import until
from voting_site import accounts_file
from voting_site.sqlite.base import DatabaseWrapper, creating


@pytest.fixture
def site(start):
    site = start(is_empty=True)
    site.wait_until_up()
    return site


def back_up(source, target):
    with closing(sqlite3.connect(source)) as accounts, closing(sqlite3.connect(target)) as backup:
        accounts.backup(backup)


def test_a_file_put_in_its_place_is_read_at_once(site):
    accounts = site.data_dir / "accounts.sqlite3"
    backup = site.data_dir / "backup.sqlite3"
    back_up(accounts, backup)
    browser = FormBrowser(site)
    browser.sign_up("alma")
    assert all('class="me"' in browser.get("/") for _ in range(20))

    for suffix in "-wal", "-shm":
        accounts.with_name(accounts.name + suffix).unlink(missing_ok=True)
    backup.replace(accounts)

    assert all('class="me"' not in browser.get("/") for _ in range(20))


@pytest.mark.long
def test_a_site_without_its_accounts_says_so_and_starts_with_new_ones_only_when_told(start, tmp_path):
    """The file is moved away under the running site, and back after a refused start."""
    site = start()
    site.wait_until_up()
    alma = FormBrowser(site)
    alma.sign_up("alma")
    away = tmp_path / "away"
    away.mkdir()
    files = [site.data_dir / f"accounts.sqlite3{suffix}" for suffix in ("", "-wal", "-shm")]
    for file in files:
        file.rename(away / file.name)

    until(lambda: site.get("/readyz") == (503, ""), DEADLINE)
    assert site.get("/")[0] == 200
    assert site.stop() == 0
    for _ in range(2):
        site = start()
        assert site.process.wait(60) == 1
        assert "the accounts database is new: start the site with the right accounts" in site.told()
    assert not any(file.exists() for file in files), "nothing is in the way of the right ones"

    for file in away.iterdir():
        file.rename(site.data_dir / file.name)
    site = start()
    site.wait_until_up()
    alma.visit(site)
    assert 'class="me"' in alma.get("/")
    assert site.stop() == 0

    (site.data_dir / "accounts.sqlite3").unlink()
    assert site.manage("accept_store").returncode == 0
    site = start()
    site.wait_until_up()
    assert site.get("/readyz") == (200, "ready\n")


def test_a_stopped_site_leaves_everything_in_the_file(site):
    FormBrowser(site).sign_up("alma")
    assert (site.data_dir / "accounts.sqlite3-wal").exists()

    assert site.stop() == 0

    assert not (site.data_dir / "accounts.sqlite3-wal").exists()


@pytest.mark.django_db
def test_a_connection_that_could_not_write_is_opened_again(tmp_path):
    """One that was opened while the disk was read-only stays so."""
    facts = connections["default"].settings_dict | {"NAME": str(tmp_path / "accounts.sqlite3"), "OPTIONS": {}}
    connection = DatabaseWrapper(facts | {"CONN_MAX_AGE": accounts_file.SECONDS})
    connection_created.connect(accounts_file._note_file, sender=DatabaseWrapper)
    try:
        with creating(), connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = ON")
            with pytest.raises(OperationalError, match="readonly"):
                cursor.execute("CREATE TABLE a (b)")
        connection.close_if_unusable_or_obsolete()
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE a (b)")
    finally:
        connection_created.disconnect(accounts_file._note_file, sender=DatabaseWrapper)
        connection.close()


@pytest.mark.django_db
def test_a_damaged_file_is_a_database_that_cannot_be_used(tmp_path):
    path = tmp_path / "accounts.sqlite3"
    connection = DatabaseWrapper(connections["default"].settings_dict | {"NAME": str(path), "OPTIONS": {}})
    with creating(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE a (b)")
        cursor.executemany("INSERT INTO a VALUES (%s)", [("x" * 500,)] * 100)
    connection.close()
    whole = path.read_bytes()
    for damaged in (b"no database" + whole[11:], whole[:100] + bytes(len(whole) - 100)):
        path.write_bytes(damaged)
        with pytest.raises(OperationalError, match=r"not a database|malformed"), connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM a")
        connection.close()
