"""Whether the store answers and is the site's; for a stopped embedded store, what its files say."""

import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from articles.doctor.examination import Examination, Finding, error, fine, note, warning
from articles.formatting import units
from voting_site.embedded import EmbeddedStoreError, StorePaths, lock, probe, stamp
from voting_site.embedded.append_only import known_damage
from voting_site.embedded.binary import built_at, find_server

_ROUND_TRIPS = 10
"""Round trips for which a page may need the store, within STORE_TIMEOUT_MS each."""

_OLD_SECONDS = 365 * 86400
"""Age of a server for which security updates have probably been published."""


def check_answers(examination: Examination) -> Iterator[Finding]:
    if not examination.store_outage:
        server = examination.overview.server if examination.overview else None
        yield fine(f"{f'{server.name} {server.version}' if server else 'The store'} answers.")
    elif settings.STORE_IS_EMBEDDED:
        yield _outage_of_embedded(StorePaths(Path(settings.DATA_DIR)), examination.store_outage)
    else:
        yield error(
            "The store does not answer.",
            "Start it, and check `REDIS_URL` and the network between the site and the store.",
            examination.store_outage,
        )


def _outage_of_embedded(paths: StorePaths, reason: str) -> Finding:
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


def check_fit(examination: Examination) -> Iterator[Finding]:
    """Check what a start would refuse: a server that does not suit the site, and data that are not the site's."""
    overview, store = examination.overview, examination.stamp
    policy = overview.memory.policy if overview else None
    if policy not in (None, "noeviction"):
        yield error(
            _("The store deletes articles when its memory is full: its `maxmemory-policy` is `%(policy)s`.")
            % {"policy": policy},
            _("Set `maxmemory-policy` to `noeviction`."),
        )
    elif store is None and examination.known_site and examination.misfit:
        yield error(
            _("The store is empty, but this site has used one before."),
            _("Stop the site and restore a backup, or start the store with the right data."),
        )
    elif examination.misfit:
        yield error(_("The site cannot use this store."), "", examination.misfit)
    elif store is None and examination.known_site:
        yield error(
            _("The store has lost the ranking's parameters."),
            _("Restart the site, then run `manage.py repair`."),
        )
    elif store is None:
        yield note("The store is empty.", "The first start of the site prepares it.")
    else:
        yield fine(f"The store belongs to this site (layout: {store.layout}, shards: {store.shards}).")


def check_upgrades(examination: Examination) -> Iterator[Finding]:
    if examination.stamp and examination.stamp.pending:
        yield warning(
            _("The store comes from an earlier version and has not been fully upgraded."),
            _("Restart the site, which continues the upgrade."),
            ", ".join(examination.stamp.pending),
        )
    elif examination.stamp:
        yield fine("The store needs no upgrade.")


def check_latency(examination: Examination) -> Iterator[Finding]:
    median = examination.latency.median
    if median * _ROUND_TRIPS * 1000 > settings.STORE_TIMEOUT_MS:
        yield warning(
            _("The store takes %(time)s to answer: pages are slow, and some will fail.")
            % {"time": units.moment(median)},
            _("Move the store closer to the site, or find out what else uses its machine."),
        )
    else:
        yield fine(f"The store answers within {units.moment(median)}.")
