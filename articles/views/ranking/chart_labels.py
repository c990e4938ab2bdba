"""Labels of charts in the reader's language: what `articles.charts` takes as `…_label`."""

from datetime import date, tzinfo

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from articles.formatting.values import full_date, moment, significant


def number(value: float) -> str:
    """With the language's separators, and three digits that count; beyond all counts, as programs do."""
    return significant(value, 3) if abs(value) < 1e12 else f"{value:.3g}"


def hours(value: float) -> str:
    """Hours on an axis: "12 h"."""
    return _("%(hours)s h") % {"hours": number(value)}


def clock_or_day(at: float) -> str:
    """A moment on a time axis: the day where it begins, in the site's time zone, else the time of day."""
    local = moment(at)
    return day(local) if (local.hour, local.minute) == (0, 0) else date_format(local, "TIME_FORMAT")


def day(found: date) -> str:
    """Day and month, without the year."""
    # Translators: a format of Django's date filter, for day and month in few letters
    return date_format(found, _("j M"))


def zone() -> tzinfo:
    """The time zone in which the site shows times."""
    return timezone.get_current_timezone()


when = full_date
