"""Labels of charts in the reader's language, for the arguments `…_label` of `articles.charts`."""

from datetime import date, tzinfo

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from articles.formatting.values import date_of, moment, significant


def number(value: float) -> str:
    """Return a number with three significant digits and the language's separators; from 10¹² as "1e+12"."""
    return significant(value, 3) if abs(value) < 1e12 else f"{value:.3g}"


def hours(value: float) -> str:
    """Return hours on an axis: "12 h"."""
    return _("%(hours)s h") % {"hours": number(value)}


def clock_or_day(at: float) -> str:
    """Return a moment on a time axis: at midnight in the site's time zone the day, else the time."""
    local = moment(at)
    return day(local) if (local.hour, local.minute) == (0, 0) else date_format(local, "TIME_FORMAT")


def day(value: date) -> str:
    """Return day and month, without the year."""
    # Translators: a format of Django's date filter, for day and month in few letters
    return date_format(value, _("j M"))


def zone() -> tzinfo:
    """Return the time zone in which the site shows times."""
    return timezone.get_current_timezone()


when = date_of
