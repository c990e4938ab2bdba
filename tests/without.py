"""Try the site without extras: python -m tests.without [--each] [--tests fast|1] [NAME…]; no name stands for all.

In copies of the checkout without the folders of these extras, and nothing else touched: on a new site; on one
that has used them, before and after `manage.py forget_extra`, and with the folders put back; on one that is
restored from its backup; and the tests that are left are collected, or with `--tests` run, the fast ones or all.
`--each` first tries each extra by itself, on a site that has used it. As many processes as there are cores share
the work. An interruption ends them, and leaves nothing behind.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import NamedTuple, TypeAlias

from articles.domain import extras
from tests.site_process import Site, variables

ROOT = Path(__file__).parents[1]

PAGES = 70  # pages that a kind of reader opens
KINDS = ("reader", "member", "moderator", "administrator")

_USED = """
from accounts.models import User
from tests.extras import all_of
member = User.objects.get(username="demo")
for fill in [*all_of("fill"), *all_of("use")]:
    fill(member)
"""
_CHECK = """
from django.core.management import call_command
from tests.extras import doors
for one in doors():
    if one.__name__.split(".")[1] in {names} and hasattr(one, "CHECK"):
        call_command(one.CHECK)
"""
_RUN = """
import io, json
from contextlib import redirect_stderr, redirect_stdout
from django.core.management import call_command
answers = []
for command in COMMANDS:
    told, status = io.StringIO(), 0
    with redirect_stdout(told), redirect_stderr(told):
        try:
            call_command(*command)
        except SystemExit as ended:
            status = ended.code
        except Exception as failed:
            status = repr(failed)
    answers.append((status, told.getvalue()))
print(json.dumps(answers))
"""
_LOG_IN = """
import json
from django.test import Client
from accounts.models import User
User.objects.filter(username="root").exists() or User.objects.create_superuser("root")
sessions = {"reader": ""}
for kind, name in (("member", "demo"), ("moderator", "demo-moderator"), ("administrator", "root")):
    browser = Client()
    browser.force_login(User.objects.get(username=name))
    sessions[kind] = browser.cookies["sessionid"].value
print(json.dumps(sessions))
"""

_LINK = re.compile(r'(?:href|action|formaction|src)="(/[^"#]*)')
_DOES_SOMETHING = re.compile(r"^/(?:logout|static|admin)/|/feed|\.(?:atom|json|xml|rss)$")

Answer: TypeAlias = tuple[int, str]


class Failed(Exception):
    """The site does not do without."""


def copy_of_checkout(folder: Path, without: Sequence[str]) -> Path:
    """Copy the files that a commit would have, and delete the folders of these extras."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    for name in without:
        shutil.rmtree(folder / "extras" / name)
    return folder


@contextmanager
def started(data_dir: Path, program: Path) -> Iterator[Site]:
    site = Site(data_dir, program=program, LIMITS="off", WEB_WORKERS="1")
    try:
        site.wait_until_up()
        yield site
    finally:
        site.stop()


class Stopped(NamedTuple):
    """A site that is not running."""

    data_dir: Path
    program: Path

    def manage(self, *command: str) -> "subprocess.CompletedProcess[str]":
        environment = variables({"DATA_DIR": str(self.data_dir)})
        line = [sys.executable, "manage.py", *command]
        return subprocess.run(line, cwd=self.program, env=environment, capture_output=True, text=True, check=False)


def demand(site: Site | Stopped, *command: str, says: str = "", status: int = 0) -> str:
    """Run a command of the site; return what it prints."""
    done = site.manage(*command)
    told = done.stdout + done.stderr
    if done.returncode != status or says not in told:
        raise Failed(
            f"manage.py {' '.join(command)[:60]}: status {done.returncode}, not {status} with {says!r}:\n{told}"
        )
    return done.stdout


class Command(NamedTuple):
    """A command of the site, with its arguments, and what is expected of it."""

    words: Sequence[str]
    says: str = ""
    status: int = 0


def demand_all(site: Site | Stopped, *commands: Command) -> None:
    """Run these commands in one process."""
    script = _RUN.replace("COMMANDS", repr([one.words for one in commands]))
    answers = json.loads(demand(site, "shell", "--verbosity", "0", "-c", script).splitlines()[-1])
    for command, (status, told) in zip(commands, answers, strict=True):
        if status != command.status or command.says not in told:
            wanted = f"{command.status} with {command.says!r}"
            raise Failed(f"manage.py {' '.join(command.words)}: status {status}, not {wanted}:\n{told}")


def crawl(site: Site, session: str) -> tuple[int, list[str]]:
    """Follow links, those to new kinds of pages first; return how many pages were seen, and what is dead."""
    waiting, seen, kinds, dead = (
        deque(["/", "/settings/", "/administration/", "/log/"]),
        set[str](),
        set[str](),
        [],
    )
    later = deque[str]()
    while (waiting or later) and len(seen) < PAGES:
        path = (waiting or later).popleft()
        if path in seen:
            continue
        status, text = _get(site, path, session)
        is_asked_for = path not in ("/settings/", "/administration/", "/log/")
        if status >= 400 and status != 405 and is_asked_for:
            dead.append(f"{path}: {status}")
        if status != 405:
            seen.add(path)
        for link in map(_unescaped, _LINK.findall(text)):
            kind = re.sub(r"[0-9]+|(?<=/users/|groups/)[^/]+|\?.*", "*", link)
            if not _DOES_SOMETHING.search(link) and link not in seen:
                (later if kind in kinds else waiting).append(link)
                kinds.add(kind)
    return len(seen), dead


def _unescaped(link: str) -> str:
    return link.replace("&amp;", "&").partition("#")[0]


def _get(site: Site, path: str, session: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    try:
        connection.request("GET", path, headers={"Cookie": f"sessionid={session}"} if session else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


def look(site: Site, kinds: Sequence[str] = KINDS) -> None:
    """Let these kinds of readers open pages."""
    sessions = json.loads(demand(site, "shell", "--verbosity", "0", "-c", _LOG_IN).splitlines()[-1])
    counts = []
    for kind in kinds:
        count, dead = crawl(site, sessions[kind])
        if dead:
            raise Failed(f"{kind}: {', '.join(dead)}")
        counts.append(f"{kind} {count}")
    print(f"    pages: {', '.join(counts)}")


def use(site: Site, *checks: Command) -> None:
    """Let every kind of reader open pages; run these commands, and those of every operator."""
    with tempfile.TemporaryDirectory() as folder:
        demand_all(site, *checks, Command(["tick"]), Command(["backup", folder]))
    look(site)


class Trial(NamedTuple):
    """A copy of the checkout without these extras, and what a site with all of them has left."""

    names: Sequence[str]
    program: Path
    used: Path
    """The data directory of a stopped site."""

    backup: Path
    """A folder with a backup of it."""

    def new_site(self) -> None:
        with started(self.program.with_name("new"), self.program) as site:
            site.fill()
            use(site, Command(["check"], "no issues"), Command(["makemigrations", "--check", "--dry-run"]))
            demand(site, "audit")

    def used_site(self) -> None:
        data = self.program.with_name("used")
        shutil.copytree(self.used, data)
        with started(data, self.program) as site:
            left = [f"forget_extra {name}" for name in self.names]
            use(site, *(Command(["check"], one) for one in left), *(Command(["audit"], one, 1) for one in left))
            forget = [Command(["forget_extra", name], "removed") for name in self.names]
            use(site, *forget, Command(["check"], "no issues"), Command(["audit"]))
        with started(data, ROOT) as site:
            demand(site, "check", says="no issues")
            demand(site, "shell", "-c", _CHECK.format(names=list(self.names)))
            look(site, ["administrator"])

    def restored_site(self) -> None:
        site = Stopped(self.program.with_name("restored"), self.program)
        told = demand(site, "restore", str(self.backup), says="The audit found nothing.")
        for name in self.names:
            has_rows = any(label.startswith(f"{name}.") for label in extras.backed_up())
            if has_rows and f"rows of the extra {name} were left out" not in told:
                raise Failed(f"restore does not say that rows of {name} were left out:\n{told}")
        for name in self.names:
            demand(site, "check", says=f"forget_extra {name}")
        with started(site.data_dir, ROOT) as again:
            demand(again, "check", says="no issues")
            demand(again, "audit")

    def tests(self, which: str) -> None:
        options = {
            "": ["--collect-only", "-m", ""],
            "fast": ["-n", "auto", "--dist", "worksteal", "-m", "fast"],
            "1": ["-n", "auto", "--dist", "worksteal"],
        }
        command = [sys.executable, "-m", "pytest", *options[which]]
        done = subprocess.run(command, cwd=self.program, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(done.stdout[-5000:])
        print(f"    {done.stdout.strip().splitlines()[-1]}")


def fill(used: Path, backup: Path) -> None:
    """Let a site with all extras use them, and make a backup of it."""
    with started(used, ROOT) as site:
        site.fill()
        demand(site, "shell", "--verbosity", "0", "-c", _USED)
        demand(site, "backup", str(backup))


class Job(NamedTuple):
    title: str
    work: Callable[[], None]
    is_first: bool = False
    """Whether all others wait for it."""


def run_all(jobs: Sequence[Job], folder: Path, at_once: int) -> None:
    """Do each job in a process of its own, and print what it printed. Raises Failed at the first that fails."""
    waiting, running = deque(jobs), dict[int, tuple[ForkProcess, Job, Path, float]]()
    try:
        while waiting or running:
            while (
                waiting and len(running) < at_once and not any(job.is_first for _, job, _, _ in running.values())
            ):
                job, told = waiting.popleft(), folder / f"{len(waiting)}.told"
                process = multiprocessing.get_context("fork").Process(target=_do, args=(job, told))
                process.start()
                running[process.sentinel] = process, job, told, time.monotonic()
            for sentinel in wait([*running]):
                process, job, told, began = running.pop(sentinel)  # type: ignore[arg-type]
                print(
                    f"  {job.title} ({time.monotonic() - began:.0f} s)\n{told.read_text('utf-8')}",
                    end="",
                    flush=True,
                )
                if process.exitcode:
                    raise Failed(job.title)
    finally:
        for process, _, _, _ in running.values():
            process.terminate()
            with suppress(ProcessLookupError):
                os.killpg(process.pid or 0, signal.SIGTERM)
        for process, _, _, _ in running.values():
            process.join()


def _do(job: Job, told: Path) -> None:
    """Do a job as the leader of a group of processes, which an interruption ends together."""
    os.setsid()
    signal.signal(signal.SIGTERM, _interrupt)
    with told.open("w", encoding="utf-8") as sys.stdout:
        try:
            job.work()
        except Failed as failure:
            print(f"    Failed: {failure}")
            sys.exit(1)


def _interrupt(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def jobs_of(trials: Sequence[Trial], tests: str) -> Iterator[Job]:
    yield Job("a site that uses all extras", partial(fill, trials[0].used, trials[0].backup), is_first=True)
    for trial in trials:
        title = f"without {', '.join(trial.names)}"
        yield Job(f"{title}: a site that has used it", trial.used_site)
        if trial is trials[-1]:
            yield Job(f"{title}: a new site", trial.new_site)
            yield Job(f"{title}: a site that is restored from its backup", trial.restored_site)
    yield Job(f"without {', '.join(trials[-1].names)}: the tests that are left", partial(trials[-1].tests, tests))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--tests", choices=("fast", "1"), default="")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*extras.names(), []])
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    each = [[name] for name in extras.names()] if chosen.each else []
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder)
            trials = []
            for number, names in enumerate((*each, chosen.names or extras.names())):
                program = copy_of_checkout(base / str(number) / "site", names)
                trials.append(Trial(names, program, base / "used", base / "backup"))
            run_all([*jobs_of(trials, chosen.tests)], base, os.cpu_count() or 1)
    except Failed as failure:
        sys.exit(f"Failed: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
