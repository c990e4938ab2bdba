"""A running site whose store goes away."""

import os
import signal
import time
from contextlib import contextmanager

import pytest

from tests.site_process import DEADLINE, store_of
from tests.store_state import server_info
from tests.waiting import until
from voting_site.embedded import StorePaths, Supervisor

NOTICE = "Part of the site is down"
LONGEST = 10.0
"""Seconds that an answer may take on a busy machine; a store that is waited for would take a minute."""


@pytest.fixture(scope="module")
def running(module_start):
    started = module_start(STORE_TIMEOUT_MS="500")
    started.wait_until_up()
    return started


@pytest.fixture
def site(running):
    """A site with the demo content, whose front page has been read."""
    until(lambda: running.get("/")[0] == 200 and copies(running), DEADLINE, running.told)
    return running


def copies(site):
    folder = site.data_dir / "kept_pages"
    return [path for path in folder.iterdir() if not path.name.startswith(".")] if folder.is_dir() else []


@contextmanager
def hanging_store(site):
    """Let the store answer nothing inside the block."""
    pid = server_info(store_of(site))["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def timed(site, path):
    began = time.monotonic()
    status, page = site.get(path)
    assert time.monotonic() - began < LONGEST, path
    return status, page


def test_while_the_store_hangs_readers_see_copies_and_afterwards_the_site(site):
    with hanging_store(site):
        for _ in range(4):
            status, page = timed(site, "/")
            assert (status, NOTICE in page) == (200, True)
        assert timed(site, "/healthz") == (200, "alive\n")
        assert timed(site, "/readyz")[0] == 503

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
        until(lambda: "Demo content added" in site.told(), DEADLINE, site.told)
        assert site.stop() == 0
    finally:
        store.stop()


def test_the_main_lists_are_kept_although_nobody_reads_them(site):
    until(lambda: len(copies(site)) >= 10, DEADLINE, site.told)  # five lists in two languages
    with hanging_store(site):
        assert [timed(site, path)[0] for path in ("/newest/", "/hot/", "/top/", "/groups/")] == [200] * 4
