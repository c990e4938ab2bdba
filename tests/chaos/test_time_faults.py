"""Clocks jump, and backups of different times are put back together."""

import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.chaos.stage import Row, end_row, scaled, show
from tests.chaos.wrong_clock import WrongClock
from tests.form_browser import FormBrowser
from tests.site_process import store_of

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]


def test_accounts_older_than_the_store_are_noticed_and_no_id_is_used_twice(stage, tmp_path):
    site = stage.start(stage.data())
    site.stop()
    shutil.copytree(site.data_dir, tmp_path / "backup")
    site = stage.start(site.data_dir, PORT=str(site.port))
    alice = FormBrowser(site)
    alice.sign_up("alice-2")
    alice.send("/settings/", "/articles/1/vote/", choice="vote", next="/")
    with stage.crowd(site) as crowd:
        crowd.wait_for(50)
    ids = account_ids(site)
    site.stop()
    put_back(tmp_path / "backup", site.data_dir, "accounts.sqlite3*")
    site = stage.start(site.data_dir, PORT=str(site.port))
    FormBrowser(site).sign_up("mallory-2")
    assert account_ids(site)["mallory-2"] not in ids.values()
    audit = site.manage("audit")
    assert audit.returncode == 1
    assert "members of the store without an account: 1 (" in audit.stdout
    assert audit.stdout.splitlines()[-1] == "1 finding."
    assert crowd.ledger.lost(store_of(site)) == []
    row = Row(21, "accounts older than the store", len(crowd.ledger.votes), 0, crowd.ledger.worst())
    row.audit = "1 finding, the lost account"
    show(row)
    assert site.stop() == 0
    assert "The accounts are older than the store" in site.told()


def test_a_store_older_than_the_accounts_gives_no_id_twice_and_serves(stage, tmp_path):
    site = stage.start(stage.data())
    site.stop()
    shutil.copytree(site.data_dir, tmp_path / "backup")
    site = stage.start(site.data_dir, PORT=str(site.port))
    FormBrowser(site).sign_up("alice-2")
    ids = account_ids(site)
    site.stop()
    shutil.rmtree(site.data_dir / "store")
    shutil.copytree(tmp_path / "backup" / "store", site.data_dir / "store")
    site = stage.start(site.data_dir, PORT=str(site.port))
    FormBrowser(site).sign_up("mallory-2")
    assert account_ids(site)["mallory-2"] not in ids.values()
    with stage.crowd(site) as crowd:
        crowd.wait_for(50)
    end_row(Row(21, "store older than the accounts"), site, crowd.ledger)


def account_ids(site) -> dict[str, int]:
    query = "SELECT username, id FROM accounts_user"
    database = f"file:{site.data_dir / 'accounts.sqlite3'}?mode=ro"
    rows = subprocess.run(["sqlite3", database, query], capture_output=True, text=True, check=True).stdout.split()
    return {name: int(number) for name, _, number in (row.partition("|") for row in rows)}


def put_back(source: Path, target: Path, pattern: str) -> None:
    for file in target.glob(pattern):
        file.unlink()
    for file in source.glob(pattern):
        shutil.copy(file, target / file.name)


DAY = 86400


def test_clocks_that_jump_open_and_close_nothing(stage, tmp_path):
    """Web server and store read the same wrong clock: a week ahead, back, behind, and right again."""
    clock = WrongClock(tmp_path / "clock")
    site = stage.start(stage.data(), TICK_SECONDS="10", **clock.environment)
    plan = stage.plan(site)
    closed = plan.articles + 1
    assert vote(site, closed, plan.members[0]) == 409
    with stage.crowd(site, plan) as crowd:
        for ahead in (8 * DAY, 0, -3600, DAY, 0):
            clock.set_ahead(ahead)
            began = time.monotonic()
            crowd.wait_past(began + scaled(13, 3), "read")  # housekeeping runs at least once
            pages = site.get("/")[1] + site.get("/newest/")[1]
            assert not re.search(r"[-−]\d+ (?:minutes?|hours?|days?) ago", pages), ahead
            assert vote(site, closed, plan.members[0]) == 409, ahead
        recovery = crowd.recovery(time.monotonic())
    row = Row(22, "clocks +8 days, back, −1 h, +1 day, back", recovery=recovery)
    end_row(row, site, crowd.ledger, refusals=("409",))  # voting is closed while the clock is ahead


def vote(site, article: int, member: dict[str, str]) -> int:
    """Vote once; return the status of the answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{site.port}/api/articles/{article}/vote",
        json.dumps({"choice": "vote"}).encode(),
        {"Authorization": f"Bearer {member['token']}", "Content-Type": "application/json"},
        method="PUT",
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
