import os
import subprocess
import sys

import pytest
from django.conf import settings

from articles.configuration.kinds import BadSetting
from articles.domain import extras
from articles.domain.limits import rates
from articles.domain.store_address import parse
from bench import documentation
from voting_site.command_line import execute
from voting_site.configuration import loading, service_urls
from voting_site.configuration.data_directory import secret_key
from voting_site.configuration.loading import load
from voting_site.configuration.service_urls import cache_url, store_url
from voting_site.configuration.variables import VARIABLES, Variable

BY_NAME = {variable.name: variable for variable in VARIABLES}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """An environment without the settings of the test run."""
    for name in BY_NAME:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_the_pages_of_settings_and_limits_match_the_code_and_explain_each():
    page, limits = documentation.CONFIGURATION.read_text("utf-8"), documentation.LIMITS_PAGE.read_text("utf-8")

    assert page == documentation.configuration(page), "run `make docs`"
    assert limits == documentation.limits_page(limits), "run `make docs`"
    readmes = {name: (extras.FOLDER / name / "README.md").read_text("utf-8") for name in extras.names()}
    assert readmes == {name: documentation.readme(text, name) for name, text in readmes.items()}, "run `make docs`"
    explained = [*documentation.rows_in(page, 5).values(), *documentation.rows_in(limits, 4).values()]
    explained += [row for text in readmes.values() for row in documentation.rows_in(text, 5).values()]
    assert [row for row in explained if "?" in row] == []


def test_every_default_is_a_valid_value(tmp_path):
    values = load(tmp_path)

    assert values["VOTING_WINDOW_DAYS"] == 7
    assert values["ARTICLES_PER_PAGE"] == 25
    assert values["VOTES_PER_DAY"] is None, "the site learns it"
    assert values["DATA_DIR"] == tmp_path / "var"


@pytest.mark.parametrize("blank", ["", "   "])
@pytest.mark.parametrize("place", ["environment", "file"])
def test_a_blank_value_means_the_default(tmp_path, environment, blank, place):
    defaults = load(tmp_path)

    if place == "file":
        (tmp_path / ".env").write_text("".join(f"{name}={blank}\n" for name in BY_NAME))
    for name in BY_NAME if place == "environment" else ():
        environment.setenv(name, blank)

    assert load(tmp_path) == defaults


def test_the_environment_takes_precedence_over_the_file(tmp_path, environment):
    (tmp_path / ".env").write_text("PORT=1234\nSITE_NAME='From the file'\nWEB_WORKERS=5\n")
    environment.setenv("PORT", "4321")
    environment.setenv("WEB_WORKERS", "")

    values = load(tmp_path)

    assert (values["PORT"], values["SITE_NAME"], values["WEB_WORKERS"]) == (4321, "From the file", 2)
    assert "SITE_NAME" not in os.environ


def test_a_value_is_used_literally(tmp_path, environment):
    environment.setenv("SECRET_KEY", "$PATH and $nothing of the environment")
    (tmp_path / ".env").write_text("\ufeffSITE_NAME=$HOME & more\n", "utf-8")

    values = load(tmp_path)

    assert (values["SECRET_KEY"], values["SITE_NAME"]) == ("$PATH and $nothing of the environment", "$HOME & more")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PORT", "0"), ("PORT", "65536"), ("PORT", "eighty"), ("VOTING_WINDOW_DAYS", "0"),
        ("ARTICLES_PER_PAGE", "4"), ("VOTES_PER_DAY", "0"), ("VOTES_PER_DAY", "86401"),
        ("VOTES_PER_DAY", "automatic"), ("STORE_SHARDS", "0"),
        *(("LIMITS", text) for text in ("votes=0/2m", "vots=1/1m", "60/2m", "votes=1/1m,votes=2/1m", "on")),
        ("DEBUG", "perhaps"), ("TIME_ZONE", "Mars/Phobos"), ("TIME_ZONE", "America"), ("TIME_ZONE", "../UTC"),
        ("SITE_NAME", "A\nB"), ("SITE_NAME", "\udcff"), ("SITE_NAME", "x" * 101),
        *(("SITE_MARK", text) for text in ("abc", "<b", "🏺🏺", "🏺" + "\u200d🏺" * 9, "🇳", "\u200d")),
        *(("SITE_ACCENT", text) for text in ("red", "#fff", "#ffffff", "#0c6653;")),
        *(("SITE_LANGUAGES", text) for text in ("tlh", "en,tlh", "en,en", ",")),
        *(
            ("ARCHIVES", text)
            for text in (
                "https://a.org/{link}", "A=", "A=https://a.org/", "A=ftp://a.org/{link}", "A=https://{link}/",
                "A=javascript:alert({link})", "A=https:///{link}", "A=https://u@a.org/{link}",
                "A=https://a.org/{link}{link}", "A=https://a.org/{link}?q={x}", "A=https://a.org/#{link}",
                'A=https://a.org/"{link}', "A=https://a.org/ {link}", "A=https://档案.org/{link}",
                "A=https://a.org/{link},A=https://b.org/{link}", f"{'x' * 41}=https://a.org/{{link}}",
                "A=https://a.org/{link},", ",".join(f"{n}=https://a.org/{{link}}" for n in range(6)),
                "A=https://[::1/{link}", "A=https://a.org:x/{link}", "=https://a.org/{link}",
            )
        ),
        ("EMAIL_FROM", "news"), ("EMAIL_FROM", "@example.org"), ("EMAIL_FROM", "a@b\nBcc: c@d"),
        ("METRICS_TOKEN", "schlüssel"), ("LOG_LEVEL", "LOUD"), ("TRUSTED_PROXIES", "10.0.0.1/8"),
        *(("STORE_SERVER", text) for text in ("/nowhere/valkey-server", "valkey-server", "/tmp", __file__)),
        *(
            ("SITE_URL", address)
            for address in (
                "news.example.org", "news.example.org:8000", "//news.example.org", "https://",
                "https:news.example.org", "ftp://example.org", "https://example.org/path",
                "https://example.org/?q", "https://u:p@example.org", "https://example.org:port",
                "https://exa mple.org", "https://[::1", "https://例子.测试", "https://*",
            )
        ),
    ],
)  # fmt: skip
def test_an_invalid_value_is_refused_with_the_name_of_its_setting(name, text):
    with pytest.raises(BadSetting, match=name) as caught:
        BY_NAME[name].parse(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "archives"),
    [
        ("none", []),
        (
            "Wayback Machine = https://web.archive.org/web/*/{link}, 档案=http://[::1]:8/?url={link}",
            [("Wayback Machine", "https://web.archive.org/web/*/{link}"), ("档案", "http://[::1]:8/?url={link}")],
        ),
    ],
)
def test_an_archive_has_a_name_and_an_address_with_a_place_for_the_link(text, archives):
    assert BY_NAME["ARCHIVES"].parse(text) == archives


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ""),
        ("https://news.example.org", "https://news.example.org"),
        ("https://news.example.org.", "https://news.example.org"),
        ("https://news.example.org:443", "https://news.example.org"),
        ("http://news.example.org:443", "http://news.example.org:443"),
        ("https://[2001:DB8:0::1]", "https://[2001:db8::1]"),
        ("https://News.Example.org/", "https://news.example.org"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://10.0.0.7", "http://10.0.0.7"),
    ],
)
def test_the_sites_address_consists_of_scheme_and_host(text, address):
    assert BY_NAME["SITE_URL"].parse(text) == address


def test_all_mistakes_are_reported_together(tmp_path, environment, capsys):
    (tmp_path / ".env").write_text("PORT=0\nHOSTS=x\nSITE_NAME = News\nDATA_DIR=data\n")
    (tmp_path / "data" / "secret_key").mkdir(parents=True)
    environment.setenv("WEB_WORKERS", "many")
    environment.setenv("REDIS_URL", "http://user:hidden@host")
    environment.setenv("DATABASE_URL", "sqlite:///:memory:")
    environment.setenv("EMAIL_URL", "smtp://")
    environment.setenv("SECRET_KEY", "  ")

    with pytest.raises(BadSetting) as caught:
        load(tmp_path)

    beginnings = [sentence.split()[0] for sentence in str(caught.value).splitlines()]
    assert beginnings[:5] == ["PORT=0", "WEB_WORKERS='many'", "DATABASE_URL=…", "REDIS_URL=…", "EMAIL_URL=…"]
    assert beginnings[5:] == [str(tmp_path / "data" / "secret_key")]
    assert "hidden" not in str(caught.value)
    assert list(loading.warnings(tmp_path)) == [
        "Line 3 of the file .env has no effect: it is not NAME=value, without spaces.",
        "The file .env sets HOSTS, which is not a setting of the site; did you mean HOST?",
    ]


def test_unknown_names_in_the_file_are_reported(tmp_path, capsys, db):
    (tmp_path / ".env").write_text("# PROT=1\nARTICLES_PER_PAGES=30\nexport prot=1\nPORT=8000\nANY_THING=x\n")

    with pytest.raises(SystemExit):
        execute(["manage.py", "no-such-command"], tmp_path)

    assert capsys.readouterr().err.splitlines()[:3] == [
        "The file .env sets ARTICLES_PER_PAGES, which is not a setting of the site; "
        "did you mean ARTICLES_PER_PAGE?",
        "The file .env sets prot, which is not a setting of the site; did you mean PORT?",
        "The file .env sets ANY_THING, which is not a setting of the site.",
    ]
    assert list(loading.warnings(tmp_path / "nowhere")) == []


def test_a_setting_that_is_gone_says_what_replaces_it(tmp_path, environment):
    (tmp_path / ".env").write_text("LIMIT_VOTES='60 in 2 min'\n")
    environment.setenv("RATE_LIMITS", "off")
    environment.setenv("LIMIT_LOGINS_WIDE", "300 in 10 min")
    environment.setenv("LIMIT_POSTS", "")

    assert sorted(loading.warnings(tmp_path)) == [
        "LIMIT_LOGINS_WIDE is not a setting any more: it follows from logins_network in LIMITS.",
        "LIMIT_VOTES is not a setting any more: give votes a number of uses and a period in LIMITS.",
        "RATE_LIMITS is not a setting any more: set LIMITS=off, for tests and measurements only.",
    ]
    assert load(tmp_path)["LIMITS"] == rates()


def test_an_unreadable_file_is_reported_in_one_sentence(tmp_path):
    (tmp_path / ".env").write_bytes(b"SITE_NAME=\xff\n")
    with pytest.raises(BadSetting, match="UTF-8"):
        load(tmp_path)

    (tmp_path / "folder" / ".env").mkdir(parents=True)
    with pytest.raises(BadSetting, match=r"\.env cannot be read: Is a directory\.$"):
        load(tmp_path / "folder")


@pytest.mark.parametrize(
    ("name", "urls"),
    [
        ("EMAIL_URL", ("foo", "nonsense://h", "smtp://h:port", "smtp://", "filemail://")),
        (
            "DATABASE_URL",
            ("foo", "nonsense://h", "postgres://h:port/db", "postgres://h", "sqlite:///:memory:", "mssql://h/d"),
        ),
    ],
)
def test_an_invalid_address_is_refused_by_variable_without_its_secrets(name, urls):
    for url in urls:
        with pytest.raises(BadSetting, match=f"{name}=… is not") as caught:
            BY_NAME[name].parse(url)
        assert url not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "address", "answered"),
    [
        ("2001:DB8::7", "https://[2001:db8::1]:8443", ["[2001:db8::1]", "[2001:db8::7]"]),
        ("here.example.org.", "https://news.example.org.", ["news.example.org", "here.example.org"]),
        ("::", "", []),
        ("0.0.0.0", "", []),
    ],
)
def test_the_site_accepts_its_address_and_the_one_it_listens_on(tmp_path, host, address, answered):
    variables = dict(os.environ, DATA_DIR=str(tmp_path), HOST=host, SITE_URL=address)
    shown = subprocess.run(
        [sys.executable, "-c", "from voting_site import settings; print(*settings.ALLOWED_HOSTS)"],
        cwd=settings.BASE_DIR,
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )

    assert shown.stdout.split() == ["localhost", "127.0.0.1", "[::1]", *answered]


_WEAK = ("abc", "x" * 31, "0" * 64, "abcdefgh" * 8, "correct horse battery staple")


@pytest.mark.parametrize("key", _WEAK)
def test_a_secret_key_that_can_be_guessed_is_refused_without_showing_it(tmp_path, environment, key):
    environment.setenv("SECRET_KEY", key)

    with pytest.raises(BadSetting, match=r"^SECRET_KEY=… is not a key of 32 printable characters") as caught:
        load(tmp_path)
    assert key not in str(caught.value)


@pytest.mark.parametrize("key", ["0f1e2d3c4b5a69788796a5b4c3d2e1f0", "the nodes share this key for sessions"])
def test_a_secret_key_of_32_characters_is_accepted(tmp_path, environment, key):
    environment.setenv("SECRET_KEY", key)

    assert load(tmp_path)["SECRET_KEY"] == key


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", *(key.encode() for key in _WEAK)])
def test_a_file_without_a_strong_key_is_reported_in_one_sentence(tmp_path, content):
    (tmp_path / "secret_key").write_bytes(content)

    with pytest.raises(BadSetting, match="secret_key has no secret key"):
        secret_key(tmp_path)
    assert (tmp_path / "secret_key").read_bytes() == content


def test_a_flag_accepts_the_usual_words():
    flag = Variable("X", "yes/no", "0")

    assert [flag.parse(text) for text in ("1", "yes", "TRUE", "on")] == [True] * 4
    assert [flag.parse(text) for text in ("0", "no", "False", "off", "")] == [False] * 5


def test_the_secret_key_is_created_once_and_readable_only_by_its_owner(tmp_path):
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
        ("sentinel://:p@a:1,b/site", "sentinel://:p@a:1,b/site?db=1"),
        ("sentinel://a/site?db=2&sentinel_password=a%26b", "sentinel://a/site?db=3&sentinel_password=a%26b"),
    ],
)
def test_the_cache_is_the_next_database_of_the_stores_server(store, cache):
    assert cache_url("", store) == cache
    assert parse(cache).database == parse(store).database + 1


@pytest.mark.parametrize(
    ("cache", "store"),
    [
        ("redis://host", "redis://host:6379/0"),
        ("redis://host/2", "redis://host:6379?db=2"),
        ("unix:///s.sock", "unix:///s.sock?db=0"),
        ("sentinel://b:1,a/site", "sentinel://a,b:1/site?db=0"),
        ("sentinel://:p@a/site?db=2&sentinel_password=s", "sentinel://a:26379/site?db=2"),
        ("sentinel://a/site", "sentinel://a,b,c/site"),
    ],
)
def test_a_cache_in_the_database_of_the_store_is_refused(tmp_path, environment, cache, store):
    environment.setenv("REDIS_URL", store)
    environment.setenv("CACHE_URL", cache)

    with pytest.raises(BadSetting, match=r"^CACHE_URL and REDIS_URL must not be the same database\.$"):
        load(tmp_path)


def test_a_cluster_cannot_be_the_cache(tmp_path, environment):
    environment.setenv("REDIS_URL", "cluster://:hidden@a,b")
    values = load(tmp_path)
    assert cache_url(values["CACHE_URL"], values["REDIS_URL"]) == ""

    environment.setenv("CACHE_URL", "cluster://:hidden@a,b")
    with pytest.raises(BadSetting, match=r"^CACHE_URL=… is not the URL of a cache.*cannot be a cluster") as caught:
        load(tmp_path)
    assert "hidden" not in str(caught.value)

    environment.setenv("CACHE_URL", "redis://a:1")
    assert load(tmp_path)["REDIS_URL"] == "cluster://:hidden@a,b"


def test_a_store_of_an_unknown_kind_is_refused(tmp_path):
    nowhere = ("http://host", "host", "redis://host:port", "redis://host?db=x", "redis://host/x", "unix://?db=0")
    for url in (*nowhere, "unix://relative/path", "redis://host?decode_responses=0", "redis://host?db=-1"):
        for name, kind in (("REDIS_URL", "store"), ("CACHE_URL", "cache")):
            with pytest.raises(BadSetting, match=f"{name}=… is not the URL of a {kind}"):
                BY_NAME[name].parse(url)
    for url in ("redis://", "rediss://u:p@host:1/2?ssl_cert_reqs=none", "unix://u:p@/a/store.sock?db=3"):
        assert BY_NAME["REDIS_URL"].parse(url) == store_url(url, tmp_path) == url
    assert store_url("", tmp_path).startswith("unix://")


def test_the_address_of_a_store_is_shown_without_its_secrets():
    assert service_urls.without_secrets("redis://u:p%40@host:1/2?password=p") == "host:1/2"
    assert service_urls.without_secrets("cluster://:p@a:1,b") == "a:1,b"
    assert service_urls.without_secrets("sentinel://u:p@a,b/site?sentinel_password=s") == "a,b/site"
    assert service_urls.without_secrets("sentinel://u:p@a/site?sentinel_password=p@s") == "a/site"
