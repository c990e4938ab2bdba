"""`make screenshots`: the screenshots in README and docs/, taken on a separate site as a first start fills it.

The content is the same each time: articles, votes and views come from a fixed seed, with times relative to the
start, and the screenshots are taken at once.
"""

import base64
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import django
from django.conf import settings
from playwright.sync_api import Page, sync_playwright

django.setup()  # tests of extras have doors that import models

from tests import extras  # noqa: E402
from tests.browser.conftest import CHROMIUM  # noqa: E402
from tests.browser.visits import LOCALES  # noqa: E402
from tests.content import MODERATOR  # noqa: E402
from tests.site_process import Site  # noqa: E402

FOLDER = Path(settings.BASE_DIR) / "docs" / "pictures"
LIMIT = 150_000  # bytes of one picture: they travel with every clone


def _nothing(_page: Page) -> None:
    pass


def _unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('main details:not(.drop)').forEach(one => (one.open = true))")


@dataclass(frozen=True)
class Picture:
    """A screenshot. `name`: its file name without the extension."""

    name: str
    address: str
    language: str = "en"
    theme: Literal["light", "dark"] = "light"
    size: tuple[int, int] = (1280, 860)
    member: bool = False
    act: Callable[[Page], None] = _nothing


PICTURES = (
    Picture("front-page", "/"),
    Picture("front-page-chinese-dark", "/", "zh-hans", "dark"),
    Picture("phone", "/", "en", "light", (390, 844)),
    Picture("phone-chinese-dark", "/hot/", "zh-hans", "dark", (390, 844)),
    Picture("reasons", "/articles/40/why/", act=_unfold),
    *(Picture(*picture, member=True) for pictures in extras.all_of("PICTURES") for picture in pictures.items()),
)


_SESSION = f"""
from django.test import Client
from accounts.models import User
browser = Client()
browser.force_login(User.objects.get(username="{MODERATOR}"))
print(browser.cookies["sessionid"].value)
"""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        as_it_is = dict.fromkeys(extras.joined("QUIET"), "")
        site = Site(Path(folder) / "data", SITE_NAME="Article Voting", **as_it_is)
        try:
            site.wait_until_up()
            site.fill()
            browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
            offered = {code for code, _name in settings.LANGUAGES}
            for picture in PICTURES:
                if picture.language in offered:
                    context = browser.new_context(
                        base_url=f"http://localhost:{site.port}",
                        locale=LOCALES[picture.language],
                        color_scheme=picture.theme,
                        viewport={"width": picture.size[0], "height": picture.size[1]},
                        device_scale_factor=2 if picture.size[0] < 500 else 1,
                        reduced_motion="reduce",
                    )
                    page = context.new_page()
                    if picture.member:
                        _log_in(page, site)
                    page.goto(picture.address, wait_until="networkidle")
                    picture.act(page)
                    _take(page, FOLDER / f"{picture.name}.webp")
                    context.close()
        finally:
            site.stop()
            shutil.rmtree(site.data_dir, ignore_errors=True)


def _log_in(page: Page, site: Site) -> None:
    made = site.manage("shell", "--verbosity", "0", "-c", _SESSION)
    assert made.returncode == 0, made.stderr
    address = f"http://localhost:{site.port}"
    page.context.add_cookies([{"name": "sessionid", "value": made.stdout.strip(), "url": address}])


def _take(page: Page, file: Path) -> None:
    """Take a screenshot as WebP, in the best quality within the size limit."""
    session = page.context.new_cdp_session(page)
    for quality in (90, 80, 70, 60):
        shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        data = base64.b64decode(shot["data"])
        if len(data) <= LIMIT:
            file.write_bytes(data)
            print(f"{file.relative_to(settings.BASE_DIR)}  {len(data):,} bytes")  # noqa: T201
            return
    raise SystemExit(f"{file.name} is larger than {LIMIT:,} bytes.")


if __name__ == "__main__":
    main()
