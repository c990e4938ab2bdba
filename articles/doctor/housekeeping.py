"""Whether housekeeping and background tasks succeed, whether the clocks agree, how old the newest backup is."""

from collections.abc import Iterator
from datetime import UTC, datetime

from django.conf import settings
from django.utils.translation import gettext as _, ngettext

from articles.backup.files import BackupDamaged, read_manifest
from articles.backup.folders import BACKUP_SECONDS, chosen_folder, newest_in
from articles.doctor.examination import Examination, Finding, error, fine, note, reason_of, warning
from articles.formatting import units
from articles.formatting.values import grouped
from articles.repository import Clocks
from tasks import MOST, read_state

_APART = 5.0  # seconds by which the clocks of two machines may differ
_AHEAD = 60.0  # seconds by which the store's own clock may be ahead
_BEHIND = 86400.0  # seconds by which it may be behind: after a stop of the site it is, and catches up


def list_problems(clocks: Clocks) -> Iterator[tuple[str, str]]:
    """Yield a word for each disagreement, and a sentence for the operator in the active language."""
    apart = abs(clocks.store_machine - clocks.machine)
    ahead = clocks.store - clocks.machine
    if apart > _APART:
        text = _("The clock of the store’s machine and this machine’s differ by %(time)s: set both by NTP.")
        yield "apart", text % {"time": units.span(apart)}
    if ahead > _AHEAD:
        text = _(
            "This machine’s clock has been set back: until it has caught up, voting closes up to %(time)s early. "
            "If it is right now, run “manage.py accept_clock”."
        )
        yield "ahead", text % {"time": units.span(ahead)}
    if ahead < -_BEHIND:
        text = _(
            "The site has not run for %(time)s, or this machine’s clock has jumped ahead: check it. If it is "
            "right, you don’t have to do anything: the voter lists of closed articles are only kept longer, for "
            "the same length of time."
        )
        yield "behind", text % {"time": units.span(-ahead)}


_HOT_STALE_SECONDS = 600  # several times the longest interval between two scorings of the hot list
_LATE_SECONDS, _LATE_RUNS = 600, 5  # housekeeping is late after this many seconds and this many missed runs


def check_runs(examination: Examination) -> Iterator[Finding]:
    newest = max((step.at for step in examination.steps), default=None)
    if newest is None:
        yield note("Housekeeping has not run yet.")
        return
    age = examination.now - newest
    if age > max(_LATE_SECONDS, _LATE_RUNS * settings.TICK_SECONDS):
        yield warning(
            _("Housekeeping last ran %(time)s ago.") % {"time": units.span(age)},
            _("See the site’s log. If `manage.py run` does not do it here, run `manage.py tick --every 60`."),
        )
    else:
        yield fine(f"Housekeeping last ran {units.span(age)} ago.")


def check_steps(examination: Examination) -> Iterator[Finding]:
    failed = [step for step in examination.steps if step.error]
    for step in failed:
        text = _("The last run of “%(step)s” failed.") % {"step": step.name}
        if step.name == "verify":
            yield error(text, _("Check the disk, and make sure that you have a backup."), step.error)
        else:
            yield warning(text, _("It is retried in the next run; see the site’s log."), step.error)
    if not failed and examination.steps:
        yield fine("No step of housekeeping failed.")


_LATE_TASK = 600  # seconds after which a background task should have been done


def check_tasks(_examination: Examination) -> Iterator[Finding]:
    state = read_state()
    if state.late > _LATE_TASK:
        yield warning(
            _("Background tasks, such as mail, are %(time)s late.") % {"time": units.span(state.late)},
            _("See the site’s log. If there are too many, run `manage.py work` as well."),
        )
    if state.waiting >= MOST:
        yield warning(
            _("Too many background tasks wait, so new ones are refused."), _("See the site’s log for the reason.")
        )
    if state.failed:
        text = ngettext("%(num)s background task failed.", "%(num)s background tasks failed.", state.failed)
        advice = _("The operator’s page says why, and repeats them.")
        yield warning(text % {"num": grouped(state.failed)}, advice)
    if state.late <= _LATE_TASK and not state.failed:
        yield fine(f"{state.waiting:,} background tasks wait, none is late, none failed.")


def check_hot_list(examination: Examination) -> Iterator[Finding]:
    at = examination.hot_rescored_at
    if at and examination.now - at > _HOT_STALE_SECONDS:
        yield warning(
            _("The hot list has not been scored for a long time."),
            _("See the site’s log: is housekeeping running?"),
        )


def check_clocks(examination: Examination) -> Iterator[Finding]:
    problems = list(list_problems(examination.clocks))
    yield from (warning(text) for _problem, text in problems)
    if not problems:
        yield fine("The clocks of the site, the store and its machine agree.")


_MISSED = 2  # number of missing backups after which the newest is too old: one may be in the making


def check_age_of_backup(_examination: Examination) -> Iterator[Finding]:
    if (folder := chosen_folder()) is None:
        yield note("`BACKUP_DIR` is not set, so nothing is known about backups.")
        return
    backup = newest_in(folder)
    if backup is None:
        yield warning(
            _("There is no backup in `%(path)s`.") % {"path": folder},
            _("Housekeeping makes one soon after the site starts; see the site’s log if it does not."),
        )
        return
    try:
        age = _age_of(read_manifest(backup).made_at)
    except BackupDamaged as damage:
        yield error(
            _("The newest backup is damaged."), _("Check the disk, and make another one."), reason_of(damage)
        )
        return
    if age > _MISSED * BACKUP_SECONDS:
        yield warning(
            _("The newest backup is %(time)s old.") % {"time": units.span(age)},
            _("See the site’s log for the reason, and run `manage.py backup`."),
        )
    else:
        yield fine(f"The newest backup is {units.span(age)} old.")


def _age_of(made_at: str) -> float:
    """Return the seconds since a time in ISO 8601, UTC."""
    at = datetime.fromisoformat(made_at)
    return (datetime.now(UTC) - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()
