from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from voting_site import configuration
from voting_site.configuration import VARIABLES, Variable
from voting_site.secret_key import secret_key
from voting_site.store_urls import cache_url, database_number, store_url


def test_the_page_of_settings_is_what_the_code_says():
    page = Path(settings.BASE_DIR, "docs", "configuration.md").read_text("utf-8")

    assert page == configuration.page(), "run `make docs`"


def test_every_default_is_a_valid_value(tmp_path, monkeypatch):
    for variable in VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)

    values = configuration.load(tmp_path)

    assert values["VOTING_WINDOW_DAYS"] == 7
    assert values["ARTICLES_PER_PAGE"] == 25
    assert 86400 / values["VOTES_PER_DAY"] == 432


def test_the_environment_wins_over_the_file(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("PORT=1234\nSITE_NAME=From the file\n")
    monkeypatch.setenv("PORT", "4321")
    monkeypatch.setenv("SITE_NAME", "x")
    monkeypatch.delenv("SITE_NAME")

    values = configuration.load(tmp_path)

    assert (values["PORT"], values["SITE_NAME"]) == (4321, "From the file")
    monkeypatch.delenv("SITE_NAME", raising=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "eighty"),
        ("VOTING_WINDOW_DAYS", "0"),
        ("ARTICLES_PER_PAGE", "4"),
        ("VOTES_PER_DAY", "0"),
        ("VOTES_PER_DAY", "86401"),
        ("STORE_SHARDS", "0"),
        ("DEMO", "perhaps"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_name(tmp_path, monkeypatch, name, text):
    monkeypatch.setenv(name, text)

    with pytest.raises(ImproperlyConfigured, match=name):
        configuration.load(tmp_path)


def test_a_flag_understands_the_usual_words():
    flag = Variable("X", "yes/no", "0", "")

    assert [flag.parse(text) for text in ("1", "yes", "TRUE", "on")] == [True] * 4
    assert [flag.parse(text) for text in ("0", "no", "False", "off", "")] == [False] * 5


def test_the_secret_key_is_made_once_for_its_owner_alone(tmp_path):
    key = secret_key(tmp_path / "data")

    assert len(key) >= 50
    assert secret_key(tmp_path / "data") == key
    assert (tmp_path / "data" / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret_key"]


@pytest.mark.parametrize(
    ("store", "cache"),
    [
        ("redis://host:6379", "redis://host:6379?db=1"),
        ("redis://host:6379/3", "redis://host:6379/3?db=4"),
        ("unix:///var/a%20b/store.sock?db=0", "unix:///var/a%20b/store.sock?db=1"),
        ("rediss://u:p@host/0?ssl_cert_reqs=none", "rediss://u:p@host/0?ssl_cert_reqs=none&db=1"),
    ],
)
def test_the_cache_is_the_next_database_of_the_stores_server(store, cache):
    assert cache_url("", store) == cache
    assert database_number(cache) == database_number(store) + 1


@pytest.mark.parametrize(
    ("cache", "store"),
    [
        ("redis://host", "redis://host:6379/0"),
        ("redis://host/2", "redis://host:6379?db=2"),
        ("unix:///s.sock", "unix:///s.sock?db=0"),
    ],
)
def test_a_cache_in_the_stores_own_database_is_refused(cache, store):
    with pytest.raises(ImproperlyConfigured, match="CACHE_URL"):
        cache_url(cache, store)


def test_a_store_of_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL"):
        store_url("http://host", tmp_path)
    assert store_url("", tmp_path).startswith("unix://")
