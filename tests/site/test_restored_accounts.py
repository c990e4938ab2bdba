"""Accounts restored from an older backup, while the store is newer."""

import re
import shutil

import pytest

from tests.cast import PASSWORD
from tests.form_browser import FormBrowser


def copy_accounts(source, target):
    for file in source.glob("accounts.sqlite3*"):
        shutil.copy(file, target / file.name)


@pytest.mark.long
def test_a_newcomer_gets_nothing_of_a_member_whose_account_is_lost(start, tmp_path):
    site = start(WEB_WORKERS="1")
    site.wait_until_up()
    assert "older than the store" not in site.told()
    site.stop()
    copy_accounts(site.data_dir, tmp_path)

    site = start(WEB_WORKERS="1")
    site.wait_until_up()
    alice = FormBrowser(site)
    alice.sign_up("alice-2")
    first = re.search(r'id="article-(\d+)"', alice.get("/"))[1]
    alice.send("/settings/", f"/articles/{first}/vote/", choice="vote", next="/")
    alice.send("/settings/", f"/articles/{first}/save/", saved="save", next="/")
    assert f'id="article-{first}"' in alice.get("/mine/voted/")
    site.stop()

    for file in site.data_dir.glob("accounts.sqlite3*"):
        file.unlink()
    copy_accounts(tmp_path, site.data_dir)
    site = start(WEB_WORKERS="1")
    site.wait_until_up()
    mallory = FormBrowser(site)
    assert "mallory-2" in mallory.sign_up("mallory-2")

    assert 'id="article-' not in mallory.get("/mine/voted/")
    assert 'id="article-' not in mallory.get("/mine/saved/")
    site.stop()
    assert "The accounts are older than the store" in site.told()
    audit = site.manage("audit")
    assert audit.returncode == 1
    assert "members of the store without an account: 1 (" in audit.stdout


def test_an_administrator_is_created_without_a_running_site(start):
    site = start(is_empty=True, DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    site.wait_until_up()
    site.stop()

    created = site.manage("createsuperuser", "--noinput", "--username", "carol", "--email", "")

    assert created.returncode == 0, created.stdout + created.stderr
