"""The systemd units of deploy/systemd/, with what systemd adds to each from the drop-ins."""

import shutil
import sys
from collections import defaultdict
from pathlib import Path

from django.conf import settings

FOLDER = Path(settings.BASE_DIR, "deploy", "systemd")
UNITS = sorted(path.name for path in FOLDER.glob("*.service"))


def options_of(unit: str) -> dict[str, list[str]]:
    """Return all values of each option of the unit's [Service], in order."""
    options = defaultdict(list)
    for path in (FOLDER / unit, *_drop_ins(unit)):
        section = ""
        for line in path.read_text("utf-8").splitlines():
            name, is_option, value = line.partition("=")
            if line.startswith("["):
                section = line
            elif is_option and not line.startswith("#") and section == "[Service]":
                options[name].append(value)
    return dict(options)


def _drop_ins(unit: str) -> list[Path]:
    """Return the files in folders that are named like the unit, or like a part of its name up to a hyphen."""
    parts = unit.removesuffix(".service").split("-")
    prefixes = ["-".join([*parts[:number], ""]) for number in range(1, len(parts))]
    folders = [FOLDER / f"{name}.service.d" for name in (*prefixes, "-".join(parts))]
    return sorted(path for folder in folders for path in folder.glob("*.conf"))


def installed(folder: Path) -> Path:
    """Copy the units to a folder as on a server whose programs are where they are on this machine; return it."""
    shutil.copytree(FOLDER, folder)
    for path in folder.rglob("*.service"):
        text = path.read_text("utf-8").replace("/opt/voting-site/.venv/bin/python", sys.executable)
        text = text.replace("/usr/bin/redis-server", "/bin/true").replace(
            "/opt/voting-site", str(settings.BASE_DIR)
        )
        path.write_text(text, "utf-8")
    return folder
