"""The backend that `configuration/service_urls.py` selects for PostgreSQL.

A server that hangs, or a network that drops packets, answers no query and reports no error: each member's request
would hold a thread for minutes. Web processes wait `ANSWER_SECONDS` for an answer; afterwards, further
queries fail at once for `PAUSE` seconds. Commands, such as migrations, wait without limit.
"""

import time
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg.errors import _WaitTimeout

ANSWER_SECONDS = 1.0
PAUSE = 1.0

_limits = {"answer": float("inf"), "resumes_at": 0.0}


def limit_waits() -> None:
    """Limit all waits of this process from now on."""
    _limits["answer"] = ANSWER_SECONDS


def _check() -> None:
    if time.monotonic() < _limits["resumes_at"]:
        raise psycopg.OperationalError("the database did not answer a moment ago; it is asked again shortly")


def _timed_out() -> psycopg.OperationalError:
    _limits["resumes_at"] = time.monotonic() + PAUSE
    return psycopg.OperationalError(f"the database did not answer within {ANSWER_SECONDS:g} s")


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed when an answer does not arrive in time."""

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Any:
        if _limits["answer"] == float("inf"):
            return super().connect(*args, **options)
        _check()
        try:
            return super().connect(*args, **options | {"connect_timeout": 2})  # libpq's least
        except psycopg.errors.ConnectionTimeout:
            raise _timed_out() from None

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        if _limits["answer"] == float("inf"):
            return super().wait(gen, *args, **options)
        _check()
        try:
            return super().wait(gen, timeout=_limits["answer"])
        except _WaitTimeout:
            self.close()
            raise _timed_out() from None


class _Database:
    """psycopg, except that it connects as above."""

    connect = staticmethod(LimitedConnection.connect)

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg, name)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with connections that do not wait for ever."""

    Database = _Database()  # type: ignore[assignment]
