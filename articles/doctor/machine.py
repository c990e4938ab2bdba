"""What the machine leaves to the site: space on its disks, and open files."""

import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from articles.doctor.examination import Examination
from articles.doctor.findings import Finding, error, fine, warning
from articles.formatting import units
from articles.formatting.values import grouped

LEAST_FREE_BYTES = 50_000_000
"""Space on the disk of DATA_DIR below which the site is about to stop accepting changes."""

_LITTLE_FREE_BYTES = 500_000_000
_FEW_FILES = 1024
"""Open files below which a limit is low: each connection of a reader takes one."""


def check_space(_examination: Examination) -> Iterator[Finding]:
    for name in ("DATA_DIR", "BACKUP_DIR"):
        if folder := getattr(settings, name):
            yield _space(name, Path(folder))


def _space(name: str, folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    facts = {"name": name, "free": units.size(free)}
    advice = _("Free some space, or move `%(name)s` to a larger disk.") % facts
    if free < LEAST_FREE_BYTES:
        return error(_("The disk of `%(name)s` is full: %(free)s left.") % facts, advice)
    if free < _LITTLE_FREE_BYTES:
        return warning(_("The disk of `%(name)s` is nearly full: %(free)s left.") % facts, advice)
    return fine(f"The disk of {name} has {facts['free']} left.")


def check_open_files(_examination: Examination) -> Iterator[Finding]:
    """Look at the hard limit of this process: the site's own on its page, the shell's in a terminal."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _FEW_FILES:
        yield warning(
            _("Only %(count)s files may be open at once, which limits how many readers can be connected.")
            % {"count": grouped(hard)},
            _("Increase the hard limit of open files (`ulimit -Hn`, or `LimitNOFILE` of systemd)."),
        )
    else:
        yield fine("This process may open enough files.")
