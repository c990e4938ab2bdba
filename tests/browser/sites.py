"""The sites of the catalogue's pages: one with content and what the stage adds, and an empty one."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.pages import Page
from tests.site_process import Site

_STAGE = "from tests.browser.stage import set_up; set_up(empty={empty})"


@dataclass(frozen=True)
class Staged:
    """A running site, and the data the stage reported about it."""

    site: Site
    told: dict[str, Any]

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.site.port}"

    def address(self, page: Page) -> str:
        return self.origin + page.address.format_map(self.told)

    def cookies(self, who: str) -> list[dict[str, str]]:
        """Return the cookies of a browser logged in with that role; none for a reader."""
        if not who:
            return []
        return [{"name": "sessionid", "value": self.told["sessions"][who], "url": self.origin}]

    def interrupted(self, page: Page) -> Any:
        """Return a context in which the page is in the state the catalogue describes."""
        return self._without_store() if page.site == "stopped" else nullcontext()

    @contextmanager
    def _without_store(self) -> Iterator[None]:
        """Run with a store that does not respond, as if its machine were down."""
        is_store = {number: "valkey" in os.readlink(f"/proc/{number}/exe") for number in self.site.processes()}
        stores = [number for number, found in is_store.items() if found]
        assert stores, "no process of the store was found"
        for number in stores:
            os.kill(number, signal.SIGSTOP)
        try:
            yield
        finally:
            for number in stores:
                os.kill(number, signal.SIGCONT)


class Sites:
    """Sites that start on first use."""

    def __init__(self, folder: Path, static_files: Path) -> None:
        self._folder, self._static_files = folder, static_files
        self._running: dict[str, Staged] = {}

    def of(self, page: Page) -> Staged:
        kind = "empty" if page.site == "empty" else "filled"
        if kind not in self._running:
            self._running[kind] = self._start(kind)
        return self._running[kind]

    def stop(self) -> None:
        for staged in self._running.values():
            staged.site.stop()

    def _start(self, kind: str) -> Staged:
        data_dir = self._folder / kind
        shutil.copytree(self._static_files, data_dir / "static", dirs_exist_ok=True)
        shorter = {"STORE_TIMEOUT_MS": "2000"}  # several in a row, on a page without its store
        site = Site(data_dir, PROBATION="on", **shorter)
        try:
            site.wait_until_up()
            if kind == "filled":
                site.fill()
            made = site.manage("shell", "--verbosity", "0", "-c", _STAGE.format(empty=kind == "empty"))
            assert made.returncode == 0, made.stderr
            return Staged(site, json.loads(made.stdout.splitlines()[-1]))
        except BaseException:
            site.stop()
            raise
