import errno
import fcntl
import threading
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from prometheus_client.core import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from articles.domain.readership import Suspicion
from articles.formatting import units
from articles.operation import metric_files, metrics
from tests.figures import samples_of, value, value_in
from voting_site import __version__


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


def count(folder: Path, pid: int, **amounts: float) -> None:
    """Write the files that a process leaves behind: a counter by label, and a histogram with one bucket."""
    counters = MmapedDict(str(folder / f"counter_{pid}.db"))
    for label, amount in amounts.items():
        counters.write_value(mmap_key("t", "t_total", ["label"], [label], "Help."), amount, 0.0)
    counters.close()
    histogram = MmapedDict(str(folder / f"histogram_{pid}.db"))
    for name, labels, values in (("h_bucket", ["le"], ["1.0"]), ("h_bucket", ["le"], ["+Inf"]), ("h_sum", [], [])):
        histogram.write_value(mmap_key("h", name, labels, values, "Help."), sum(amounts.values()), 0.0)
    histogram.close()


def read(folder: Path) -> str:
    registry = CollectorRegistry()
    registry.register(metric_files.AllProcesses(folder))
    return generate_latest(registry).decode()


def test_the_counts_of_all_processes_are_summed(tmp_path):
    count(tmp_path, 11, a=1, b=2)
    count(tmp_path, 12, a=10)

    assert value_in(read(tmp_path), "t_total", label="a") == 11
    assert value_in(read(tmp_path), "t_total", label="b") == 2
    assert value_in(read(tmp_path), "h_bucket", le="1.0") == 13


def test_an_ended_process_leaves_its_counts_and_no_files(tmp_path):
    for pid in (11, 12, 111):
        count(tmp_path, pid, a=pid, b=1)
    before = samples_of(read(tmp_path))

    assert metric_files.absorb(tmp_path, [11])
    assert metric_files.absorb(tmp_path, [12, 11])

    assert samples_of(read(tmp_path)) == before
    assert sorted(path.name for path in tmp_path.glob("*.db")) == [
        *("counter_0.db", "counter_111.db", "histogram_0.db", "histogram_111.db")
    ]


def test_files_are_not_merged_during_a_read(tmp_path):
    count(tmp_path, 11, a=5)
    with (tmp_path / "lock").open("a") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)

        assert not metric_files.absorb(tmp_path, [11])

        assert (tmp_path / "counter_11.db").exists()
    assert metric_files.absorb(tmp_path, [11])


def test_a_concurrent_reader_sees_every_count_once(tmp_path):
    for pid in range(100, 140):
        count(tmp_path, pid, a=1)
    seen, stop = set(), threading.Event()

    def reader():
        while not stop.is_set():
            seen.add(value_in(read(tmp_path), "t_total", label="a"))

    thread = threading.Thread(target=reader)
    thread.start()
    for pid in range(100, 140):
        while not metric_files.absorb(tmp_path, [pid]):
            pass
    stop.set()
    thread.join()

    assert seen == {40.0}


def test_a_newly_created_file_of_a_process_is_tolerated(tmp_path):
    count(tmp_path, 11, a=5)
    (tmp_path / "counter_12.db").touch()

    assert value_in(read(tmp_path), "t_total", label="a") == 5


def test_a_worker_that_ends_during_a_read_is_merged_with_the_next(tmp_path):
    count(tmp_path, 11, a=1)
    count(tmp_path, 12, a=1)
    ended = metric_files.EndedProcesses(tmp_path)
    with (tmp_path / "lock").open("a") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        ended.add(11)
    assert (tmp_path / "counter_11.db").exists()

    ended.add(12)

    assert not list(tmp_path.glob("*_1[12].db"))
    assert value_in(read(tmp_path), "t_total", label="a") == 2


@pytest.mark.parametrize("content", [b"\x40\0\0\0" + b"\x7f" * 60, b"\x40\0\0\0", b"\1"])
def test_a_damaged_file_is_dropped_without_affecting_the_others(tmp_path, content, caplog):
    (tmp_path / "counter_11.db").write_bytes(content)
    count(tmp_path, 12, a=1)
    ended = metric_files.EndedProcesses(tmp_path)

    ended.add(11)
    ended.add(12)

    assert "counter_11.db is damaged" in caplog.text
    assert value_in(read(tmp_path), "t_total", label="a") == 1


def test_counts_that_cannot_be_added_up_are_logged_and_do_not_end_the_server(tmp_path, caplog):
    metric_files.EndedProcesses(tmp_path / "missing").add(11)

    assert len(caplog.records) == 1


def test_a_single_process_writes_no_files(monkeypatch):
    monkeypatch.delenv(metric_files.VARIABLE, raising=False)

    metric_files.EndedProcesses(metric_files.directory()).add(11)
    metric_files.reserve_for_this_process()

    assert metric_files.directory() is None


def test_a_reserved_file_has_all_its_blocks_and_is_counted_in(tmp_path):
    metric_files.reserve(tmp_path, 11)

    files = list(tmp_path.glob("*_11.db"))
    assert {path.name for path in files} == {"counter_11.db", "histogram_11.db"}
    for path in files:
        assert path.stat().st_blocks * 512 >= metric_files.RESERVED_BYTES
    count(tmp_path, 11, a=3)
    assert value_in(read(tmp_path), "t_total", label="a") == 3
    assert (tmp_path / "counter_11.db").stat().st_size == metric_files.RESERVED_BYTES


def test_a_reservation_without_room_leaves_no_file(tmp_path, monkeypatch):
    def no_room(_file, _offset, _size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(metric_files.os, "posix_fallocate", no_room)

    with pytest.raises(OSError, match="No space left"):
        metric_files.reserve(tmp_path, 11)
    assert not list(tmp_path.iterdir())


# Figures for readers


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.9, "59 s"), (61, "1 min 1 s"), (3 * 3600 + 60, "3 h 1 min"), (90000, "1 d 1 h"), (-3, "0 s")],
)
def test_a_duration_is_shown_in_its_two_largest_units(seconds, words):
    assert units.span(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2.314, "2.31 s"), (0.0142, "14.2 ms"), (0.00085, "0.85 ms"), (0.000007, "7.0 µs")],
)
def test_a_short_duration_keeps_its_significant_digits(seconds, words):
    assert units.moment(seconds) == words
