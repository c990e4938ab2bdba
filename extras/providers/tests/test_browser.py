"""Signing up at a provider by keyboard, and the pages on the way: in the dark theme, on a narrow screen."""

import shutil

import pytest
from playwright.sync_api import expect

from extras.providers.tests.own_provider import SECRET, OwnProvider
from tests.browser import axe, html_checker
from tests.browser.conftest import chromium  # noqa: F401 - fixtures
from tests.browser.windows import tab_to, window
from tests.site_process import Site

pytestmark = pytest.mark.browser


@pytest.fixture
def provider():
    provider = OwnProvider()
    provider.claims = {"preferred_username": "dora", "email": "dora@example.org"}
    yield provider
    provider.stop()


@pytest.fixture
def site_with_provider(chromium, provider, tmp_path, static_files):  # noqa: F811
    data_dir = tmp_path / "data"
    shutil.copytree(static_files.parent, data_dir)
    site = Site(data_dir, RECENT_PAGES="off", OIDC_CLUB=f"{provider.issuer} site {SECRET}")
    site.wait_until_up()
    yield site
    site.stop()


def look(page, name, sources):
    """Check a page as every page is checked."""
    sources[name] = page.content()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"
    axe.load(page)
    assert axe.violations(page) == []


def press(page, name):
    tab_to(page, page.get_by_role("button", name=name))
    page.keyboard.press("Enter")


def test_a_newcomer_signs_up_at_a_provider_without_a_mouse(chromium, site_with_provider, tmp_path):  # noqa: F811
    sources = {}
    with window(chromium, site_with_provider, color_scheme="dark", viewport={"width": 390, "height": 800}) as page:
        page.goto("/login/?next=/about/")
        look(page, "login", sources)
        press(page, "Log in with Club")

        expect(page.locator("main [name=username]")).to_have_value("dora")
        look(page, "newcomer", sources)
        press(page, "Sign up")
        page.wait_for_url("**/about/")

        page.goto("/settings/security/")
        expect(page.locator("main")).to_contain_text("dora@example.org")
        look(page, "security", sources)

    assert html_checker.problems(sources, tmp_path) == {name: [] for name in sources}
