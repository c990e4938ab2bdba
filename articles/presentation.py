"""How values look on pages: ages, dates, numbers. Filters of the templates."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import get_language, gettext, ngettext

from articles.links import host_of

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def age(posted_at: float) -> str:
    """Time since `posted_at` (Unix seconds) in words, in its largest whole unit; never negative."""
    seconds = max(0, int(time.time() - posted_at))
    if seconds < _MINUTE:
        return gettext("just now")
    if seconds < _HOUR:
        minutes = seconds // _MINUTE
        return ngettext("%(n)d minute ago", "%(n)d minutes ago", minutes) % {"n": minutes}
    if seconds < _DAY:
        hours = seconds // _HOUR
        return ngettext("%(n)d hour ago", "%(n)d hours ago", hours) % {"n": hours}
    if seconds < _YEAR:
        days = seconds // _DAY
        return ngettext("%(n)d day ago", "%(n)d days ago", days) % {"n": days}
    years = seconds // _YEAR
    return ngettext("%(n)d year ago", "%(n)d years ago", years) % {"n": years}


def moment(unix_seconds: float) -> datetime:
    """The moment in the site's time zone."""
    return timezone.localtime(datetime.fromtimestamp(unix_seconds, UTC))


def full_date(unix_seconds: float) -> str:
    """Date and time in the reader's language and the site's time zone."""
    return _full_date(unix_seconds, get_language())


@lru_cache(maxsize=4096)
def _full_date(unix_seconds: float, _language: str | None) -> str:
    return date_format(moment(unix_seconds), "DATETIME_FORMAT")


@lru_cache(maxsize=4096)
def iso_date(unix_seconds: float) -> str:
    """ISO 8601 with the offset, for `<time datetime>`."""
    return moment(unix_seconds).isoformat(timespec="seconds")


def grouped(number: float) -> str:
    """A whole number with the language's thousands separator."""
    return number_format(number, decimal_pos=0, force_grouping=True)


FILTERS: dict[str, Callable[..., Any]] = {
    "age": age,
    "full_date": full_date,
    "iso_date": iso_date,
    "grouped": grouped,
    "host": host_of,
}
