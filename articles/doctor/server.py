"""The store's server: memory, and whether data survives a failure. All figures come from one INFO."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from articles.doctor.examination import Examination
from articles.doctor.findings import Finding, error, fine, note, warning
from articles.formatting import units

_NEARLY_FULL = 0.9
"""Share of the memory limit."""


def check_permissions(examination: Examination) -> Iterator[Finding]:
    if examination.overview is None:
        yield note(
            "The server does not permit `INFO`, so its memory and its append-only file were not examined.",
            "Permit `INFO` and `CONFIG GET` to the site's user of the store.",
        )


def check_role(examination: Examination) -> Iterator[Finding]:
    if examination.overview and examination.overview.server.is_replica:
        yield error(
            _("The store is a read-only replica: nothing can be changed."),
            _("Connect the site to the primary server, or make this one the primary."),
        )


def check_memory(examination: Examination) -> Iterator[Finding]:
    memory = examination.overview.memory if examination.overview else None
    if memory is None or memory.used is None:
        return
    if memory.limit is None:
        yield fine(f"The store uses {units.size(memory.used)} of memory; it has no limit.")
        return
    sizes = {"used": units.size(memory.used), "limit": units.size(memory.limit)}
    advice = _("Increase `maxmemory`, or the memory of the store's machine.")
    if memory.used >= memory.limit:
        yield error(_("The store's memory is full (%(used)s of %(limit)s): no vote is accepted.") % sizes, advice)
    elif memory.used >= _NEARLY_FULL * memory.limit:
        yield warning(_("The store's memory is nearly full: %(used)s of %(limit)s.") % sizes, advice)
    else:
        yield fine(f"The store uses {sizes['used']} of {sizes['limit']} of memory.")


def check_evictions(examination: Examination) -> Iterator[Finding]:
    if examination.overview and examination.overview.server.evicted:
        yield error(
            _("The store has deleted keys to free memory: articles or votes may be missing."),
            _("Give it more memory, restore a backup, and restart it."),
        )


def check_persistence(examination: Examination) -> Iterator[Finding]:
    file = examination.overview.append_only if examination.overview else None
    if file is None:
        return
    if not file.enabled:
        yield error(
            _("The append-only file is off: all data is lost when the store stops."),
            _("Run `CONFIG SET appendonly yes` on the store, and write it into its configuration."),
        )
        return
    if not file.last_write_ok:
        yield error(
            _("The last write to the append-only file failed: no change is accepted."),
            _("Check the disk and the store's log."),
        )
    if not file.last_rewrite_ok:
        yield warning(
            _("The last rewrite of the append-only file failed: the file keeps growing."),
            _("Check the disk and the store's log."),
        )
    if file.last_write_ok and file.last_rewrite_ok:
        yield fine("The append-only file is on and is written.")


def check_sync(examination: Examination) -> Iterator[Finding]:
    if not examination.overview or not examination.overview.append_only.enabled:
        return
    match examination.sync_policy:
        case "no":
            yield warning(
                _("The system decides when votes reach the disk: a power failure can cost half a minute of them."),
                _("Set `appendfsync` to `everysec` or `always`."),
            )
        case "everysec":
            yield note("Votes reach the disk once a second: a power failure can cost the last second.")
        case "always":
            yield fine("Votes are confirmed when they are on disk.")
