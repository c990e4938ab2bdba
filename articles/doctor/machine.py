"""Who can read and write the files of the site, and what the machine leaves to it: disk, memory, open files."""

import os
import resource
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from articles.doctor.examination import Examination, Finding, accounts_file, error, fine, note, warning
from articles.formatting import units
from articles.formatting.values import grouped
from articles.operation import metrics


def check_data_directory(_examination: Examination) -> Iterator[Finding]:
    folder = Path(settings.DATA_DIR)
    if not folder.exists():
        yield note(f"`DATA_DIR` ({folder}) does not exist yet.", "The first start of the site creates it.")
    elif _mode(folder) & stat.S_IWOTH:
        yield error(
            _("Every user of this machine can write to `DATA_DIR` (`%(path)s`).") % {"path": folder},
            _("Run `%(command)s`.") % {"command": f"chmod o-w {folder}"},
        )
    elif not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield error(
            _("This user cannot write to `DATA_DIR` (`%(path)s`).") % {"path": folder},
            _("Run the site as the user that owns the directory."),
        )
    else:
        yield fine(f"`DATA_DIR` is {folder}.")


def check_secret_key(_examination: Examination) -> Iterator[Finding]:
    key = Path(settings.SECRET_KEY_FILE)
    if not key.exists():
        yield fine("There is no file with a secret key.")
    elif _is_open(key):
        yield error(
            _("Every user of this machine can read `%(path)s`, and use it to log in as any member.")
            % {"path": key},
            _("Run `%(command)s`.") % {"command": f"chmod 600 {key}"},
        )
    else:
        yield fine("Only the site's user can read the secret key.")


def check_accounts_file(_examination: Examination) -> Iterator[Finding]:
    file = accounts_file()
    if file is None or not file.exists():
        return
    if _is_open(file) and _is_reachable(file):
        yield warning(
            _(
                "Every user of this machine can read `%(path)s`, with its email addresses, sessions and password "
                "digests."
            )
            % {"path": file},
            _("Run `%(command)s`.") % {"command": f"chmod o-rwx {file.parent}"},
        )
    else:
        yield fine("Other users of this machine cannot read the accounts.")


def check_env_file(_examination: Examination) -> Iterator[Finding]:
    file = Path(settings.BASE_DIR) / ".env"
    if file.exists() and _is_open(file) and _is_reachable(file):
        yield warning(
            _("Every user of this machine can read `%(path)s`, which may contain passwords.") % {"path": file},
            _("Run `%(command)s`.") % {"command": f"chmod o-rwx {file}"},
        )


def check_owner(_examination: Examination) -> Iterator[Finding]:
    """Compare the owners of the files with that of the directory: the site runs as one user."""
    folder = Path(settings.DATA_DIR)
    files = [Path(settings.SECRET_KEY_FILE), *([folder / "store"] if settings.STORE_IS_EMBEDDED else [])]
    if file := accounts_file():
        files += [file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")]
    if not folder.exists():
        return
    owner = folder.stat().st_uid
    strangers = [file for file in files if file.exists() and file.stat().st_uid != owner]
    for file in strangers:
        yield warning(
            _("`%(path)s` and `DATA_DIR` belong to different users: the site may be unable to use it.")
            % {"path": file},
            _("Run `%(command)s`.") % {"command": f"chown {owner} {file}"},
        )
    if not strangers:
        yield fine("All files belong to the user that owns `DATA_DIR`.")


def _mode(path: Path) -> int:
    return path.stat().st_mode


def _is_open(path: Path) -> bool:
    """Return whether the file's own mode lets every user read or write it."""
    return bool(_mode(path) & (stat.S_IROTH | stat.S_IWOTH))


def _is_reachable(path: Path) -> bool:
    """Return whether no directory above the file is closed to other users."""
    return all(_mode(folder) & stat.S_IXOTH for folder in path.resolve().parents)


LEAST_FREE_BYTES = 50_000_000
"""Space on the disk of DATA_DIR below which the site is about to stop accepting changes."""

_LITTLE_FREE_BYTES = 500_000_000
_MUCH_MEMORY = 250_000_000  # bytes of one process, with its part of what it shares
_FEW_FILES = 1024  # open files below which a limit is low: each connection of a reader takes one


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


def check_memory(_examination: Examination) -> Iterator[Finding]:
    """Look at the processes of the site that runs on this machine with this configuration, if one does."""
    if not (memory := metrics.web_memory()):
        return
    if max(memory) > _MUCH_MEMORY:
        yield warning(
            _("A process of the web server takes %(memory)s; usual are 40 to 80 MB.")
            % {"memory": units.size(max(memory))},
            _("Restart the site. If it happens again, report it with the site’s log."),
        )
    else:
        yield fine(f"The web server's {len(memory)} processes take {units.size(sum(memory))}.")


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
