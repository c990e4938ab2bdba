"""A server of Lemmy: what comes from its database, its dump and its API, row by row."""

import shutil
import subprocess

import psycopg
import pytest

from extras.moving_in.sources import BadSource, format_of, lemmy
from extras.moving_in.staging import staged
from extras.moving_in.tests import lemmy_api
from extras.moving_in.tests.lemmy_api import Api, of_api, serving
from extras.moving_in.tests.lemmy_rows import STAGED, lemmy_sql
from extras.moving_in.tests.staging_rows import staged_rows
from tests import waiting
from tests.postgres_server import PostgresServer, missing

no_server = missing() or ("" if shutil.which("pg_dump") else "pg_dump is not installed")


@pytest.fixture(scope="module")
def server():
    server = PostgresServer()
    waiting.until(server.answers)
    yield server
    server.stop()


def filled(server, name, **version):
    """Return the address of a new database of the server, with the rows."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = server.url.replace("@/postgres?", f"@/{name}?").replace("postgres://", "postgresql://")
    with psycopg.connect(url) as connection:
        connection.execute(lemmy_sql(**version))
    return url


@pytest.mark.deep
@pytest.mark.skipif(bool(no_server), reason=no_server or "-")
def test_every_kind_of_row_comes_from_its_database_and_from_a_dump(server, tmp_path):
    url = filled(server, "lemmy")
    subprocess.run(["pg_dump", f"--file={tmp_path}/lemmy.sql", url], check=True)

    assert staged_rows("lemmy", tmp_path / "lemmy.sql") == STAGED
    assert staged_rows("lemmy", url) == STAGED


@pytest.mark.deep
@pytest.mark.skipif(bool(no_server), reason=no_server or "-")
def test_a_dump_in_the_programs_own_format_is_refused_with_advice(server, tmp_path):
    subprocess.run(["pg_dump", "--format=custom", f"--file={tmp_path}/lemmy.dump", server.url], check=True)

    with pytest.raises(BadSource, match="pg_restore"):
        staged_rows("lemmy", tmp_path / "lemmy.dump")


@pytest.mark.deep
@pytest.mark.skipif(bool(no_server), reason=no_server or "-")
def test_version_018_lacks_hidden_posts_only(server):
    assert staged_rows("lemmy", filled(server, "of_018", of_018=True)) == {
        table: rows for table, rows in STAGED.items() if table != "hidden"
    }


@pytest.mark.deep
@pytest.mark.skipif(bool(no_server), reason=no_server or "-")
def test_a_database_of_another_software_is_refused(server):
    with pytest.raises(BadSource, match="There is no table 'person'"):
        staged_rows("lemmy", server.url)


@pytest.fixture
def api(monkeypatch):
    monkeypatch.setattr(lemmy, "PAUSE_SECONDS", 0)
    return Api()


@pytest.mark.parametrize("suffix", ["", "/", "/api/v3"])
def test_what_everybody_may_read_comes_from_its_api(api, suffix):
    with serving(api) as address:
        assert staged_rows("lemmy", f"{address}{suffix}") == of_api()
    assert all("limit=50&page=" in path for path in api.asked if not path.endswith("/site"))


def test_long_answers_are_asked_for_in_parts(api):
    api.most = 2

    with serving(api) as address:
        assert staged_rows("lemmy", address) == of_api()
    assert any("limit=2&page=1" in path for path in api.asked)


def test_a_server_that_asks_for_a_pause_is_asked_again(api, monkeypatch):
    pauses = []
    monkeypatch.setattr(lemmy.time, "sleep", pauses.append)
    monkeypatch.setattr(lemmy, "PAUSE_SECONDS", 0.4)
    api.failures = [200, 429, 429, 200, 502]

    with serving(api) as address:
        assert staged_rows("lemmy", address) == of_api()
    assert pauses[:4] == [0.4, 0.4, 0.4, 1.6]


def test_a_server_of_another_software_is_refused_at_once(api):
    with serving(api) as address:
        api.most = 0
        with pytest.raises(BadSource, match="is not the API of a Lemmy server"):
            staged_rows("lemmy", address)
        api.failures = [404]
        with pytest.raises(BadSource, match="cannot be read"):
            staged_rows("lemmy", address)
    assert len(api.asked) == 2


def test_a_server_that_has_one_page_for_ever_is_refused(api, monkeypatch):
    page = lemmy_api.api_page
    monkeypatch.setattr(lemmy_api, "api_page", lambda path, query: page(path, {**query, "page": "1"}))

    with serving(api) as address, pytest.raises(BadSource, match="again and again"):
        staged_rows("lemmy", address)


def test_an_interrupted_run_goes_on_where_it_was(api, tmp_path):
    with serving(api) as address, staged(tmp_path / "staging.sqlite3") as staging:
        api.failures = [200, 200, 200, 200, 200, *[503] * 20]
        with pytest.raises(BadSource, match="goes on where it was"):
            format_of("lemmy").fill(address, staging, {}, lambda _: None)
        assert staging.count("article") == 0
        assert any("post/list" in path for path in api.asked)

        api.asked, api.failures = [], []
        format_of("lemmy").fill(address, staging, {}, lambda _: None)
        assert staging.count("article") == 3
        assert not any("post/list" in path and "page=1" in path for path in api.asked)
