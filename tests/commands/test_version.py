"""`manage.py version`."""

import shutil
import subprocess

import django
import pytest

from tests.store_state import NOWHERE, server_info
from voting_site import __version__


def test_the_versions_are_printed(run, site_store, settings, tmp_path):
    settings.BASE_DIR = tmp_path
    lines = run("version").splitlines()

    assert lines[0].split() == ["site", __version__]
    assert lines[2].split() == ["Django", django.get_version()]
    assert lines[3].split() == ["store", "Valkey", server_info(site_store)["valkey_version"]]


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_in_a_checkout_the_commit_is_printed_and_whether_files_have_changed(run, site_store, settings, tmp_path):
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    settings.BASE_DIR = tmp_path
    git("init", "--quiet")
    assert run("version").splitlines()[0] == f"site    {__version__}", "there is no commit yet"

    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "--message=One")
    git("tag", "--annotate", "--message=One", "one")
    commit = git("rev-parse", "--short", "HEAD")
    assert run("version").splitlines()[0] == f"site    {__version__} (commit {commit})"

    (tmp_path / "file").write_text("two")
    assert run("version").splitlines()[0] == f"site    {__version__} (commit {commit}-dirty)"


def test_a_store_that_is_away_is_no_error(run, settings):
    settings.STORE_URL = NOWHERE

    assert run("version").splitlines()[3].split() == ["store", "does", "not", "answer"]
