"""`python -m bench.replay_views`: the views of a log are counted as the site counts them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.deep

LOG, TRUTH = Path("data/views_apache_2015.tsv.gz"), Path("data/views_apache_2015_truth.json")


@pytest.fixture
def replay(tmp_path):
    """A function that runs the program with these arguments; it leaves nothing behind."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    own = {"DATA_DIR": str(tmp_path / "data"), "TMPDIR": str(scratch), "LOG_LEVEL": "WARNING"}
    environment = {
        name: one for name, one in os.environ.items() if name not in ("REDIS_URL", "DJANGO_SETTINGS_MODULE")
    }

    def run(*arguments):
        command = [sys.executable, "-m", "bench.replay_views", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=settings.BASE_DIR, env=environment | own, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert list(scratch.iterdir()) == []
        return done.returncode, done.stdout.splitlines()

    return run


def test_page_views_of_a_real_log_are_exact_and_visitors_within_three_sigma(replay, shared_dir, tmp_path):
    status, lines = replay(shared_dir / LOG, "--truth", shared_dir / TRUTH, "--top", 3)

    assert status == 0
    assert lines[1].split() == ["768", lines[1].split()[1], "39", "/favicon.ico"]
    assert lines[4:6] == ["… and 1,365 more paths", "9,999 views of 1,368 paths: 9,176 counted, 823 throttled."]
    assert lines[6].startswith("All 100 paths")

    wrong = json.loads((shared_dir / TRUTH).read_text("utf-8")) | {"paths": 7}
    wrong["top"][0]["pv_dedup600"] += 1
    (tmp_path / "truth.json").write_text(json.dumps(wrong))
    status, lines = replay(shared_dir / LOG, "--truth", tmp_path / "truth.json")
    assert (status, sum(line.startswith("Differs: ") for line in lines)) == (1, 2)
