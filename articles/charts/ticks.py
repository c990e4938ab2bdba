"""Round values for the ticks of axes."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta, tzinfo
from math import ceil, floor, isfinite, log10

_ROUND_HOURS = (1, 2, 3, 6, 12, 24, 48, 96, 168)


def nice_ticks(low: float, high: float, *, most: int = 5, whole: bool = False) -> list[float]:
    """Return the ticks of an axis that includes `low` to `high`: multiples of 1, 2 or 5 × a power of ten.

    The axis has at most `most` steps and at least one, even where all values are equal. `whole`: only integers.
    """
    if not (isfinite(low) and isfinite(high)) or high <= low:
        low = low if isfinite(low) else 0.0
        high = low + (1 if whole else abs(low) or 1)
    exponent = floor(log10(max((high - low) / most, 1e-300)))
    exponent = max(exponent, 0) if whole else exponent
    for factor in (1, 2, 5, 10, 20):
        first, last = floor(_quotient(low, factor, exponent)), ceil(_quotient(high, factor, exponent))
        if last - first <= most:
            break
    return [_multiple(n * factor, exponent) for n in range(first, max(last, first + 1) + 1)]


def _quotient(value: float, factor: int, exponent: int) -> float:
    """Return value / (factor × 10^exponent), without rounding a power below 1."""
    return value / factor / 10.0**exponent if exponent >= 0 else value * 10.0**-exponent / factor


def _multiple(number: int, exponent: int) -> float:
    """Return number × 10^exponent, exact to the last bit: 0.3, not 3 × 0.1."""
    return float(number * 10**exponent) if exponent >= 0 else number / 10**-exponent


def rank_ticks(worst: int) -> list[float]:
    """Return ranks from 1 to at least `worst`: 1, 2, 3 … or 1, 3, 5 … or 1, 10, 20 …"""
    if worst <= 5:
        return [float(rank) for rank in range(1, max(worst, 2) + 1)]
    if worst <= 9:
        return [1.0, 3.0, 5.0, 7.0, 9.0]
    ticks = nice_ticks(0, worst, most=4, whole=True)
    return [1.0, *ticks[1:]]


def hour_ticks(hours: float) -> list[float]:
    """Return hours from 0 to at most `hours`, in readable steps: 0, 12, 24 …"""
    if hours < 2:
        return [at for at in nice_ticks(0, hours) if at <= hours]
    step = _round_hours(hours, 7)
    return [float(step * n) for n in range(floor(hours / step) + 1)]


def time_ticks(begin: float, end: float, zone: tzinfo, *, most: int = 5) -> list[float]:
    """Return round hours in `zone`, or midnights, from `begin` to `end`; all in Unix seconds."""
    step = timedelta(hours=_round_hours((end - begin) / 3600, most))
    first_day = datetime.fromtimestamp(begin, zone).date()
    clock, ticks = datetime.combine(first_day, time()), []  # wall-clock time without the zone: days of 24 h
    while (at := clock.replace(tzinfo=zone).timestamp()) <= end:
        if at >= begin:
            ticks.append(at)
        clock += step
    return ticks


def _round_hours(hours: float, most: int) -> int:
    """Return the smallest readable step, in hours, that divides `hours` into at most `most` steps."""
    for step in _ROUND_HOURS:
        if hours / step <= most:
            return step
    weeks = ceil(hours / 168 / most)
    return 168 * weeks


def evenly(length: int, most: int) -> Sequence[int]:
    """Return at most `most` indices of a sequence, evenly spaced, with the first and the last."""
    if length <= most:
        return range(length)
    return [round(n * (length - 1) / (most - 1)) for n in range(most)]
