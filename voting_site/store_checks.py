"""The doctor's checks of the embedded store: its program and its files, also while the site is stopped."""

import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from articles.doctor.examination import Check, Examination, Finding, error, fine, note, warning
from articles.formatting import units
from voting_site.embedded import EmbeddedStoreError, StorePaths, lock, probe, stamp
from voting_site.embedded.append_only import known_damage
from voting_site.embedded.binary import built_at, find_server

_OLD_SECONDS = 365 * 86400  # age of a server for which security updates have probably been published


def check_outage(examination: Examination) -> Iterator[Finding]:
    """Say why it does not answer. `articles.doctor.store` says that it does."""
    if settings.STORE_IS_EMBEDDED and examination.store_outage:
        yield _outage(StorePaths(Path(settings.DATA_DIR)), examination.store_outage)


def _outage(paths: StorePaths, reason: str) -> Finding:
    if probe.ping(paths.socket) is probe.Answer.LOADING:
        percent = probe.loaded_percent(paths.socket)
        return warning(f"The store is loading its file: {percent:.0f} % read.", "Wait until it is done.")
    if lock.is_held(paths.lock):
        return error("The store does not answer, although the site is running.", f"See {paths.log}.", reason)
    if paths.manifest.exists():
        return note("The site is not running, so only the files of its store were examined.")
    return note("There is no store yet.", "The first start of the site creates it.")


def check_files(_examination: Examination) -> Iterator[Finding]:
    """Check the embedded store's program and files as a start does, without starting it."""
    if not settings.STORE_IS_EMBEDDED:
        return
    paths = StorePaths(Path(settings.DATA_DIR))
    try:
        _binary, version = find_server(settings.STORE_SERVER)
        paths.check()
        stamp.check(paths, version)
    except EmbeddedStoreError as failure:
        yield error(str(failure))
        return
    if damage := known_damage(paths):
        yield error(damage)
    else:
        yield fine(f"No damage to the store's files is known, and {version} can read them.")


def check_program(_examination: Examination) -> Iterator[Finding]:
    """Name the embedded store's program, its version and its age. `check_files` reports one that does not run."""
    if not settings.STORE_IS_EMBEDDED:
        return
    try:
        binary, version = find_server(settings.STORE_SERVER)
    except EmbeddedStoreError:
        return
    age = time.time() - built_at(binary, version)
    text = f"The installed server, {binary}, is {version}, built {units.span(age)} ago."
    if age > _OLD_SECONDS:
        yield note(
            text, "Look for security updates: upgrade the site, or choose another server with `STORE_SERVER`."
        )
    else:
        yield fine(text)


CHECKS = (
    Check("store", "embedded", check_outage, slow=True),
    Check("store", "files", check_files, slow=True),
    Check("store", "program", check_program, slow=True),
)
