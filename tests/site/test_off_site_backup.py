"""docs/backup.md: the commands for backups on another machine, with a second folder as that machine."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.site_process import variables
from voting_site.embedded import open_store

PAGE = Path(settings.BASE_DIR, "docs", "backup.md").read_text("utf-8")


def commands(mark, **own):
    """Return a block of the page, with own values for its assignments."""
    block = re.search(f"<!-- {mark} -->\n```console\n(.*?)```", PAGE, re.DOTALL)[1]
    for name, value in own.items():
        block, replaced = re.subn(f"^((?:export )?{name})=.*", rf"\1={value}", block, flags=re.MULTILINE)
        assert replaced == 1, name
    return block.replace(".venv/bin/python", sys.executable)


def run(block, **environment):
    own = variables({"HOME": str(Path(environment["DATA_DIR"]).parent), **environment})
    done = subprocess.run(
        ["bash", "-e", "-c", block], cwd=settings.BASE_DIR, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("restic") is None, reason="restic is not installed")
def test_a_site_is_restored_from_what_the_commands_of_the_page_have_stored_elsewhere(filled_data, tmp_path):
    data, backups, fetched = tmp_path / "data", tmp_path / "backups", tmp_path / "fetched"
    password = tmp_path / "password"
    password.write_text("correct horse battery staple")
    shutil.copytree(filled_data, data)
    own = {"RESTIC_REPOSITORY": tmp_path / "elsewhere", "RESTIC_PASSWORD_FILE": password, "BACKUP_DIR": backups}
    with open_store(data):
        run(f"{sys.executable} manage.py backup {backups}", DATA_DIR=str(data))
    for _day in range(2):  # the repository is made once
        run(commands("off site", **own), DATA_DIR=str(data))
    shutil.rmtree(backups)

    told = run(commands("from elsewhere", FETCHED=fetched, **own), DATA_DIR=str(tmp_path / "new"))

    assert told.splitlines()[-1].endswith(" articles, no findings.")
    assert not told.splitlines()[-1].startswith("0 ")
