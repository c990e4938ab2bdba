"""Metrics of a running site whose workers start and end."""

import os
import signal
from types import SimpleNamespace

from django.conf import settings

from articles.operation import metric_files
from tests.figures import value_in
from tests.site_process import DEADLINE
from tests.waiting import until
from tests.web_processes import counted, folder_of_metrics, workers_of
from voting_site.serving import metrics_folder


def front_pages(site):
    labels = {"view": "articles:front", "method": "GET", "status": "200"}
    return value_in(site.get("/metrics")[1], "site_requests_total", **labels)


def test_the_counts_of_all_workers_are_summed_and_outlive_each_worker(start):
    site = start(is_empty=True, WEB_WORKERS="3")
    site.wait_until_up()
    for _ in range(60):
        assert site.get("/")[0] == 200
    assert front_pages(site) == 60
    assert len(metric_files.memory_in(folder_of_metrics(site))) == 5, "the web server, workers and housekeeper"
    assert value_in(site.get("/metrics")[1], "site_web_memory_bytes") > 5 * 10e6

    for number in (signal.SIGTERM, signal.SIGKILL) * 2:
        before = workers_of(site)
        for victim in before:
            os.kill(victim, number)
        until(lambda before=before: len(workers_of(site) - before) == 3, DEADLINE, site.told)
        assert front_pages(site) == 60

    assert len(counted(site)) <= 8, "the process that watches, and three workers, each with a successor"
    assert site.get("/")[0] == 200
    assert front_pages(site) == 61
    assert value_in(site.get("/metrics")[1], "site_store_up") == 1
    assert "Traceback" not in site.told()
    assert site.stop() == 0


def test_a_restart_counts_from_zero(start):
    first = start(is_empty=True)
    first.wait_until_up()
    first.get("/")
    assert front_pages(first) == 1
    counts = folder_of_metrics(first)
    first.stop()
    assert not counts.exists(), "it is removed with the site"
    counts.mkdir(mode=0o700)
    (counts / "counter_12345.db").touch()

    second = start(is_empty=True, PORT=str(first.port))
    second.wait_until_up()

    assert front_pages(second) == 0
    assert folder_of_metrics(second) == counts
    assert not (counts / "counter_12345.db").exists()
    assert second.stop() == 0


def test_a_folder_in_memory_that_a_killed_site_left_is_not_taken_for_one_on_disk(tmp_path, monkeypatch):
    address = f"{settings.HOST}:{settings.PORT}"
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path / "data")
    monkeypatch.setattr(metrics_folder, "SHARED_MEMORY", tmp_path)
    assert metrics_folder.find() is None
    with metrics_folder.metrics_folder(settings.DATA_DIR, address, 1) as left_behind:
        assert metrics_folder.find() == left_behind
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=0, f_frsize=4096))

        with metrics_folder.metrics_folder(settings.DATA_DIR, address, 1) as folder:
            assert folder.is_relative_to(settings.DATA_DIR)
            assert metrics_folder.find() == folder
    assert metrics_folder.find() is None


def test_a_metrics_token_is_required_from_local_requests_too(start):
    site = start(is_empty=True, METRICS_TOKEN="a token of some length")
    site.wait_until_up()

    assert site.get("/metrics")[0] == 404
    assert site.stop() == 0
