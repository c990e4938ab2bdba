import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from prometheus_client.core import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector

from articles.domain.readership import Suspicion
from articles.formatting import units
from articles.operation import metric_files, metrics
from tests.figures import samples_of, value, value_in
from tests.source import ROOT
from voting_site import __version__

pytestmark = pytest.mark.deep


def test_the_version_is_a_metric():
    assert value("site_build_info", version=__version__) == 1


def test_a_script_is_timed_by_its_name():
    before = value("site_store_seconds_count", operation="votes/cast")

    metrics.observe("votes/cast", "ok", 0.002)

    assert value("site_store_seconds_count", operation="votes/cast") == before + 1


def test_a_script_without_a_duration_is_counted_but_not_timed():
    votes, timed = (
        value("site_votes_total", outcome="ok"),
        value("site_store_seconds_count", operation="votes/cast"),
    )

    metrics.observe("votes/cast", "ok", None)

    assert value("site_votes_total", outcome="ok") == votes + 1
    assert value("site_store_seconds_count", operation="votes/cast") == timed


@pytest.mark.parametrize("outcome", ["ok", "repeat", *Suspicion, "missing", "removed"])
def test_views_are_counted_by_outcome(outcome):
    views, refusals = value("site_views_total", outcome=outcome), value("site_refusals_total", cause=outcome)

    metrics.observe("readership/record_view", outcome, 0.001)

    assert value("site_views_total", outcome=outcome) == views + 1
    assert value("site_refusals_total", cause=outcome) == refusals


def test_a_view_repeated_after_its_counters_are_restored_counts_once():
    before = samples_of(metrics.exposition(None).decode())

    metrics.observe("readership/record_view", "archived", None)

    assert samples_of(metrics.exposition(None).decode()) == before


def test_a_refused_vote_counts_as_a_vote_and_a_refusal():
    votes, refusals = value("site_votes_total", outcome="closed"), value("site_refusals_total", cause="closed")

    metrics.observe("votes/cast", "closed", 0.001)

    assert value("site_votes_total", outcome="closed") == votes + 1
    assert value("site_refusals_total", cause="closed") == refusals + 1


def test_only_new_articles_count_as_posted():
    before = value("site_posts_total")

    for outcome in ("ok", "exists", "error"):
        metrics.observe("articles/post", outcome, 0.001)

    assert value("site_posts_total") == before + 1


def test_a_store_failure_counts_only_as_an_error():
    errors, votes = (
        value("site_store_errors_total", operation="votes/cast"),
        value("site_votes_total", outcome="ok"),
    )

    metrics.observe("votes/cast", "error", 0.5)

    assert value("site_store_errors_total", operation="votes/cast") == errors + 1
    assert value("site_votes_total", outcome="ok") == votes


def test_an_unknown_script_status_creates_no_series():
    for operation in ("votes/cast", "articles/post", "readership/record_view", "articles/edit"):
        metrics.observe(operation, "whatever", None)

    assert "whatever" not in metrics.exposition(None).decode()


def test_an_unknown_path_creates_no_series():
    middleware = metrics.MetricsMiddleware(lambda _request: HttpResponse(status=404))
    before = value("site_requests_total", view="unknown", method="other", status="404")

    for n in range(3):
        middleware(RequestFactory().generic(f"BREW{n}", f"/secret-{n}/"))

    assert value("site_requests_total", view="unknown", method="other", status="404") == before + 3
    text = metrics.exposition(None).decode()
    assert "secret" not in text
    assert "BREW" not in text


def test_static_files_share_one_label():
    middleware = metrics.MetricsMiddleware(lambda _request: HttpResponse())
    before = value("site_requests_total", view="static", method="GET", status="200")

    middleware(RequestFactory().get("/static/css/site.css"))

    assert value("site_requests_total", view="static", method="GET", status="200") == before + 1


def test_the_store_counts_as_up_only_if_its_figures_are_available():
    away, there = (metrics.exposition(figures).decode() for figures in (None, {"articles": 7.0}))

    assert value_in(away, "site_store_up") == 0
    assert "site_articles" not in away
    assert (value_in(there, "site_store_up"), value_in(there, "site_articles")) == (1, 7)
    assert "site_hot_list_age_seconds" not in there


# Many processes


class Counting:
    """A process that takes a number in a folder and counts until the test ends it."""

    def __init__(self, folder: Path, amount: int) -> None:
        program = (
            "from articles.operation import metric_files; metric_files.take_number()\n"
            "from prometheus_client import Counter, Gauge\n"
            f"Counter('t', 'Help.', ['label']).labels('a').inc({amount})\n"
            f"Gauge('g', 'Help.', multiprocess_mode='livesum').set({amount})\n"
            "print(flush=True); input()"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {metric_files.VARIABLE: str(folder)},
        )
        self._process.stdout.readline()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def counting(tmp_path):
    """Return a function that starts a process that counts in a folder."""
    metric_files.begin(tmp_path, 2)
    with ExitStack() as running:

        def start(amount):
            process = Counting(tmp_path, amount)
            running.callback(process.end)
            return process

        yield start


def read(folder: Path, name: str, **labels: str) -> float | None:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    return registry.get_sample_value(name, labels)


def test_the_counts_of_all_processes_are_summed(tmp_path, counting):
    for amount in (1, 2, 10):
        counting(amount)

    assert read(tmp_path, "t_total", label="a") == 13
    assert read(tmp_path, "g") == 13


def test_a_process_that_ends_leaves_its_counts_and_another_continues_in_its_files(tmp_path, counting):
    counting(1)
    counting(2).end()
    assert read(tmp_path, "t_total", label="a") == 3

    for amount in (10, 20):
        counting(amount).end()

    assert read(tmp_path, "t_total", label="a") == 33
    assert {path.name for path in tmp_path.glob("counter_*.db")} == {"counter_0.db", "counter_1.db"}


def test_the_gauges_of_a_process_that_ended_vanish_with_the_next(tmp_path, counting):
    counting(1)
    counting(20).end()

    counting(3)

    assert read(tmp_path, "g") == 4


def test_reserved_files_have_all_their_blocks_and_are_counted_in(tmp_path, counting):
    for path in tmp_path.glob("*.db"):
        assert path.stat().st_blocks * 512 >= metric_files.RESERVED_BYTES

    counting(3)

    assert read(tmp_path, "t_total", label="a") == 3
    assert (tmp_path / "counter_0.db").stat().st_size == metric_files.RESERVED_BYTES


def test_a_single_process_writes_no_files(monkeypatch):
    monkeypatch.delenv(metric_files.VARIABLE, raising=False)

    metric_files.take_number()

    assert "site_build_info" in metrics.exposition(None).decode()


# Figures for readers


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.9, "59 s"), (61, "1 min 1 s"), (3 * 3600 + 60, "3 h 1 min"), (90000, "1 d 1 h"), (-3, "0 s")],
)
def test_a_duration_is_shown_in_its_two_largest_units(seconds, words):
    assert units.span(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.314, "2.31 s"), (0.0142, "14.2 ms"), (0.00085, "0.85 ms"), (0.000007, "7.0 µs")]
)
def test_a_short_duration_keeps_its_significant_digits(seconds, words):
    assert units.moment(seconds) == words
