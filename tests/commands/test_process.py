"""The commands as the operator runs them while the site is stopped, so that they start the store."""

import json
import os
import signal
import subprocess
import sys

import pytest
from django.conf import settings

from voting_site import __version__


@pytest.fixture
def manage(tmp_path):
    """A function that starts `manage.py` with its own data directory, in its own process group."""
    environment = {k: v for k, v in os.environ.items() if k not in ("REDIS_URL", "DJANGO_SETTINGS_MODULE")}
    environment |= {"DATA_DIR": str(tmp_path / "data"), "LOG_LEVEL": "WARNING"}

    def manage(*command):
        return subprocess.Popen(
            [sys.executable, "manage.py", *map(str, command)],
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return manage


def ended(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.site
def test_without_accounts_tables_the_commands_name_the_command_to_run(manage, tmp_path):
    (tmp_path / "articles.jsonl").write_text("{}")
    processes = [manage("import_articles", tmp_path / "articles.jsonl"), manage("demo")]
    for process in processes:
        status, _, err = ended(process)
        assert status == 1
        assert err == "CommandError: The accounts database has no tables yet: run `manage.py migrate` first.\n"


@pytest.mark.site
def test_the_version_is_the_site_s_own_and_nothing_is_created(manage, tmp_path):
    status, out, err = ended(manage("version"))

    assert (status, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()][:1] == [["site", __version__]]
    assert out.splitlines()[-1].split() == ["store", "does", "not", "answer"]
    assert not (tmp_path / "data").exists()


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
