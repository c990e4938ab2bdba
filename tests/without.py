"""Try the site without extras: python -m tests.without [--tests] [NAME…]; without a name, without all of them.

In a copy of the checkout whose folders of these extras are deleted, and nothing else touched: on a new site, and
on one that has used them, before and after `manage.py forget_extra`. With `--tests`, all tests run that are left;
else they are collected.
"""

import argparse
import http.client
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import extras
from tests.site_process import Site

ROOT = Path(__file__).parents[1]

PAGES = 70  # pages that a kind of reader opens
KINDS = ("reader", "member", "moderator", "administrator")

_USED = """
from accounts.models import User
from tests.extras import all_of
member = User.objects.get(username="demo")
for fill in all_of("fill"):
    fill(member)
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
    site = Site(data_dir, program=program, DEMO="1", LIMITS="off", WEB_WORKERS="1")
    try:
        site.wait_until_up()
        yield site
    finally:
        site.stop()


def demand(site: Site, *command: str, says: str = "", status: int = 0) -> str:
    """Run a command of the site; return what it prints."""
    done = site.manage(*command)
    told = done.stdout + done.stderr
    if done.returncode != status or says not in told:
        raise Failed(
            f"manage.py {' '.join(command)[:60]}: status {done.returncode}, not {status} with {says!r}:\n{told}"
        )
    return done.stdout


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


def use(site: Site) -> None:
    """Let every kind of reader open pages, and do what an operator does."""
    sessions = json.loads(demand(site, "shell", "--verbosity", "0", "-c", _LOG_IN).splitlines()[-1])
    for kind in KINDS:
        count, dead = crawl(site, sessions[kind])
        if dead:
            raise Failed(f"{kind}: {', '.join(dead)}")
        print(f"    {kind}: {count} pages")
    demand(site, "tick")
    with tempfile.TemporaryDirectory() as folder:
        demand(site, "backup", folder)


def try_without(names: Sequence[str], *, with_tests: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        program = copy_of_checkout(base / "site", names)
        print("  a new site")
        with started(base / "new", program) as site:
            demand(site, "check", says="no issues")
            demand(site, "makemigrations", "--check", "--dry-run")
            use(site)
            demand(site, "audit")
        print("  a site that has used it")
        with started(base / "used", ROOT) as site:
            demand(site, "shell", "--verbosity", "0", "-c", _USED)
        with started(base / "used", program) as site:
            for name in names:
                demand(site, "check", says=f"forget_extra {name}")
                demand(site, "audit", says=f"forget_extra {name}", status=1)
            use(site)
            for name in names:
                demand(site, "forget_extra", name, says="removed")
            demand(site, "check", says="no issues")
            demand(site, "audit")
            use(site)
        print("  the tests that are left")
        options = ["-n", "auto", "--dist", "worksteal"] if with_tests else ["--collect-only", "-m", ""]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *options],
            cwd=program,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failed(done.stdout[-5000:])
        print(f"    {done.stdout.strip().splitlines()[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*extras.names(), []])
    chosen = parser.parse_args()
    names = chosen.names or extras.names()
    print(f"Without {', '.join(names)}:")
    try:
        try_without(names, with_tests=chosen.tests)
    except Failed as failure:
        sys.exit(f"Failed: {failure}")


if __name__ == "__main__":
    main()
