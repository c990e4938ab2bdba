"""Sizes and times as operators read them."""

import re

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from articles.formatting.values import decimal, grouped

_MINUTE, _HOUR, _DAY = 60, 3600, 86400

_UNGROUPED = re.compile("[0-9]{4}")  # of 1,000 to 1,023 units


def size(count: float) -> str:
    """Bytes in the largest fitting unit, of 1024 each."""
    return _UNGROUPED.sub(lambda digits: grouped(int(digits[0])), filesizeformat(round(count)))


def span(seconds: float) -> str:
    """A time span in its two largest units, whole: `3 d 4 h`, `12 min 5 s`, `8 s`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return _("%(s)s s") % {"s": grouped(whole)}
    if whole < _HOUR:
        return _("%(min)s min %(s)s s") % {"min": grouped(whole // _MINUTE), "s": grouped(whole % _MINUTE)}
    if whole < _DAY:
        return _("%(h)s h %(min)s min") % {"h": grouped(whole // _HOUR), "min": grouped(whole % _HOUR // _MINUTE)}
    return _("%(d)s d %(h)s h") % {"d": grouped(whole // _DAY), "h": grouped(whole % _DAY // _HOUR)}


def moment(seconds: float) -> str:
    """A short time, with two or three digits that mean something: `2.31 s`, `14.2 ms`, `0.85 ms`, `7.0 µs`."""
    if seconds >= 1:
        return _("%(n)s s") % {"n": decimal(seconds, 2)}
    if seconds >= 0.0001:
        return _("%(n)s ms") % {"n": decimal(seconds * 1000, 2 if seconds < 0.01 else 1)}
    return _("%(n)s µs") % {"n": decimal(seconds * 1e6, 1)}


def ratio(number: float, digits: int = 2) -> str:
    """A fraction in the reader's language."""
    return decimal(number, digits)
