"""Render the favicon as static/touch-icon.png, with the system's Chromium. Run by `make icon`."""

from pathlib import Path

from playwright.sync_api import sync_playwright

STATIC = Path(__file__).parents[2] / "static"
SIDE = 180
MARK = 120
PAPER = "#fcfcfa"


def main() -> None:
    mark = (STATIC / "favicon.svg").read_text()
    html = f'<body style="margin:0;background:{PAPER}"><div style="margin:{(SIDE - MARK) // 2}px">{mark}</div>'
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": SIDE, "height": SIDE}, color_scheme="light")
        page.set_content(html)
        page.screenshot(path=STATIC / "touch-icon.png")
        browser.close()


if __name__ == "__main__":
    main()
