"""A service's sandbox without systemd: its user, read-only files, no privileges, its filter of system calls."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from tests.deploy import confine
from tests.deploy.units import options_of

NOBODY = 65534
INSIDE = "/mnt/data"  # the data directory as the confined service sees it
_PROGRAMS = ("systemd-analyze", "unshare", "setpriv", "mount")

_ENTER = f"""
mount -t tmpfs tmpfs /mnt && cp "$2" "$3" /mnt && mkdir {INSIDE} /mnt/python && mount --bind "$1" {INSIDE} &&
mount --bind "$4" /mnt/python && mount -t tmpfs -o mode=755 tmpfs /root && mkdir -p "$4" &&
mount --bind /mnt/python "$4" && mount -o remount,bind,ro "$4" &&
mount -t tmpfs tmpfs /tmp && mount -o remount,bind,ro / || exit 1
shift 4
exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups --no-new-privs --bounding-set -all "$@"
"""
"""Hides the home of root, as ProtectHome= does, except for a Python that is installed in it."""


def missing() -> str:
    """Return why nothing can be confined; "" if it can."""
    if os.getuid() != 0:
        return "only root can give a process its own mounts"
    absent = [program for program in _PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"{absent[0]} is not installed"
    if Path(settings.BASE_DIR).is_relative_to("/tmp"):
        return "the service has a /tmp of its own, and the program is in this one"
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    permitted = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return "" if permitted else "mounts are not permitted here"


def confined(unit: str, data_dir: Path, folder: Path) -> list[str]:
    """Return the command through which the unit's own command runs. The data directory becomes its user's."""
    if reason := missing():
        pytest.skip(reason)
    for path in (data_dir, *data_dir.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    options = options_of(unit)
    calls, program = folder / "calls", Path(confine.__file__)
    families = write_filters(options, calls)
    enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, "sh"]
    run = [sys.executable, f"/mnt/{program.name}", f"/mnt/{calls.name}", families]
    return [*enter, str(data_dir), str(calls), str(program), sys.base_prefix, *run]


def write_filters(options: Mapping[str, Sequence[str]], calls: Path) -> str:
    """Write the system calls that a unit may use into a file; return its address families for confine.py."""
    calls.write_text("\n".join(sorted(allowed_calls(options["SystemCallFilter"]))))
    return ",".join(str(int(getattr(socket, name))) for name in options["RestrictAddressFamilies"][0].split())


def allowed_calls(filters: Sequence[str]) -> set[str]:
    """Return the system calls that are left by the values of SystemCallFilter=, in order."""
    allowed = set(_calls_of("@default"))
    for value in filters:
        calls = {call for name in value.removeprefix("~").split() for call in _calls_of(name)}
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


@cache
def _calls_of(name: str) -> frozenset[str]:
    """Return the system calls of a group, such as @system-service; a call itself is one."""
    if not name.startswith("@"):
        return frozenset([name])
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
    )
    lines = [line.strip() for line in listed.stdout.splitlines()[1:]]
    return frozenset(call for line in lines if line and line[0] != "#" for call in _calls_of(line))
