"""Imports and exports as the operator runs them while the site is stopped, and a first start with the demo."""

import json
import os
import signal

import pytest

from articles.management.sentences import NO_TABLES
from tests.commands.conftest import ended


@pytest.mark.site
def test_without_accounts_tables_the_commands_name_the_command_to_run(manage, tmp_path):
    (tmp_path / "articles.jsonl").write_text("{}")
    for process in [manage("import_articles", tmp_path / "articles.jsonl"), manage("demo")]:
        assert ended(process) == (1, "", f"CommandError: {NO_TABLES}\n")


@pytest.mark.site
def test_ctrl_c_stops_an_import_that_can_be_resumed(manage, tmp_path):
    file = tmp_path / "articles.jsonl"
    rows = 30_000  # some seconds of work, of which the interruption comes after the first ones
    line = '{{"title": "Article {0}", "link": "https://example.org/{0}", "time": {1}, "votes": 3}}\n'
    file.write_text("".join(line.format(n, 1_600_000_000 + n) for n in range(rows)))
    assert ended(manage("migrate", "--skip-checks", "--verbosity", "0"))[0] == 0

    first = manage("import_articles", file, "--progress")
    while (shown := first.stderr.readline(200)) and ("%" not in shown or "  0%" in shown):
        pass
    os.killpg(first.pid, signal.SIGINT)
    status, _, err = ended(first)
    assert status == 130
    assert err.endswith("CommandError: Interrupted. Run it again to continue; nothing will be imported twice.\n")

    status, out, _ = ended(manage("import_articles", file))
    assert status == 0
    imported, there, *_ = (int(word.replace(",", "")) for word in out.split() if word[0].isdigit())
    assert imported + there == rows
    assert imported > 0
    assert ended(manage("audit")) == (0, f"{rows:,} articles, no findings.\n", "")

    with manage("export_articles") as exporting:
        assert json.loads(exporting.stdout.readline())["title"] == "Article 0"
        exporting.stdout.close()  # as `head` does
        assert exporting.stderr.read() == ""
    assert exporting.returncode == 0


@pytest.mark.site
@pytest.mark.journey
def test_a_first_start_fills_the_site_and_says_how_to_log_in(start):
    site = start(first=True, DEMO="1")
    site.wait_until_up()

    assert site.get("/")[1].count('id="article-') == 25
    assert "demo-moderator" in site.told()
    assert site.get("/search/?q=redis")[1].count('class="row"') > 9, "the search has all of it from the start"
    assert site.stop() == 0

    again = start(DEMO="1", PORT=str(site.port))
    again.wait_until_up()
    assert again.get("/")[1].count('id="article-') == 25
    assert "demo-moderator" not in again.told()
