"""Who can read and write the site's files."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.doctor.examining import brief, levels, look


@pytest.fixture
def reachable():
    """A directory that every user can enter, unlike those of pytest."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def data_dir(settings, reachable, monkeypatch):
    """A data directory as a first start leaves it."""
    folder = reachable / "data"
    folder.mkdir(mode=0o700)
    for name, mode in (("secret_key", 0o600), ("accounts.sqlite3", 0o644)):
        (folder / name).touch()
        (folder / name).chmod(mode)
    settings.DATA_DIR, settings.SECRET_KEY_FILE = folder, folder / "secret_key"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", str(folder / "accounts.sqlite3"))
    return folder


def problems():
    names = ("data directory", "secret key", "accounts", "owner")
    return [text for name in names for level, text in brief("files", name) if level in ("error", "warning")]


def test_a_data_directory_as_the_site_creates_it_has_no_problem(data_dir):
    assert problems() == []


def test_a_secret_key_that_others_can_read_is_an_error(data_dir):
    (data_dir / "secret_key").chmod(0o644)

    (finding,) = look("files", "secret key")

    assert finding.level.label == "error"
    assert str(data_dir / "secret_key") in finding.text
    assert finding.advice == f"Run `chmod 600 {data_dir / 'secret_key'}`."
    assert len(problems()) == 1


def test_a_directory_that_others_can_write_to_is_an_error(data_dir):
    data_dir.chmod(0o703)

    assert levels("files", "data directory") == ["error"]


def test_a_directory_that_this_user_cannot_write_to_is_an_error(data_dir, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere

    assert levels("files", "data directory") == ["error"]


def test_accounts_that_others_can_read_are_a_warning(data_dir):
    data_dir.chmod(0o701)
    assert levels("files", "accounts") == ["warning"]

    (data_dir / "accounts.sqlite3").chmod(0o600)
    assert levels("files", "accounts") == ["fine"]


def test_an_env_file_that_others_can_read_is_a_warning(settings, reachable):
    settings.BASE_DIR, file = reachable, reachable / ".env"
    assert levels("files", "env") == []
    file.write_text("SECRET_KEY=x")
    file.chmod(0o644)
    assert levels("files", "env") == ["warning"]

    file.chmod(0o640)
    assert levels("files", "env") == []
    file.chmod(0o644)
    reachable.chmod(0o750)
    assert levels("files", "env") == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_files_of_another_user_are_a_warning(data_dir):
    os.chown(data_dir / "accounts.sqlite3", 4242, -1)

    (finding,) = look("files", "owner")

    assert finding.level.label == "warning"
    assert finding.advice == f"Run `chown 0 {data_dir / 'accounts.sqlite3'}`."
