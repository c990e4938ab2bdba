"""`manage.py version`: print the versions of the site and of what it runs on."""

import platform
import shutil
import subprocess
from typing import Any

import django
from django.conf import settings
from django.core.management.base import BaseCommand

from articles.domain.errors import StoreError
from articles.web.wiring import examined_repository


class Command(BaseCommand):
    """The store's version is printed if it answers; it is neither started nor changed."""

    help = "Print the versions of the site, of Python and Django, and of the store if it answers."
    requires_system_checks = []

    def handle(self, *_: Any, **__: Any) -> None:
        lines = {
            "site": settings.VERSION + _commit(),
            "Python": platform.python_version(),
            "Django": django.get_version(),
            "store": _store_version(),
        }
        for name, version in lines.items():
            self.stdout.write(f"{name:7} {version}")


def _commit() -> str:
    """Return the commit of the checkout in parentheses; "" without git, or outside a checkout."""
    if not (git := shutil.which("git")) or not (settings.BASE_DIR / ".git").exists():
        return ""
    command = [git, "-C", str(settings.BASE_DIR), "describe", "--always", "--exclude=*", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 # nosec B603
    except (OSError, subprocess.SubprocessError):
        return ""
    return f" (commit {done.stdout.strip()})"


def _store_version() -> str:
    try:
        overview = examined_repository().inspection.get_overview()
    except StoreError:
        return "does not answer"
    return f"{overview.server.name} {overview.server.version}" if overview else "does not say"
