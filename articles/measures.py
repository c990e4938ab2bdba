"""Sizes and times as operators read them."""

from django.template.defaultfilters import filesizeformat
from django.utils.formats import number_format
from django.utils.translation import gettext as _

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def size(count: float) -> str:
    """Bytes in the largest fitting unit, of 1024 each."""
    return filesizeformat(round(count))


def span(seconds: float) -> str:
    """A time span in its two largest units, whole: `3 d 4 h`, `12 min 5 s`, `8 s`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return _("%(s)d s") % {"s": whole}
    if whole < _HOUR:
        return _("%(min)d min %(s)d s") % {"min": whole // _MINUTE, "s": whole % _MINUTE}
    if whole < _DAY:
        return _("%(h)d h %(min)d min") % {"h": whole // _HOUR, "min": whole % _HOUR // _MINUTE}
    return _("%(d)d d %(h)d h") % {"d": whole // _DAY, "h": whole % _DAY // _HOUR}


def moment(seconds: float) -> str:
    """A short time, with two or three digits that mean something: `2.31 s`, `14.2 ms`, `0.85 ms`, `7.0 µs`."""
    if seconds >= 1:
        return _("%(n)s s") % {"n": number_format(seconds, 2)}
    if seconds >= 0.0001:
        return _("%(n)s ms") % {"n": number_format(seconds * 1000, 2 if seconds < 0.01 else 1)}
    return _("%(n)s µs") % {"n": number_format(seconds * 1e6, 1)}


def ratio(number: float, digits: int = 2) -> str:
    """A fraction in the reader's language."""
    return number_format(number, digits)
