"""Imports and undos that are killed in the middle, and are run again."""

import json
import os
import signal

import pytest

from tests.commands.conftest import ended

STORIES, COMMENTS, MEMBERS = 1_500, 6, 70  # some seconds of work
IMPORT = ("import_site", "hackernews", "items.jsonl", "--name", "old", "--progress")
UNDO = ("import_site", "hackernews", "--undo", "--name", "old", "--progress")
LEFT = """
from django.conf import settings
from django.utils.module_loading import import_string
from accounts.models import User
from articles.web.wiring import patient_repository
from extras.moving_in.models import Arrival, MovedAccount, Source
tables = Source.objects, Arrival.objects, MovedAccount.objects, User.objects.filter(left_at=None)
with import_string(settings.STORE_OPENER)():
    patient_repository().store.client.delete("lock:import")  # as two minutes do
    print(*(rows.count() for rows in tables))
"""


def write(path):
    """Write stories, of which each has comments, in a chain."""
    with path.open("w") as file:
        for story in range(1, STORIES * 10, 10):
            rows = [
                {
                    "id": story,
                    "type": "story",
                    "by": f"ann{story % (10 * MEMBERS)}",
                    "title": f"No. {story}",
                    "score": 3,
                }
            ]
            rows[0]["url"] = f"https://example.org/{story}"
            for n in range(1, COMMENTS + 1):
                rows.append({"id": story + n, "type": "comment", "parent": story + n - 1, "text": f"Reply {n}"})
                rows[n]["by"] = f"bob{n}"
            file.writelines(json.dumps(row | {"time": 1_600_000_000 + row["id"]}) + "\n" for row in rows)


def killed(process):
    """Kill a process, with its store, once its bar is in the middle of the articles."""
    shown = ""
    while "s]" not in shown or not any(f" {tens}" in shown for tens in (f"{n}%" for n in range(40, 90))):
        shown = process.stderr.read(40)
        assert shown, "it ended before"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def done(manage, *command):
    status, out, err = ended(manage(*command))
    assert status == 0, err
    return out


@pytest.mark.site
def test_a_killed_import_and_a_killed_undo_are_completed_by_another(manage, tmp_path):
    write(tmp_path / "items.jsonl")
    command = (*IMPORT[:2], tmp_path / "items.jsonl", *IMPORT[3:])
    done(manage, "migrate", "--skip-checks", "--verbosity", "0")

    killed(manage(*command))
    assert done(manage, "shell", "--verbosity", "0", "-c", LEFT).split()[0] == "1"
    out = done(manage, *command)
    assert "already present" in out
    members, counts = MEMBERS + COMMENTS, done(manage, "shell", "--verbosity", "0", "-c", LEFT).split()
    assert [*map(int, counts)] == [1, STORIES * (1 + COMMENTS) + members, members, members]
    rows = list(map(json.loads, done(manage, "export_articles").splitlines()))
    stories = [row["title"] for row in rows if "title" in row]
    assert stories == [f"No. {story}" for story in range(1, STORIES * 10, 10)]
    texts = [row["text"] for row in rows if "title" not in row]
    assert texts == [f"Reply {n}" for n in range(1, COMMENTS + 1)] * STORIES
    assert done(manage, "audit") == f"{STORIES:,} articles, no findings.\n"

    killed(manage(*UNDO))
    done(manage, "shell", "--verbosity", "0", "-c", LEFT)
    done(manage, *UNDO)
    assert done(manage, "shell", "--verbosity", "0", "-c", LEFT).split() == ["0"] * 4
    assert done(manage, "export_articles") == ""
    assert done(manage, "audit") == "0 articles, no findings.\n"
