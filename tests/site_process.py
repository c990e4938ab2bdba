"""The whole site as its operator starts it."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from articles.repository import Repository
from tests import extras
from tests.rules import connect
from tests.waiting import fill_once
from voting_site.embedded import StorePaths

DEADLINE = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def variables(own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a site with these settings and no other, and without content that extras add.

    A script without Django starts sites as an operator does.
    """
    of_the_tests = ("REDIS_URL", "CACHE_URL", "EMAIL_URL", "DATABASE_URL", "SECRET_KEY", "DEBUG")
    inherited = {name: value for name, value in os.environ.items() if name not in of_the_tests}
    quiet = extras.joined("QUIET") if apps.ready else {}
    return inherited | quiet | own | {"DJANGO_SETTINGS_MODULE": "voting_site.settings"}


class Site:
    """A process that runs `manage.py run`, with these options.

    `through`: a command that runs it, such as one that limits it. `program`: the folder of another version.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        through: Sequence[str] = (),
        options: Sequence[str] = (),
        program: Path | None = None,
        **environment: str,
    ) -> None:
        self.port = int(environment.get("PORT", free_port()))
        self.log = data_dir.with_suffix(".log")
        self.data_dir, self.environment = data_dir, environment
        self.program = program or settings.BASE_DIR
        with self.log.open("ab") as output:
            self.told_before = output.tell()
            self.process = subprocess.Popen(
                [*through, sys.executable, "manage.py", "run", *options],
                cwd=self.program,
                env=self.variables(),
                stdout=output,
                stderr=output,
            )

    def variables(self) -> dict[str, str]:
        own = {"DATA_DIR": str(self.data_dir), "PORT": str(self.port), "STORE_TIMEOUT_MS": "10000"}
        return variables(own | self.environment)

    def told(self) -> str:
        """Return what the process has printed since its start."""
        return self.log.read_bytes()[self.told_before :].decode()

    def manage(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=self.program,
            env=self.variables(),
            capture_output=True,
            text=True,
            check=False,
        )

    def fill(self) -> None:
        """Add the content of `tests.content` to the running site."""
        done = self.manage("shell", "--verbosity", "0", "-c", "from tests.content import fill; fill()")
        assert done.returncode == 0, done.stderr

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def wait_until_up(self) -> None:
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            assert self.process.poll() is None, self.told()
            if "The site is at" in self.told():
                return
            time.sleep(0.05)  # a poll with a deadline
        raise AssertionError(self.told())

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)

    def processes(self) -> set[int]:
        """Return the ids of every running process that names the data directory or the port."""
        marks = (f":{self.port}".encode(), str(self.data_dir).encode())
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if any(mark in command for mark in marks):
                found.add(int(folder.name))
        return found


def stopped_site(
    factory: pytest.TempPathFactory, name: str, static_files: Path, *, is_empty: bool = False, **environment: str
) -> Path:
    """Return the data directory of a stopped site, to be copied: a first start takes seconds.

    It has the content of `tests.content`, unless it is to be empty, and no copies of pages. It has no search
    index: one of half the content would answer until it has caught up, a new one answers when it is complete.
    """

    def fill(folder: Path) -> None:
        shutil.copytree(static_files, folder / "data" / "static")
        first = Site(folder / "data", **environment)
        first.wait_until_up()
        if not is_empty:
            first.fill()
        assert first.stop() == 0
        with closing(sqlite3.connect(folder / "data" / "accounts.sqlite3")) as accounts:
            accounts.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a process that was ended leaves its log
        for name in ("kept_pages", "search"):
            shutil.rmtree(folder / "data" / name, ignore_errors=True)

    return fill_once(factory, name, fill) / "data"


def store_of(site: Site) -> Repository:
    """Return the running site's store, from outside."""
    return connect(StorePaths(site.data_dir).url(0))
