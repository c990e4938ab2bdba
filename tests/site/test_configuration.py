import os
import subprocess
import sys
from pathlib import Path

import environ
import pytest
from django.conf import settings

from voting_site import configuration
from voting_site.command_line import execute
from voting_site.configuration import VARIABLES, BadSetting, Variable
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
        ("TIME_ZONE", "Mars/Phobos"),
        ("TIME_ZONE", "America"),
        ("TIME_ZONE", "../UTC"),
        ("TIME_ZONE", ""),
        ("LOG_LEVEL", "LOUD"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        *(
            ("SITE_URL", address)
            for address in (
                *(
                    "news.example.org",
                    "news.example.org:8000",
                    "//news.example.org",
                    "https://",
                    "https:news.example.org",
                ),
                *(
                    "ftp://example.org",
                    "https://example.org/path",
                    "https://example.org/?q",
                    "https://u:p@example.org",
                ),
                *(
                    "https://example.org:port",
                    "https://exa mple.org",
                    "https://[::1",
                    "https://例子.测试",
                    "https://*",
                ),
            )
        ),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_name(tmp_path, monkeypatch, name, text):
    monkeypatch.setenv(name, text)

    with pytest.raises(BadSetting, match=name):
        configuration.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ""),
        ("https://news.example.org", "https://news.example.org"),
        ("https://News.Example.org/", "https://news.example.org"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://10.0.0.7", "http://10.0.0.7"),
    ],
)
def test_the_sites_address_is_scheme_and_host(tmp_path, monkeypatch, text, address):
    monkeypatch.setenv("SITE_URL", text)

    assert configuration.load(tmp_path)["SITE_URL"] == address


def test_names_in_the_file_that_are_no_settings_are_told(tmp_path, monkeypatch, capsys):
    (tmp_path / ".env").write_text("# PROT=1\nARTICLES_PER_PAGES=30\nexport prot = 1\nPORT=8000\nOTHER_THING=x\n")

    with pytest.raises(SystemExit):
        execute(["manage.py", "no-such-command"], tmp_path)

    assert capsys.readouterr().err.splitlines()[:3] == [
        "The file .env sets ARTICLES_PER_PAGES, which is not a setting of the site; "
        "did you mean ARTICLES_PER_PAGE?",
        "The file .env sets prot, which is not a setting of the site; did you mean PORT?",
        "The file .env sets OTHER_THING, which is not a setting of the site.",
    ]
    assert configuration.misspelt(tmp_path / "nowhere") == []


def test_a_file_that_is_no_text_is_one_sentence(tmp_path):
    (tmp_path / ".env").write_bytes(b"SITE_NAME=\xff\n")

    with pytest.raises(BadSetting, match="UTF-8"):
        configuration.load(tmp_path)


@pytest.mark.parametrize("url", ["foo", "nonsense://h", "smtp://h:port"])
def test_an_address_nobody_understands_names_its_variable_and_no_secret(url):
    with pytest.raises(BadSetting, match="EMAIL_URL is not") as caught:
        configuration.read_by("EMAIL_URL", url, environ.Env().email_url_config, "EMAIL_BACKEND")
    with pytest.raises(BadSetting, match="DATABASE_URL is not"):
        configuration.read_by("DATABASE_URL", url, environ.Env().db_url_config, "ENGINE")
    assert url not in str(caught.value)


def test_a_data_directory_nothing_can_be_kept_in_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadSetting, match=r"DATA_DIR=.* cannot be used: Not a directory"):
        secret_key(tmp_path / "file" / "data")


@pytest.mark.parametrize("command", ["run", "audit", "migrate", "createsuperuser"])
def test_every_command_tells_a_bad_setting_in_one_sentence(command):
    variables = dict(os.environ, ARTICLES_PER_PAGE="3", DJANGO_SETTINGS_MODULE="voting_site.settings")

    told = subprocess.run(
        [sys.executable, "manage.py", command],
        cwd=settings.BASE_DIR,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == "ARTICLES_PER_PAGE=3 is outside 5–100.\n"


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
    with pytest.raises(BadSetting, match="CACHE_URL"):
        cache_url(cache, store)


def test_a_store_of_an_unknown_kind_is_refused(tmp_path):
    for url in ("http://host", "host", "redis://host:port", "redis://host?db=x"):
        with pytest.raises(BadSetting, match="REDIS_URL"):
            store_url(url, tmp_path)
        with pytest.raises(BadSetting, match="CACHE_URL"):
            cache_url(url, "redis://host")
    assert store_url("", tmp_path).startswith("unix://")
