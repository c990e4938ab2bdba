"""A real browser, if the machine has one, and a site for it."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from articles.repository import Repository
from tests.site_process import DEADLINE, Site, stopped_site, store_of
from tests.waiting import until

_CHROMIUM, _HEADLESS_SHELL = Path("/usr/bin/chromium"), Path("/usr/bin/chromium-headless-shell")

CHROMIUM = _HEADLESS_SHELL if _HEADLESS_SHELL.exists() else _CHROMIUM
"""Debian has Chromium's engine also without windows. That opens pages in half the time."""

expect.set_options(timeout=30_000)  # a busy machine must not fail a test

ARTEFACTS = Path(settings.BASE_DIR) / "test-artefacts"  # pictures that tests leave behind; not in git


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser, not for the whole session: while it runs, Django treats the thread as asynchronous."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=options)
        browser.new_context = partial(_context, browser.new_context)
        yield browser
        browser.close()


def _context(new_context: Callable[..., BrowserContext], **options: Any) -> BrowserContext:
    """Open a context without the site's worker, unless it is allowed: tests cannot hold pages that it answers."""
    context = new_context(**options)
    if options.get("service_workers") != "allow":
        context.add_init_script("delete Navigator.prototype.serviceWorker")
    return context


VOTES_PER_DAY = "200"  # with this weight of a vote, what a test posts is on the front page


@pytest.fixture(scope="session")
def filled_data(tmp_path_factory: pytest.TempPathFactory, static_files: Path) -> Path:
    """The data directory of a stopped site with content."""
    return stopped_site(tmp_path_factory, "filled-of-browsers", static_files, VOTES_PER_DAY=VOTES_PER_DAY)


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory, filled_data: Path) -> Iterator[Site]:
    """A site with content, shared by all tests of a module."""
    data_dir = tmp_path_factory.mktemp("site") / "data"
    shutil.copytree(filled_data, data_dir)
    # Tests change the store from outside, and then look at once. What one worker finds, another may find later.
    running = Site(data_dir, VOTES_PER_DAY=VOTES_PER_DAY, RECENT_PAGES="off", WEB_WORKERS="1")
    running.wait_until_up()
    until(lambda: 'class="row"' in str(running.get("/search/?q=redis")), DEADLINE)  # the index is open
    yield running
    running.stop()


@pytest.fixture(scope="module")
def site_store(site: Site) -> Repository:
    """The running site's store, opened from outside the site."""
    return store_of(site)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Save a screenshot of the window when a test fails."""
    report = yield
    window = getattr(item, "funcargs", {}).get("page")
    if report.when == "call" and report.failed and isinstance(window, Page):
        name = re.sub(r"\W+", "-", item.nodeid)
        with suppress(Error):  # a page that waits for a response may not allow a screenshot
            window.screenshot(path=ARTEFACTS / "failures" / f"{name}.png", full_page=True, timeout=5_000)
    return report
