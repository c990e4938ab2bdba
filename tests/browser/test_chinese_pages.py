"""Every page in Chinese."""

import pytest

from tests.browser.every_page import EveryPage, EveryTitle, invalid, language, on_every_page, visits

__all__ = ["invalid", "language", "visits"]

LANGUAGE = "zh-hans"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@on_every_page(LANGUAGE)
class TestEveryPage(EveryPage):
    pass


class TestEveryTitle(EveryTitle):
    pass
