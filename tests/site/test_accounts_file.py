"""The accounts' SQLite file of a running site, to which its web processes stay connected."""

import sqlite3
from contextlib import closing

import pytest

from tests.form_browser import FormBrowser


@pytest.fixture
def site(start):
    site = start(DEMO="0")
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


def test_a_stopped_site_leaves_everything_in_the_file(site):
    FormBrowser(site).sign_up("alma")
    assert (site.data_dir / "accounts.sqlite3-wal").exists()

    assert site.stop() == 0

    assert not (site.data_dir / "accounts.sqlite3-wal").exists()
