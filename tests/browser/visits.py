"""One visit to a page of the catalogue: what the browser logged, and what the page then shows."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page as Window, Request, Response

from tests.browser import axe
from tests.browser.pages import Page
from tests.browser.sites import Sites, Staged

LOCALES = {"en": "en-GB", "zh-hans": "zh-CN"}  # what the browser asks for, by the language the page then has
WIDE, PHONE, NARROW = (1280, 900), (390, 800), (320, 256)  # NARROW is a screen of 1280 × 1024 at 400 %
Look = tuple[tuple[int, int], str]  # a size and a theme
LOOKS: list[Look] = [(WIDE, "light"), (PHONE, "dark"), (WIDE, "dark"), (PHONE, "light")]
"""Sizes and themes of the pictures of each page."""

SEEN = {"en": LOOKS[:2], "zh-hans": LOOKS[2:]}
"""Sizes and themes in which axe checks each page, by its language: every two of language, size and theme occur
together once."""

_OF_THE_STATUS = "Failed to load resource: the server responded with a status of"
"""Said of the page itself where an error is meant, and of parts of a page, whose answers are noted anyway."""

_TELL_OF_POLICY = """addEventListener('securitypolicyviolation', breach =>
    console.error(`policy: ${breach.violatedDirective} ${breach.blockedURI} ${breach.sourceFile}`))"""


@dataclass
class Visit:
    """The findings of a visit. Lists of problems are empty if all is well."""

    status: int = 0
    source: str = ""
    said: list[str] = field(default_factory=list)
    """Console messages, script errors, breaches of the content security policy."""

    requests: list[str] = field(default_factory=list)  # those that failed, and those to elsewhere
    outline: dict[str, Any] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    reflow: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    spacing: list[str] = field(default_factory=list)
    focus: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


@cache
def _probes() -> str:
    return Path(__file__).with_name("probes.js").read_text("utf-8")


class Visits:
    """Visits that open each page once in each language and keep the findings."""

    def __init__(
        self,
        chromium: Browser,
        sites: Sites,
        looks_of: Callable[[Page, str], list[Look]],
        pictures: Path,
        *,
        of_all: bool = True,
    ) -> None:
        """Save screenshots in the folder: of all pages, or only of those with problems.

        `looks_of`: in which sizes and themes axe checks a page in a language.
        """
        self._chromium, self._sites, self._looks_of = chromium, sites, looks_of
        self._pictures, self._of_all = pictures, of_all
        self._windows: dict[tuple[str, str, str], Window] = {}
        self._found: dict[tuple[str, str], Visit] = {}
        self._visits: dict[Window, Visit] = {}

    def of(self, page: Page, language: str) -> Visit:
        key = (page.name, language)
        if key not in self._found:
            visit = self._found[key] = Visit()
            window = self._open(page, language, visit)
            picture = self._pictures / language / re.sub(r"\W+", "-", page.name)
            self._look(window, self._looks_of(page, language), visit, picture)
        return self._found[key]

    def report(self) -> dict[str, dict[str, Any]]:
        """Return all findings except the pages' sources."""
        return {
            f"{name} {language}": {key: value for key, value in asdict(visit).items() if key != "source"}
            for (name, language), visit in self._found.items()
        }

    def close(self) -> None:
        for window in self._windows.values():
            window.context.close()

    def _open(self, page: Page, language: str, visit: Visit) -> Window:
        staged = self._sites.of(page)
        window = self._window(staged, page.who, language)
        self._visits[window] = visit
        _be(window, WIDE)
        if page.status == 500:
            broken = staged.told["failed"][language]
            window.route(
                "**/fails/", lambda route: route.fulfill(body=broken, content_type="text/html", status=500)
            )
        if page.site == "stopped":
            window.goto("about:blank")  # the page before asks for new counts from time to time
        with staged.interrupted(page):
            answer = window.goto(staged.address(page))
        if page.act:
            answer = page.act(window) or answer
        assert answer is not None
        visit.status, visit.source = answer.status, answer.text()
        return window

    def _look(self, window: Window, looks: list[Look], visit: Visit, picture: Path) -> None:
        window.evaluate(_probes())
        visit.outline = window.evaluate("probes.outline()")
        for size, theme in LOOKS if self._of_all else ():
            _be(window, size, theme)
            _take(window, f"{picture}-{size[0]}-{theme}.png")
        window.evaluate("probes.openDetails()")
        axe.load(window)
        for size, theme in looks:
            _be(window, size, theme)
            if found := axe.violations(window):
                visit.violations += [f"{size[0]} {theme}: {line}" for line in found]
                _take(window, f"{picture}-{size[0]}-{theme}-axe.png")
        _be(window, PHONE)
        visit.targets = _small_targets(window)
        window.keyboard.press("Tab")
        visit.focus = window.evaluate("probes.withoutFocusRing()")
        _be(window, NARROW)
        visit.reflow = window.evaluate("probes.tooWide()")
        visit.spacing = window.evaluate("probes.cutBySpacing()")
        for width in (NARROW[0], PHONE[0]):
            _be(window, (width, 844))
            visit.letters += window.evaluate("probes.atLargeLetters()")
        if visit.reflow or visit.spacing:
            _take(window, f"{picture}-{NARROW[0]}.png")

    def _window(self, staged: Staged, who: str, language: str) -> Window:
        key = (staged.origin, who, language)
        if key not in self._windows:
            context = self._chromium.new_context(locale=LOCALES[language], reduced_motion="reduce")
            context.add_cookies(staged.cookies(who))  # type: ignore[arg-type]
            self._windows[key] = context.new_page()
            self._listen(self._windows[key], staged.origin)
        return self._windows[key]

    def _listen(self, window: Window, origin: str) -> None:
        """Note what happens in this window for its own visit: pages left open in others still ask for counts."""

        def console(text: str) -> None:
            if not text.startswith(_OF_THE_STATUS):
                self._visits[window].said.append(text)

        def asked(request: Request) -> None:
            if not request.url.startswith((f"{origin}/", "data:")):
                self._visits[window].requests.append(f"to elsewhere: {request.url}")

        def answered(answer: Response) -> None:
            is_refused_form = (answer.request.method, answer.status) == ("POST", 400)  # drafts.js sends it first
            if answer.status >= 400 and not answer.request.is_navigation_request() and not is_refused_form:
                self._visits[window].requests.append(f"{answer.status}: {answer.url}")

        def failed(request: Request) -> None:
            if request.failure != "net::ERR_ABORTED":  # the page was left in the meantime
                self._visits[window].requests.append(f"{request.failure}: {request.url}")

        window.on("console", lambda message: console(message.text))
        window.on("pageerror", lambda error: self._visits[window].said.append(str(error)))
        window.on("request", asked)
        window.on("response", answered)
        window.on("requestfailed", failed)
        window.add_init_script(_TELL_OF_POLICY)


def _be(window: Window, size: tuple[int, int], theme: Any = "light") -> None:
    window.set_viewport_size({"width": size[0], "height": size[1]})
    window.emulate_media(color_scheme=theme)


def _take(window: Window, path: str) -> None:
    window.screenshot(path=path, full_page=True)


def _small_targets(window: Window) -> list[str]:
    """Return targets that are too small on a touch screen."""
    session = window.context.new_cdp_session(window)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
    found: list[str] = window.evaluate("probes.smallTargets()")
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    session.detach()
    return found
