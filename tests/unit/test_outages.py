"""What the log says of an outage."""

import logging

import pytest

from articles.domain.errors import StoreUnavailable
from articles.operation import outages
from articles.operation.outages import Outage
from voting_site.configuration.logs import OutagesReportedOnce


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def outage(clock):
    return Outage("the store", clock)


def lines(caplog):
    return [record.getMessage() for record in caplog.records]


def test_an_outage_is_reported_once_not_at_every_request(outage, clock, caplog):
    for _ in range(500):
        outage.failed(StoreUnavailable("refused"))
        clock.now += 0.1

    assert lines(caplog) == ["the store is unavailable: StoreUnavailable: refused"]


def test_an_outage_that_lasts_is_reported_once_a_minute(outage, clock, caplog):
    for _ in range(241):
        outage.failed(StoreUnavailable("refused"))
        clock.now += 0.5

    assert len(lines(caplog)) == 3
    assert lines(caplog)[1].startswith("the store is unavailable since 60 s, 121 requests failed; now:")


def test_the_end_of_an_outage_is_reported_once(outage, clock, caplog):
    for _ in range(3):
        outage.failed(StoreUnavailable("refused"))
        clock.now += 1
    clock.now += 10
    outage.answered()
    outage.answered()

    assert lines(caplog)[1:] == ["the store is back after 2.0 s; 3 requests failed"]


def test_answers_between_failures_do_not_end_an_outage(outage, clock, caplog):
    for _ in range(40):
        outage.failed(StoreUnavailable("read-only"))
        clock.now += 1
        outage.answered()

    assert len(lines(caplog)) == 1


def test_a_failure_long_after_the_last_one_is_a_new_outage(outage, clock, caplog):
    outage.failed(StoreUnavailable("a"))
    clock.now += 3600
    outage.failed(StoreUnavailable("b"))

    assert lines(caplog)[1] == "the store is unavailable: StoreUnavailable: b"


def test_errors_of_the_store_and_of_the_database_are_reported_apart(monkeypatch, caplog):
    monkeypatch.setattr(outages, "STORE", Outage("the store"))
    monkeypatch.setattr(outages, "ACCOUNTS", Outage("the accounts database"))
    outages.report(StoreUnavailable("a"))
    outages.report(OSError("b"))

    assert [line.partition(" is ")[0] for line in lines(caplog)] == ["the store", "the accounts database"]


@pytest.mark.parametrize(
    ("name", "status", "logged"), [("django.request", 503, False), ("django.request", 500, True), ("x", 503, True)]
)
def test_only_djangos_own_line_about_an_outage_is_dropped(name, status, logged):
    record = logging.LogRecord(name, logging.ERROR, "", 0, "Service Unavailable: /", (), None)
    record.status_code = status

    assert OutagesReportedOnce().filter(record) is logged
