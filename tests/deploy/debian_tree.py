"""A fresh Debian in a folder, in which commands run as on a new server. Needs root, debootstrap and a mirror."""

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

RELEASE, PYTHON = "trixie", "3.13"
ROOT = Path(settings.BASE_DIR)

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FROM_THIS_MACHINE = ("/etc/resolv.conf",)
_NO_SERVICES = "#!/bin/sh\nexit 101\n"
"""Tells Debian's packages to start no service."""


class CommandFailed(Exception):
    """A command of the page failed."""


class DebianTree:
    """A Debian tree. The processes and mounts of its commands end with the namespace that this process is in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environment = {"PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}

    def install(self) -> None:
        """Install the base system, from the mirror that this machine uses."""
        log = self.path.with_suffix(".log")
        command = ["debootstrap", "--variant=minbase", RELEASE, str(self.path), _mirror()]
        with log.open("wb") as output:
            done = subprocess.run(command, stdout=output, stderr=output, check=False)
        if done.returncode:
            raise CommandFailed(f"debootstrap ended with {done.returncode}:\n{log.read_text()[-2000:]}")

    def copy_to(self, path: Path) -> "DebianTree":
        """Return a copy of the tree. Nothing may be mounted in it."""
        subprocess.run(["cp", "--archive", str(self.path), str(path)], check=True)
        return DebianTree(path)

    def enter(self) -> None:
        """Mount what commands need, and give the tree this machine's network and the packages of the site."""
        subprocess.run(["mount", "-t", "proc", "proc", str(self.path / "proc")], check=True)
        subprocess.run(["mount", "--rbind", "/dev", str(self.path / "dev")], check=True)
        for name in _FROM_THIS_MACHINE:
            shutil.copy(name, self.path / name[1:])
        policy = self.path / "usr" / "sbin" / "policy-rc.d"
        policy.write_text(_NO_SERVICES)
        policy.chmod(0o755)
        self._give_packages()
        subprocess.run(
            ["git", "clone", "--quiet", "--bare", str(ROOT), str(self.path / "srv" / "site.git")], check=True
        )
        self.environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/srv/packages"}

    def _give_packages(self) -> None:
        """Download the locked packages on this machine, whose indexes and certificates the tree does not know.

        All of them, whatever system they are for: the tree's Python is not this machine's.
        """
        packages = self.path.with_name("packages")  # one for all trees
        if not packages.exists():
            every = packages.with_suffix(".txt")
            every.write_text(re.sub(r" ; [^\\\n]*", " ", (ROOT / "requirements.txt").read_text("utf-8")))
            command = [
                sys.executable,
                "-m", "pip", "download", "--require-hashes", "--no-deps", "--only-binary=:all:",
                f"--python-version={PYTHON}",
            ]  # fmt: skip
            done = subprocess.run(
                [*command, "-r", str(every), "-d", str(packages)], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise CommandFailed(f"the packages cannot be downloaded:\n{done.stderr[-2000:]}")
        shutil.copytree(packages, self.path / "srv" / "packages")

    def run(self, commands: str, answers: Sequence[str] = (), values: Mapping[str, str] = {}) -> str:
        """Run commands as root; type `answers` if they ask. Return the output. Raises CommandFailed."""
        command = ["chroot", str(self.path), "bash", "-euo", "pipefail", "-c", commands]
        environment = {**self.environment, **values}
        if answers:
            status, output = _typed(command, environment, answers)
        else:
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            done = subprocess.run(command, env=environment, check=False, **pipes)
            status, output = done.returncode, done.stdout.decode(errors="replace")
        if status:
            raise CommandFailed(f"{commands}\nended with {status}:\n{output[-4000:]}")
        return output

    def start(self, command: str, log: str, *, user: str = "root", folder: str = "/") -> "subprocess.Popen[bytes]":
        """Start a process that goes on. `log`: a file beside the tree."""
        identity = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--no-new-privs"]
        shell = ["chroot", str(self.path), *identity, "sh", "-c", f"cd {folder} && exec {command}"]
        with self.path.with_name(log).open("ab") as output:
            return subprocess.Popen(
                shell, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )


def _mirror() -> str:
    sources = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)"]
    listed = subprocess.run(sources, capture_output=True, text=True, check=False)
    mirrors = re.findall(r"^(\S+) [a-z]+$", listed.stdout, re.MULTILINE)  # also one for another release
    return mirrors[0] if mirrors else "http://deb.debian.org/debian"


def _typed(command: Sequence[str], environment: Mapping[str, str], answers: Sequence[str]) -> tuple[int, str]:
    """Run the command in a terminal, and type an answer whenever it asks, which ends with a colon and a blank."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, dict(environment))
    output, answered, left = b"", 0, list(answers)
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        if not part:
            break
        output += part
        if left and output[answered:].endswith(b": "):
            answered = len(output)
            os.write(terminal, left.pop(0).encode() + b"\n")
    _pid, status = os.waitpid(pid, 0)
    os.close(terminal)
    if left:
        raise CommandFailed(f"{command[-1]} did not ask for {', '.join(left)}:\n{output.decode(errors='replace')}")
    return os.waitstatus_to_exitcode(status), output.decode(errors="replace")
