"""`make try-deploying`: follow docs/deploying.md in a fresh Debian tree, and the Dockerfile in another."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.deploy.debian_tree import CommandFailed, DebianTree
from tests.deploy.dockerfile import ROOT, Step, steps
from tests.deploy.page import Block, blocks
from tests.deploy.stand_ins import Services, make_certificate
from tests.waiting import until

VALUES = {"DOMAIN": "news.voting-site.test", "MAIL": "operator@voting-site.test", "REPOSITORY": "/srv/site.git"}
PORTS = (80, 443, 8000)
_PROGRAMS = ("debootstrap", "unshare", "chroot", "git", "systemd-analyze")
_NAMESPACES = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a program of its own


def missing() -> str:
    """Return why nothing can be tried here; "" if it can."""
    if os.getuid() != 0:
        return "Only root can do this."
    absent = [name for name in _PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"{absent[0]} is not installed."
    for port in PORTS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return f"Port {port} is in use."
    return ""


class Walk:
    """The way through the page."""

    def __init__(self, tree: DebianTree) -> None:
        self.tree, self.services = tree, Services(tree)
        self.not_run: list[Block] = []

    def follow(self, block: Block) -> None:
        """Run a block, or what stands in for it."""
        first, *more = block.commands.splitlines()
        shown = f"{block.heading}: {first[:70]}{' …' if more or len(first) > 70 else ''}"
        began = time.monotonic()
        if block.mark == "not run":
            self.not_run.append(block)
            self._stand_in(block)
        elif block.mark == "yours":
            assert set(block.names) <= VALUES.keys()
        else:
            if block.mark == "new site":
                self._clear()
            self.tree.run(block.commands, block.answers, VALUES)
        say(f"  {'not run' if block.mark == 'not run' else 'ok':8}{time.monotonic() - began:6.1f} s  {shown}")

    def _stand_in(self, block: Block) -> None:
        if block.note == "needs systemd":
            self.services.follow(block.commands)
        if "certbot certonly" in block.commands:
            make_certificate(self.tree, VALUES["DOMAIN"])

    def _clear(self) -> None:
        self.services.stop_all()
        self.tree.run("find /var/lib/voting-site -mindepth 1 -delete")


def follow_page(tree: DebianTree) -> list[Block]:
    """Follow the page from its first to its last block. Return those that were not run. Raises CommandFailed."""
    tree.enter()
    walk = Walk(tree)
    try:
        for block in blocks():
            walk.follow(block)
            walk.services.revive()
        until(lambda: "expire: " in walk.services.log_of("voting-site-tick"))
        say("  ok  housekeeping in a service of its own")
        walk.services.stop_all()
    except (AssertionError, CommandFailed):
        for name in ("voting-site", "voting-site-store", "voting-site-web", "voting-site-tick"):
            say(walk.services.log_of(name))
        raise
    say(tree.run("du -sm /opt/voting-site/.venv /opt/voting-site /var/lib/voting-site"))
    return walk.not_run


def follow_dockerfile(tree: DebianTree) -> None:
    """Take the steps of the Dockerfile; Debian's Python stands in for the image that it begins with."""
    tree.enter()
    tree.run("apt-get update --quiet=2 && apt-get install --quiet=2 --no-install-recommends python3-venv")
    folder, user = "/", "root"
    settings: dict[str, str] = {}
    for step in steps():
        if step.name == "WORKDIR":
            folder = step.text
            (tree.path / folder[1:]).mkdir(exist_ok=True)
        elif step.name == "COPY" and not step.text.startswith("--from"):
            _copy(step, tree.path / folder[1:])
        elif step.name == "RUN":
            tree.run(f"cd {folder}\n{step.text}")
            say(f"  ok  {step.text[:90]}")
        elif step.name == "USER":
            user = step.text
        elif step.name == "ENV":
            settings |= dict(pair.split("=", 1) for pair in step.words)
    _try_image(tree, user, folder, settings)


def _copy(step: Step, target: Path) -> None:
    *sources, last = step.words
    for name in sources:
        here, there = ROOT / name, target / (last if (ROOT / name).is_dir() else name)
        if here.is_dir():
            shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(here, there)


def _try_image(tree: DebianTree, user: str, folder: str, settings: dict[str, str]) -> None:
    """Start the site as the image does, wait until its health check succeeds, and stop it."""
    last = {step.name: step for step in steps()}
    tree.environment |= settings
    command = " ".join(last["ENTRYPOINT"].words + last["CMD"].words)
    process = tree.start(command, "image.log", user=user, folder=folder)
    _options, _, check = last["HEALTHCHECK"].text.partition("CMD ")
    program = Step(0, "CMD", check).words[-1]
    try:
        wait = f'for _ in $(seq 120); do .venv/bin/python -c "{program}" && exit; sleep 0.5; done; exit 1'
        tree.run(f"cd {folder}\n{wait}")
        say("  ok  the health check of the image")
    except CommandFailed:
        say(tree.path.with_name("image.log").read_text())
        raise
    finally:
        process.terminate()
        process.wait(60)


def main(folder: Path) -> int:
    """Try everything in the folder; this process is in namespaces of its own. Return the exit status."""
    tree = DebianTree(folder / "debian")
    try:
        say("A fresh Debian tree (a minute) …")
        tree.install()
        image = tree.copy_to(folder / "image")
        say("docs/deploying.md:")
        not_run = follow_page(tree)
        say("deploy/Dockerfile:")
        follow_dockerfile(image)
    except (AssertionError, CommandFailed) as failure:
        say(f"FAILED: {failure}")
        return 1
    say("Not run:")
    for block in not_run:
        say(f"  {block.heading}, {block.note}:")
        say("".join(f"    {line}\n" for line in block.commands.splitlines()))
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    if reason := missing():
        sys.exit(reason)
    with tempfile.TemporaryDirectory(prefix="try-deploying-", ignore_cleanup_errors=True) as work:
        command = [*_NAMESPACES, sys.executable, "-m", "tests.deploy.try_deploying", work]
        sys.exit(subprocess.run(command, check=False).returncode)
