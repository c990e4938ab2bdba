"""The ways readers differ: language, theme, with or without JavaScript, a wide screen or a phone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page

from tests.browser.visits import LOCALES, PHONE, WIDE
from tests.site_process import Site

_EXPECTED = (
    "Failed to load resource: the server responded with a status of 400",
    "Autofocus processing was blocked because a document already has a focused element.",
)
"""What Chromium logs of a refused form, which the journeys mean, and of typing before a page is drawn."""


@dataclass(frozen=True, slots=True)
class Look:
    language: str
    theme: Literal["light", "dark"]
    scripts: bool
    size: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.language}, {self.theme}, {'' if self.scripts else 'no '}scripts, {self.size[0]} px"


_VALUES = (("en", "zh-hans"), ("light", "dark"), (False, True), (PHONE, WIDE))
_ROWS = ("0000", "0111", "1011", "1101", "1110")
"""A covering array: every pair of values of any two of the four stands in one of the rows."""

_OFFERED = {code for code, _name in settings.LANGUAGES}
_EVERY = [Look(*(values[int(bit)] for values, bit in zip(_VALUES, row, strict=True))) for row in _ROWS]  # type: ignore[arg-type]
LOOKS = [look for look in _EVERY if look.language in _OFFERED]

_MARKS = [[], [pytest.mark.long], [pytest.mark.journey], [pytest.mark.long], [pytest.mark.long]]
"""`make test` tries Chinese with JavaScript on a wide screen, and CI the opposite, too."""

EVERY_LOOK = [pytest.param(look, id=str(look), marks=_MARKS[_EVERY.index(look)]) for look in LOOKS]
"""As a fixture's parameters."""


@contextmanager
def window(chromium: Browser, site: Site, look: Look) -> Iterator[Page]:
    """Open a window with that look. The console must stay clean, and no other host may be contacted."""
    context = chromium.new_context(
        base_url=f"http://localhost:{site.port}",
        locale=LOCALES[look.language],
        color_scheme=look.theme,
        java_script_enabled=look.scripts,
        viewport={"width": look.size[0], "height": look.size[1]},
        reduced_motion="reduce",
    )
    page, problems = context.new_page(), []
    own = (f"http://localhost:{site.port}/", "data:")
    page.on("console", lambda told: told.text.startswith(_EXPECTED) or problems.append(told.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: request.url.startswith(own) or problems.append(request.url))
    page.set_default_timeout(20_000)
    yield page
    context.close()
    assert problems == []


def send(page: Page, **fields: str) -> None:
    """Fill in the page's form and send it."""
    for name, value in fields.items():
        page.fill(f"main [name={name}]", value)
    page.click("main form.form button[type=submit]")
