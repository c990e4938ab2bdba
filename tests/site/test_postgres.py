"""A PostgreSQL server that hangs does not stop the site."""

import pytest
from django.db import OperationalError

from tests.postgres_server import PostgresServer, missing
from tests.waiting import until
from voting_site.configuration.service_urls import database
from voting_site.postgres import base

pytestmark = [pytest.mark.deep, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

HANGS = 60.0  # seconds; without a limit, a query waits for ever


@pytest.fixture(scope="module")
def server():
    started = PostgresServer()
    yield started
    started.stop()


@pytest.fixture
def connection(server, monkeypatch, django_db_blocker, request):
    """A connection of Django's to a server that is up, with the limits of a web process, or those of a command."""
    answer_seconds, pause, is_limited = getattr(request, "param", (0.3, 0.5, True))
    monkeypatch.setattr(base, "_limits", {"answer": float("inf"), "resumes_at": 0.0})
    monkeypatch.setattr(base, "ANSWER_SECONDS", answer_seconds)
    monkeypatch.setattr(base, "PAUSE", pause)
    with django_db_blocker.unblock():
        wrapper = base.DatabaseWrapper(settings_of(server), "other")
        until(lambda: answers(wrapper))
        if is_limited:
            base.limit_waits()
        yield wrapper
        wrapper.close()


def settings_of(server):
    unused = {
        "TIME_ZONE": None,
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": False,
        "AUTOCOMMIT": True,
        "ATOMIC_REQUESTS": False,
    }
    return database("postgres://u@h/n") | unused | {"OPTIONS": {}, "TEST": {}} | server.address


def answers(wrapper):
    try:
        with wrapper.cursor() as cursor:
            cursor.execute("SELECT 1")
            return cursor.fetchone() == (1,)
    except OperationalError:
        return False


def failure(wrapper):
    with pytest.raises(OperationalError) as caught, wrapper.cursor() as cursor:
        cursor.execute("SELECT 1")
    return str(caught.value)


def test_the_site_uses_this_backend_for_postgresql():
    assert database("postgres://u@h/n")["ENGINE"] == "voting_site.postgres"
    assert database("postgresql://u@h/n")["ENGINE"] == "voting_site.postgres"


def test_a_query_without_an_answer_fails_and_its_connection_is_closed(server, connection):
    with server.hanging():
        assert "did not answer within 0.3 s" in failure(connection)
        assert connection.connection.closed


@pytest.mark.parametrize("connection", [(0.3, 3600, True)], indirect=True)
def test_after_a_timeout_queries_and_connections_fail_at_once(server, connection):
    with server.hanging():
        failure(connection)
        connection.close()

        assert "a moment ago" in failure(connection)


@pytest.mark.parametrize("connection", [(0.3, 0, True)], indirect=True)
def test_a_new_connection_without_an_answer_fails(server, connection):
    connection.close()
    with server.hanging():
        assert "did not answer within 0.3 s" in failure(connection)


def test_the_site_recovers_by_itself(server, connection):
    with server.hanging():
        failure(connection)
    connection.close()

    until(lambda: answers(connection))


@pytest.mark.parametrize("connection", [(0.1, 0, False)], indirect=True)
def test_commands_wait_as_long_as_it_takes(server, connection):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.5)")

        assert cursor.fetchone()
