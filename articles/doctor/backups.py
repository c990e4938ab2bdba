"""How old the newest backup is."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from articles.backup import BackupDamaged, newest_in, read_manifest
from articles.doctor.examination import Examination
from articles.doctor.findings import Finding, error, fine, note, reason_of, warning
from articles.formatting import units

_MISSED = 2
"""Number of missing backups after which the newest is too old: one may be in the making."""


def check_age(_examination: Examination) -> Iterator[Finding]:
    if not settings.BACKUP_DIR:
        yield note("`BACKUP_DIR` is not set, so nothing is known about backups.")
        return
    backup = newest_in(Path(settings.BACKUP_DIR))
    if backup is None:
        yield warning(
            _("There is no backup in `%(path)s`.") % {"path": settings.BACKUP_DIR},
            _("Housekeeping makes one soon after the site starts; see the site's log if it does not."),
        )
        return
    try:
        age = _age_of(read_manifest(backup).made_at)
    except BackupDamaged as damage:
        yield error(
            _("The newest backup is damaged."), _("Check the disk, and make another one."), reason_of(damage)
        )
        return
    if age > _MISSED * settings.BACKUP_HOURS * 3600:
        yield warning(
            _("The newest backup is %(time)s old.") % {"time": units.span(age)},
            _("See the site's log for the reason, and run `manage.py backup`."),
        )
    else:
        yield fine(f"The newest backup is {units.span(age)} old.")


def _age_of(made_at: str) -> float:
    """Return the seconds since a time in ISO 8601, UTC."""
    at = datetime.fromisoformat(made_at)
    return (datetime.now(UTC) - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()
