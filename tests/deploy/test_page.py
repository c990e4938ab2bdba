"""docs/deploying.md: its commands can be run by `make try-deploying`, and name files that exist."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from tests.deploy.page import MARKS, PATH, blocks
from tests.deploy.units import UNITS

PAGE = PATH.read_text("utf-8")
BLOCKS = blocks()


def test_every_block_is_found_and_has_a_known_mark():
    assert len(BLOCKS) == PAGE.count("```console") == PAGE.count("```") // 2
    assert {block.mark for block in BLOCKS} == {"", *MARKS}
    assert len(re.findall(r"<!--", PAGE)) == len([block for block in BLOCKS if block.mark])


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.heading)
def test_the_commands_of_the_page_are_valid(block):
    checked = subprocess.run(["bash", "-n"], input=block.commands, capture_output=True, text=True, check=False)

    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_block_that_is_not_run_says_why():
    assert [block for block in BLOCKS if block.mark == "not run" and not block.note] == []
    reasons = ("systemd", "Docker", "DNS", "mail")
    assert all(any(reason in block.note for reason in reasons) for block in BLOCKS if block.mark == "not run")


def test_systemctl_is_never_run():
    assert [block.commands for block in BLOCKS if "systemctl " in block.commands and block.mark != "not run"] == []


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"deploy/[\w./-]*\w", PAGE))

    assert {"deploy/nginx/voting-site.conf", "deploy/Caddyfile", "deploy/.env.sample"} <= named
    assert [path for path in named if not Path(settings.BASE_DIR, path).exists()] == []


def test_every_service_that_is_started_has_a_unit():
    started = {
        name for block in BLOCKS for name in re.findall(r"\bvoting-site(?:-\w+)?\b(?!\.|/)", block.commands)
    }

    own = {name for name in started if f"{name}.service" in UNITS}
    assert {unit.removesuffix(".service") for unit in UNITS} == own
