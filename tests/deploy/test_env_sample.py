"""deploy/.env.sample: settings exist, values are valid, and nothing that a public site needs is missing."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from voting_site.configuration import loading
from voting_site.configuration.loading import load
from voting_site.configuration.variables import VARIABLES

SAMPLE = Path(settings.BASE_DIR, "deploy", ".env.sample").read_text("utf-8")
COMPOSE = Path(settings.BASE_DIR, "deploy", "compose.yaml").read_text("utf-8")
ASSIGNMENTS = re.findall(r"^(#?)([A-Z_]+)=(.*)$", SAMPLE, re.MULTILINE)
BY_NAME = {variable.name: variable for variable in VARIABLES}

NEEDED = {"SITE_URL", "BEHIND_PROXY", "TRUSTED_PROXIES", "EMAIL_URL", "EMAIL_FROM", "DATA_DIR", "BACKUP_DIR"}


@pytest.mark.parametrize(("mark", "name", "value"), ASSIGNMENTS, ids=[name for _, name, _ in ASSIGNMENTS])
def test_every_setting_exists_and_its_value_is_valid(mark, name, value):
    if name in BY_NAME:
        BY_NAME[name].parse(value)
    else:
        assert mark, "the site would warn of it"
        assert f"${{{name}:" in COMPOSE, "neither the site nor compose.yaml reads it"


def test_each_setting_is_there_once_and_what_a_public_site_needs_is_set():
    names = [name for _mark, name, _value in ASSIGNMENTS]

    assert len(names) == len(set(names))
    assert {name for mark, name, _value in ASSIGNMENTS if not mark} >= NEEDED


def test_the_sample_is_a_valid_file_without_a_warning(tmp_path, monkeypatch):
    for name in BY_NAME:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".env").write_text(SAMPLE.replace("/var/", f"{tmp_path}/"), "utf-8")

    values = load(tmp_path)

    assert list(loading.warnings(tmp_path)) == []
    assert values["SITE_URL"] == "https://news.example.org"
    assert values["SITE_NAME"] == "Article Voting"
