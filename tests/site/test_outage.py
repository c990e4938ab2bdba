"""A running site whose store goes away."""

import shutil
import time

import pytest

from tests.damage import damage
from tests.site_process import DEADLINE
from tests.slow_store import load_fast, slow_loading_in
from tests.waiting import until
from tests.web_processes import NOTICE, copies, hanging_store, store_of
from voting_site.embedded import StorePaths, Supervisor
from voting_site.serving.workers.recent_pages import USABLE

"""Seconds that an answer may take on a busy machine; a store that is waited for would take a minute."""


@pytest.fixture(scope="module")
def running(module_start):
    started = module_start(STORE_TIMEOUT_MS="500")
    started.wait_until_up()
    return started


@pytest.fixture
def site(running):
    """A site with content, whose front page has been read."""
    until(lambda: running.get("/")[0] == 200 and copies(running), DEADLINE, running.told)
    return running


@pytest.fixture
def stopped(start):
    """A site of its own, which has copies of the main lists and is stopped."""
    site = start(STORE_TIMEOUT_MS="500")
    site.wait_until_up()
    until(lambda: site.get("/")[0] == 200 and len(copies(site)) >= 10, DEADLINE, site.told)
    assert site.stop() == 0
    return site


@pytest.fixture
def slow_loading(tmp_path):
    return slow_loading_in(tmp_path / "slow", microseconds=4000)


def test_while_the_store_hangs_readers_see_copies_and_afterwards_the_site(site):
    with hanging_store(store_of(site)):
        ends = time.monotonic() + USABLE  # until then, each web process may have a recent page
        until(lambda: time.monotonic() > ends, DEADLINE)
        for _ in range(4):
            status, page = site.get("/")
            assert (status, NOTICE in page) == (200, True)
        assert site.get("/healthz") == (200, "alive\n")
        assert site.get("/readyz")[0] == 503

    until(lambda: NOTICE not in site.get("/")[1], DEADLINE, site.told)
    until(lambda: site.get("/readyz")[0] == 200, DEADLINE, site.told)


def test_without_its_own_store_the_site_starts_says_so_and_continues_once_it_answers(start, tmp_path):
    store = Supervisor(StorePaths(tmp_path / "elsewhere"))
    site = start(first=True, REDIS_URL=store.paths.url(0), STORE_TIMEOUT_MS="500")
    site.wait_until_up()
    assert "Warning: The store does not answer" in site.told()
    assert [site.get(path)[0] for path in ("/healthz", "/readyz", "/")] == [200, 503, 503]

    store.start(DEADLINE)
    try:
        until(lambda: site.get("/readyz")[0] == 200, DEADLINE, site.told)
        assert site.stop() == 0
    finally:
        store.stop()


def test_the_main_lists_are_kept_even_if_no_one_reads_them(site):
    until(lambda: len(copies(site)) >= 15, DEADLINE, site.told)  # five lists in three languages
    with hanging_store(store_of(site)):
        assert [site.get(path)[0] for path in ("/newest/", "/hot/", "/top/", "/groups/")] == [200] * 4


@pytest.mark.long
def test_while_its_own_store_is_loading_the_site_starts_and_serves_copies(stopped, start, slow_loading):
    again = start(STORE_TIMEOUT_MS="500", PORT=str(stopped.port), **slow_loading)
    again.wait_until_up()

    assert "Warning: The store does not answer (it is still loading)" in again.told()
    status, page = again.get("/")
    assert (status, NOTICE in page) == (200, True)
    assert [again.get(path)[0] for path in ("/healthz", "/readyz")] == [200, 503]
    load_fast(again.data_dir)
    until(lambda: again.get("/readyz")[0] == 200, DEADLINE, again.told)
    assert again.stop() == 0


def test_a_store_that_cannot_be_loaded_ends_a_site_already_started(filled_data, start, slow_loading, tmp_path):
    shutil.copytree(filled_data, tmp_path / "data")
    (journal,) = (tmp_path / "data" / "store" / "appendonlydir").glob("*.incr.aof")
    damage(journal)

    site = start(STORE_TIMEOUT_MS="500", **slow_loading)
    site.wait_until_up()
    load_fast(site.data_dir)

    assert site.process.wait(DEADLINE) == 1
    assert "is damaged and cannot be loaded" in site.told()
    assert "Traceback" not in site.told()
    assert not site.processes()
