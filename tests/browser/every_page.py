"""Checks that hold on every page of the site, in both themes, on wide and narrow screens.

Each language has its own test file, so that both run in parallel.

Screenshots of each page, in both themes at two widths, go to test-artefacts/pages unless NO_PICTURES is set.
With EACH_PAGE_ONCE, each page is visited in one language, and checked by axe in one size and theme; these change
from page to page.
"""

import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.browser import html_checker
from tests.browser.conftest import ARTEFACTS
from tests.browser.pages import PAGES, Page, name_of
from tests.browser.sites import Sites
from tests.browser.visits import LOCALES, LOOKS, SEEN, Look, Visits

ONCE = "EACH_PAGE_ONCE" in os.environ


def pages_in(language: str) -> list[Page]:
    """Return the pages that this run visits in a language."""
    if not ONCE:
        return list(PAGES)
    languages = list(LOCALES)
    return [page for n, page in enumerate(PAGES) if languages[n % len(languages)] == language]


def looks_of(page: Page, language: str) -> list[Look]:
    """Return the sizes and themes in which this run lets axe check a page in a language."""
    return [LOOKS[PAGES.index(page) % len(LOOKS)]] if ONCE else SEEN[language]


def on_every_page(language: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [pytest.param(page, id=str(page)) for page in pages_in(language)])


@pytest.fixture(scope="module")
def language(request) -> str:
    return request.module.LANGUAGE


@pytest.fixture(scope="module")
def visits(chromium, language, tmp_path_factory, static_files: Path) -> Iterator[Visits]:
    sites = Sites(tmp_path_factory.mktemp("sites"), static_files)
    found = Visits(chromium, sites, looks_of, ARTEFACTS / "pages", of_all="NO_PICTURES" not in os.environ)
    yield found
    ARTEFACTS.mkdir(exist_ok=True)
    (ARTEFACTS / f"every-page-{language}.json").write_text(
        json.dumps(found.report(), ensure_ascii=False, indent=1), "utf-8"
    )
    found.close()
    sites.stop()


@pytest.fixture(scope="module")
def invalid(visits, language, tmp_path_factory) -> dict[str, list[str]]:
    """Return the HTML checker's findings for each page, by page name."""
    sources = {str(page): visits.of(page, language).source for page in pages_in(language)}
    return html_checker.problems(sources, tmp_path_factory.mktemp("sources"))


class EveryPage:
    def test_the_page_is_the_one_in_the_catalogue(self, visits, page, language):
        visit = visits.of(page, language)

        assert visit.status == page.status
        assert visit.outline["lang"].lower() == language

    def test_the_console_stays_clean_and_no_other_host_is_contacted(self, visits, page, language):
        visit = visits.of(page, language)

        assert visit.said == []
        assert visit.requests == []

    def test_headings_and_landmarks_structure_the_page(self, visits, page, language):
        outline = visits.of(page, language).outline

        assert outline["headings"].count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(outline["headings"]))
        assert outline["landmarks"] == ([0, 1, 0] if page.status == 500 else [1, 1, 1])
        assert len(set(outline["navigations"])) == len(outline["navigations"])
        assert outline["title"].endswith(" – Article Voting") or outline["title"] == "Article Voting"

    def test_every_time_carries_its_zone(self, visits, page, language):
        source = re.sub(
            "<svg.*?</svg>", "", visits.of(page, language).source, flags=re.DOTALL
        )  # the axes of charts

        assert re.findall(r'[^">]*(?<![\dT:+-])\d\d:\d\d(?!:?\d| UTC)[^"<]*', source) == []

    def test_axe_finds_no_violations(self, visits, page, language):
        assert visits.of(page, language).violations == []

    def test_the_page_needs_no_horizontal_scrolling_at_320_pixels(self, visits, page, language):
        assert visits.of(page, language).reflow == []

    def test_large_letters_fit_on_a_phone(self, visits, page, language):
        assert visits.of(page, language).letters == []

    def test_wider_text_spacing_cuts_nothing_off(self, visits, page, language):
        assert visits.of(page, language).spacing == []

    def test_the_focused_element_shows_the_focus(self, visits, page, language):
        assert visits.of(page, language).focus == []

    def test_every_target_is_large_enough_for_a_finger(self, visits, page, language):
        assert visits.of(page, language).targets == []

    # The first of these visits each page that no test before it has visited.
    @pytest.mark.timeout(1800)
    def test_the_html_is_valid(self, invalid, page, language):
        assert invalid[str(page)] == []


class EveryTitle:
    def test_every_view_has_its_own_titles(self, visits, language):
        views: dict[str, set[str]] = {}
        for page in pages_in(language):
            if page.status < 400:
                views.setdefault(visits.of(page, language).outline["title"], set()).add(name_of(page))

        assert {title: found for title, found in views.items() if len(found) > 1} == {}
