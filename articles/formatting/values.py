"""Format ages, dates and numbers for pages. Used as template filters."""

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import get_language, gettext, ngettext, pgettext
from markupsafe import Markup, escape

from articles.domain.ranking import RANGES
from articles.domain.reasons import OwnText, recorded

MINUS = "\N{MINUS SIGN}"

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400

_UNITS: tuple[tuple[int, Callable[[int], str]], ...] = (
    (_DAY, lambda n: ngettext("%(n)s day", "%(n)s days", n)),
    (_HOUR, lambda n: ngettext("%(n)s hour", "%(n)s hours", n)),
    (_MINUTE, lambda n: ngettext("%(n)s minute", "%(n)s minutes", n)),
    (1, lambda n: ngettext("%(n)s second", "%(n)s seconds", n)),
)

_AGES: Mapping[int, Callable[[int], str]] = {
    _YEAR: lambda n: ngettext("%(n)s year ago", "%(n)s years ago", n),
    _DAY: lambda n: ngettext("%(n)s day ago", "%(n)s days ago", n),
    _HOUR: lambda n: ngettext("%(n)s hour ago", "%(n)s hours ago", n),
    _MINUTE: lambda n: ngettext("%(n)s minute ago", "%(n)s minutes ago", n),
}
"""The largest unit first."""

_NUMBER = re.compile(r"[0-9.]+(?:e[+-][0-9]+)?")
_SPACE_AFTER_MARK = re.compile(r"(?<=[，。：；？！])\s+")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def age(posted_at: float) -> str:
    """Format the time since `posted_at` (Unix seconds) in its largest whole unit; never negative."""
    return age_in_words(*age_in_units(posted_at, time.time()))


def age_in_units(posted_at: float, now: float) -> tuple[int, int]:
    """Return the age at `now` in its largest whole unit, and that unit in seconds; 0 and 0 if just now."""
    seconds = int(now - posted_at)
    for unit in _AGES:
        if seconds >= unit:
            return seconds // unit, unit
    return 0, 0


def age_in_words(n: int, unit: int) -> str:
    """Format what `age_in_units` returns."""
    return _age(n, unit, get_language())


@lru_cache(maxsize=4096)
def _age(n: int, unit: int, _language: str | None) -> str:
    if not unit:
        return gettext("just now")
    return _AGES[unit](n) % {"n": grouped(n)}


def from_now(unix_seconds: float) -> str:
    """Format a moment relative to now, to the minute: "2 hours 5 minutes ago", "in 6 days"."""
    return _from_now(math.trunc((unix_seconds - time.time()) / _MINUTE), get_language())


@lru_cache(maxsize=4096)
def _from_now(minutes: int, _language: str | None) -> str:
    if not minutes:
        return gettext("just now")
    distance = {"time": duration(minutes * _MINUTE)}
    return gettext("in %(time)s") % distance if minutes > 0 else gettext("%(time)s ago") % distance


def moment(unix_seconds: float) -> datetime:
    """Return the moment in the site's time zone."""
    return timezone.localtime(datetime.fromtimestamp(unix_seconds, UTC))


def full_date(unix_seconds: float) -> str:
    """Format date and time in the active language, with the site's time zone: 22 Nov 2026, 08:00 UTC+8."""
    return _full_date(unix_seconds, get_language(), timezone.get_current_timezone())


@lru_cache(maxsize=4096)
def _full_date(unix_seconds: float, _language: str | None, _time_zone: tzinfo) -> str:
    at = moment(unix_seconds)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{_midnight(midnight, _language).replace('00:00', f'{at:%H:%M}')} {_zone(at)}"


@lru_cache(maxsize=4096)
def _midnight(at: datetime, _language: str | None) -> str:
    """Format the first minute of a day, without its zone. Django takes 50 µs for it."""
    return date_format(at, "DATETIME_FORMAT").removesuffix(f" UTC{at:%z}")


def _zone(at: datetime) -> str:
    """Return the distance from UTC, which a name such as CST does not tell: UTC, UTC+8, UTC−3:30."""
    minutes = int((at.utcoffset() or timedelta()).total_seconds() // 60)
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{MINUS if minutes < 0 else '+'}{hours}" + (f":{rest:02}" if rest else "")


def time_of(unix_seconds: float, ago: str | None = None) -> Markup:
    """Return a moment as an HTML `time`, shown as an age: the given one, or that of now; the date is its title."""
    title = f' title="{escape(full_date(unix_seconds))}"'
    return _time(unix_seconds, age(unix_seconds) if ago is None else ago, title)


def date_of(unix_seconds: float) -> Markup:
    """Return a moment as an HTML `time`, shown as a date; static/js/times.js converts it to the reader's zone."""
    return _time(unix_seconds, full_date(unix_seconds))


def _time(unix_seconds: float, shown: str, title: str = "") -> Markup:
    text = f'<time datetime="{iso_date(unix_seconds)}"{title}>{escape(shown)}</time>'
    return Markup(text)  # nosec B704 # noqa: S704 - escaped just now


@lru_cache(maxsize=4096)
def iso_date(unix_seconds: float) -> str:
    """Format as ISO 8601 with the offset, for `<time datetime>`."""
    return moment(unix_seconds).isoformat(timespec="seconds")


def duration(seconds: float) -> str:
    """Format a duration, ignoring its sign, in its two largest units; below 10 s, to the millisecond."""
    exact, whole = round(abs(seconds), 3), round(abs(seconds))
    if exact < 10 and exact != whole:
        return gettext("%(n)s seconds") % {"n": significant(exact)}
    units = [unit for unit in _UNITS if unit[0] <= whole] or list(_UNITS[-1:])
    count, rest = divmod(whole, units[0][0])
    small = rest // units[1][0] if len(units) > 1 else 0
    words = [unit[1](n) % {"n": grouped(n)} for unit, n in zip(units, (count, small), strict=False)]
    return gettext("%(large)s %(small)s") % {"large": words[0], "small": words[1]} if small else words[0]


def significant(number: float, digits: int = 4) -> str:
    """Format a number to significant digits, but never round its integer part: 12,345, 0.0125, 1.3 × 10⁻⁷."""
    return _significant(number, digits, get_language())


@lru_cache(maxsize=4096)
def _significant(number: float, digits: int, _language: str | None) -> str:
    if 0 < abs(number) < 1e-4:
        mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
        return f"{significant(float(mantissa), digits)} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    exact = Decimal(number)
    rounded = round(exact, max(0, digits - 1 - exact.adjusted())).normalize()
    return decimal(rounded, max(0, -int(rounded.as_tuple().exponent)))


def thousandths(number: float) -> str:
    """Format a number with three decimals."""
    return decimal(round(Decimal(number), 3), 3)


def decimal(number: float | Decimal | str, places: int) -> str:
    """Format a number in the active language: digits in groups, and a minus sign instead of a hyphen."""
    return _decimal(number, places, get_language())


@lru_cache(maxsize=4096)
def _decimal(number: float | Decimal | str, places: int, _language: str | None) -> str:
    return number_format(number, decimal_pos=places, force_grouping=True).replace("-", MINUS)


def grouped(number: float) -> str:
    """Format a whole number with the active language's thousands separator."""
    if type(number) is int and -1000 < number < 1000:  # most numbers, and the same in every language
        return f"{MINUS if number < 0 else ''}{abs(number)}"
    return decimal(number, 0)


def figures(text: str) -> str:
    """Format the numbers in a text from the store, such as "1500 → 0.25", in the active language."""
    return _NUMBER.sub(lambda number: significant(float(number[0]), 6), text)


def parameter_name(name: str, *, with_unit: bool = False) -> str:
    """Return the name of a parameter of the ranking, perhaps with the unit of its values."""
    base = gettext("base, in hours") if with_unit else gettext("base")
    return {"votes_per_day": gettext("votes per day"), "base": base, "alpha": "α", "beta": "β", "gamma": "γ"}[name]


def changed_parameters(details: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the parameters in an entry of the moderation log: names with units, and what it says of each."""
    return [(parameter_name(name, with_unit=True), details[name]) for name in RANGES if details.get(name)]


def as_shown(text: str) -> str:
    """Return a text of the store; one of the site's own in the active language."""
    return gettext(own) if isinstance(own := recorded(text), OwnText) else text


OwnText.drawn = staticmethod(lambda text: escape(gettext(text)))


def listed(words: Iterable[str]) -> str:
    """Join words with the active language's list separator."""
    return pgettext("between the words of a list", ", ").join(words)


def prose(text: str) -> str:
    """Remove the space after Chinese punctuation where sentences are joined."""
    return type(text)(_SPACE_AFTER_MARK.sub("", text))


def coded(text: str) -> Markup:
    """Return a text as HTML, with code for what is between backticks."""
    parts = (f"<code>{escape(part)}</code>" if n % 2 else escape(part) for n, part in enumerate(text.split("`")))
    return Markup("".join(parts))  # nosec B704 # noqa: S704 - each part is escaped
