"""Largest contentful paint of pages, from the end of their HTML, and layout shifts.

    python -m bench.paint [--rounds N]

Loads pages of a site with demo content in the system's Chromium, with an empty cache each time. Prints `largest`
in milliseconds (median and worst), `shift`, the sum of layout shifts (https://web.dev/articles/cls), and the
transferred bytes of the `HTML` and of `all` resources.
"""

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from playwright.sync_api import Browser, sync_playwright

PAGES = {"front page": "/", "hot list": "/hot/", "article": "/articles/40/", "search": "/search/?q=redis"}
SIZES = {"desk": (1280, 900), "phone": (390, 844)}
OPTIONS = ["--no-sandbox", "--disable-background-networking"]

_MEASURE = """() => new Promise(done => {
  const found = {largest: 0, shift: 0};
  new PerformanceObserver(list => list.getEntries().forEach(one => { found.largest = one.startTime; }))
    .observe({type: 'largest-contentful-paint', buffered: true});
  new PerformanceObserver(list => list.getEntries().forEach(one => { found.shift += one.value; }))
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => {
    const [page] = performance.getEntriesByType('navigation');
    found.largest -= page.responseEnd;
    found.html = page.transferSize;
    const parts = performance.getEntriesByType('resource');
    found.all = parts.reduce((sum, one) => sum + one.transferSize, page.transferSize);
    done(found);
  }, 600);
})"""


@contextmanager
def site() -> Iterator[str]:
    """Start a site with demo content, and yield its origin."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        variables = os.environ | {"DATA_DIR": str(Path(folder) / "data"), "PORT": str(port), "LOG_LEVEL": "ERROR"}
        variables["RATE_LIMITS"] = "off"
        process = subprocess.Popen([sys.executable, "manage.py", "run"], env=variables, stdout=subprocess.DEVNULL)
        try:
            origin = f"http://localhost:{port}"
            while not is_ready(origin):
                assert process.poll() is None, "the site did not start"
                time.sleep(0.1)
            yield origin
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def is_ready(origin: str) -> bool:
    try:
        with urllib.request.urlopen(origin + "/readyz", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def measure(browser: Browser, address: str, size: tuple[int, int]) -> dict[str, Any]:
    """Measure a page in an open window, like a reader's, with an empty cache."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(urljoin(address, "/healthz"), wait_until="load")
    page.goto(address, wait_until="load")
    figures: dict[str, Any] = page.evaluate(_MEASURE)
    context.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    with site() as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=OPTIONS)
        measure(browser, origin + "/", SIZES["desk"])
        print("| page | size | largest, ms | worst | shift | HTML, bytes | all |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
        for name, path in PAGES.items():
            for kind, size in SIZES.items():
                runs = [measure(browser, origin + path, size) for _ in range(rounds)]
                largest, shift = [run["largest"] for run in runs], max(run["shift"] for run in runs)
                middle, worst, last = statistics.median(largest), max(largest), runs[-1]
                cells = (name, kind, f"{middle:.0f}", f"{worst:.0f}", f"{shift:g}", last["html"], last["all"])
                print(f"| {' | '.join(map(str, cells))} |")
        browser.close()


if __name__ == "__main__":
    main()
