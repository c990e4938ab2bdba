"""Render docs/card.svg as static/card.png, which other sites show beside a link to an article.

Needs the system's Chromium. The picture has no text, so it is the same on every machine.
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "docs" / "card.svg"
TARGET = ROOT / "static" / "card.png"
SIZE = {"width": 1200, "height": 630}


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed; static/card.png was not changed.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        page = browser.new_page(viewport=SIZE)
        page.set_content(f'<body style="margin:0">{SOURCE.read_text("utf-8")}</body>')
        page.screenshot(path=TARGET)
        browser.close()
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
