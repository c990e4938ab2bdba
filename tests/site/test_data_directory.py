import subprocess
from pathlib import Path

import pytest
from django.conf import settings

import voting_site.settings
from articles.configuration.kinds import BadSetting
from voting_site.configuration.data_directory import PROGRAM_FOLDERS, for_backups, placed

OWN = "is, contains or is inside a folder of the program"


@pytest.fixture
def checkout(tmp_path) -> Path:
    place = tmp_path / "parent" / "checkout"
    for name in (*PROGRAM_FOLDERS, ".git"):
        (place / name / "inner").mkdir(parents=True)
    return place


@pytest.mark.parametrize(
    "text",
    [
        ".", "./", "..", "../..", "/", "var/..", "../checkout", "../checkout/static", "articles/views/none/yet",
        *PROGRAM_FOLDERS, "static/inner", "templates/x", ".git", ".venv", ".venv/data",
    ],
)  # fmt: skip
def test_a_folder_of_the_program_is_refused(checkout, text):
    with pytest.raises(BadSetting, match=OWN):
        placed(checkout, text)


@pytest.mark.parametrize("text", ["var", "var/site", "data", "../elsewhere", "../checkout-data", "statics"])
def test_a_directory_beside_the_program_is_accepted(checkout, text):
    assert placed(checkout, text) == (checkout / text).resolve()


@pytest.mark.parametrize("text", ["var", "var/static", "var/static/x", "var/store", "var/kept_pages", "static"])
def test_backups_are_not_put_where_the_site_serves_or_clears_files(checkout, text):
    with pytest.raises(BadSetting, match=rf"BACKUP_DIR='{text}' cannot be used: .*; choose a separate directory"):
        for_backups(checkout, text, placed(checkout, "var"))


def test_no_folder_of_the_sites_own_data_is_for_backups(checkout):
    data_dir = voting_site.settings.DATA_DIR
    own = [
        place.relative_to(data_dir)
        for name, place in vars(voting_site.settings).items()
        if name.endswith(("_DIR", "_ROOT")) and isinstance(place, Path) and data_dir in place.parents
    ]
    assert own

    for folder in own:
        with pytest.raises(BadSetting, match="the site keeps other files there"):
            for_backups(checkout, f"var/{folder}", placed(checkout, "var"))


@pytest.mark.parametrize("text", ["var/backups", "backups", "../elsewhere"])
def test_backups_may_be_in_a_folder_of_their_own(checkout, text):
    assert for_backups(checkout, text, placed(checkout, "var")) == (checkout / text).resolve()


def test_a_symbolic_link_to_a_folder_of_the_program_is_refused(checkout, tmp_path):
    (checkout / "var").symlink_to(checkout / "static")
    (tmp_path / "link").symlink_to(tmp_path / "parent")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "moved").symlink_to(tmp_path / "real")

    for text in ("var", "var/inner", str(tmp_path / "link"), str(tmp_path / "link" / "checkout")):
        with pytest.raises(BadSetting, match=OWN):
            placed(checkout, text)
    with pytest.raises(BadSetting, match="cannot be used"):
        placed(checkout, str(tmp_path / "circle"))
    assert placed(checkout, str(tmp_path / "moved")) == (tmp_path / "real").resolve()
    with pytest.raises(BadSetting, match=OWN):
        placed(tmp_path / "link" / "checkout", "static")


def test_a_tilde_means_the_home_directory(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    assert placed(checkout, "~/data") == tmp_path / "home" / "data"
    with pytest.raises(BadSetting, match="cannot be used"):
        placed(checkout, "~no-such-user/data")


def test_a_file_is_not_accepted_as_a_directory(checkout):
    (checkout / "file").write_text("")

    with pytest.raises(BadSetting, match="cannot be used: it is not a directory"):
        placed(checkout, "file")


def test_every_folder_of_the_checkout_is_known():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    ).stdout
    if not tracked:
        pytest.skip("not a checkout of git")
    folders = {path.partition("/")[0] for path in tracked.splitlines() if "/" in path}

    assert {name for name in folders if not name.startswith(".")} == set(PROGRAM_FOLDERS)
