"""Format sizes and times for operators."""

import re

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from articles.formatting.values import decimal, grouped

_MINUTE, _HOUR, _DAY = 60, 3600, 86400

_UNGROUPED = re.compile("[0-9]{4}")  # of 1,000 to 1,023 units


def size(count: float) -> str:
    """Format a number of bytes in the largest fitting unit, with steps of 1024."""
    return _UNGROUPED.sub(lambda digits: grouped(int(digits[0])), filesizeformat(round(count)))


def span(seconds: float) -> str:
    """Format a duration in its two largest whole units: `3 d 4 h`, `12 min 5 s`, `8 s`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return _("%(s)s s") % {"s": grouped(whole)}
    if whole < _HOUR:
        return _("%(min)s min %(s)s s") % {"min": grouped(whole // _MINUTE), "s": grouped(whole % _MINUTE)}
    if whole < _DAY:
        return _("%(h)s h %(min)s min") % {"h": grouped(whole // _HOUR), "min": grouped(whole % _HOUR // _MINUTE)}
    return _("%(d)s d %(h)s h") % {"d": grouped(whole // _DAY), "h": grouped(whole % _DAY // _HOUR)}


def moment(seconds: float) -> str:
    """Format a short duration with two or three significant digits: `2.31 s`, `14.2 ms`, `0.85 ms`, `7.0 µs`."""
    if seconds >= 1:
        return _("%(n)s s") % {"n": decimal(seconds, 2)}
    if seconds >= 0.0001:
        return _("%(n)s ms") % {"n": decimal(seconds * 1000, 2 if seconds < 0.01 else 1)}
    return _("%(n)s µs") % {"n": decimal(seconds * 1e6, 1)}
