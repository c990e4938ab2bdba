"""Windows of readers and members that record every problem."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from playwright.sync_api import Browser, Locator, Page, Route, StorageState

from articles.repository import Repository
from tests.cast import PASSWORD
from tests.site_process import Site
from tests.waiting import until

_MEANT = ("Failed to load resource", "Autofocus processing was blocked")
"""What a browser logs of an answer of 400 and above, of a request that a test breaks off, and of early typing."""


@contextmanager
def window(chromium: Browser, site: Site, member: str | None = None, **options: object) -> Iterator[Page]:
    """Open a window, logged in as the named member, if any, of `tests/content.py`."""
    if member:
        options["storage_state"] = _logged_in(chromium, site, member)
    context = chromium.new_context(base_url=f"http://localhost:{site.port}", **options)
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda told: any(one in told.text for one in _MEANT) or problems.append(told.text))
    yield page
    context.close()
    assert problems == []


_states: dict[tuple[int, str], StorageState] = {}


def _logged_in(chromium: Browser, site: Site, name: str) -> StorageState:
    """Return a member's cookies; each member logs in once per site."""
    if (site.port, name) not in _states:
        context = chromium.new_context(base_url=f"http://localhost:{site.port}")
        log_in(context.new_page(), site, name)
        _states[site.port, name] = context.storage_state()
        context.close()
    return _states[site.port, name]


def log_in(page: Page, site: Site, name: str) -> None:
    """Log in with a password; open the form first if necessary."""
    if "/login/" not in page.url:
        page.goto("/login/")
    fill_in_password(page, site, name)
    page.wait_for_url(lambda address: "/login/" not in address)


def fill_in_password(page: Page, site: Site, name: str) -> None:
    """Fill in the login form and send it."""
    page.fill("main [name=username]", name)
    page.fill("main [name=password]", PASSWORD)
    page.click("main form button[type=submit]")


def follow_in_account_menu(page: Page, selector: str) -> None:
    """Open the account's menu in the header, and click on what it holds."""
    page.click(".account summary")
    page.click(f".account {selector}")


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the element has the focus, which must be visible."""
    for _ in range(400):
        if target.evaluate("found => found === document.activeElement"):
            assert target.evaluate("found => found.matches(':focus-visible')")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {target}")


def hold(page: Page, pattern: str | re.Pattern[str]) -> list[Route]:
    """Hold requests until the test releases them."""
    held: list[Route] = []
    page.route(pattern, lambda route: held.append(route))  # noqa: PLW0108 - a builtin cannot be wrapped
    return held


def wait_for(page: Page, condition: Callable[[], object]) -> None:
    """Wait until the condition holds, handling the browser's events meanwhile."""
    until(lambda: page.wait_for_timeout(1) or condition())


def settle(page: Page) -> None:
    """Wait two frames, until the page's scripts have handled the latest response."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


_links = count()


def posted(site_store: Repository, title: str = "New", groups: Sequence[str] = ()) -> int:
    """Let a member post an article with a link that no other has; return its id."""
    return site_store.articles.post(77, "somebody", title, f"https://example.org/new/{next(_links)}", groups).id


def row_of(article: int) -> str:
    return f"#article-{article}"


def shown_ids(page: Page) -> list[int]:
    """Return the ids of the articles in the order of the list."""
    ids = page.locator("main .rows > .row").evaluate_all("rows => rows.map(row => row.id)")
    return [int(found.removeprefix("article-")) for found in ids]
