"""Values as the store keeps them, which is text. In a damaged store a number may be something else."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any

from articles.domain.articles import LISTED, ArticleId, Content
from articles.domain.errors import StoreDamaged
from articles.domain.ranking import RANGES, Parameters

NO_ARTICLE = 0
"""An id that no article has."""

_COUNT = re.compile("[0-9]{1,15}")
_ID = re.compile(rb"[1-9][0-9]{0,15}")


def article_id_from(member: str | bytes) -> ArticleId:
    """Return the id in a set or a ranking; NO_ARTICLE for a damaged member, so that lists leave it out."""
    raw = member.encode() if isinstance(member, str) else member
    return int(raw) if _ID.fullmatch(raw) else NO_ARTICLE


def joined(ids: Iterable[int]) -> str:
    """Return ids as an argument of a script."""
    return ",".join(map(str, ids))


def content_values(content: Content, kept_html: str) -> list[str]:
    """Return an article's content as arguments of a script: text, HTML, then other fields, each with its value."""
    fields = chain.from_iterable((name, getattr(content, name)) for name in LISTED)
    return [content.text, kept_html, *fields]


def count_from(text: object) -> int:
    """Return the number in a counter; 0 for none and for a damaged one."""
    if text is None:
        return 0
    digits = str(text)
    return int(digits) if _COUNT.fullmatch(digits) else 0


def whole_from(text: str, meaning: str) -> int:
    """Return a whole number that is not negative. Raises StoreDamaged, with its meaning, for anything else."""
    if not _COUNT.fullmatch(text):
        raise StoreDamaged(f"{meaning} is {text[:40]!r}")
    return int(text)


def moment_from(text: str | None) -> float | None:
    """Return a time, in Unix seconds; None for none and for a damaged one."""
    try:
        return number_from(text or "0", "time") or None
    except StoreDamaged:
        return None


def number_from(text: str, meaning: str) -> float:
    """Return a finite number. Raises StoreDamaged, with the number's meaning, for anything else."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise StoreDamaged(f"{meaning} is {text[:40]!r}")
    return number


def exact(value: float) -> str:
    """Return a number as text that stands for exactly this number."""
    return f"{value:.17g}"


def values_of(parameters: Parameters) -> dict[str, str]:
    """Return the ranking's parameters as the store keeps them, with the resulting seconds per point."""
    values = {name: exact(value) for name, value in asdict(parameters).items()}
    return values | {"seconds_per_point": exact(parameters.seconds_per_point)}


def parameters_from(values: Mapping[str, Any]) -> Parameters:
    """Return the ranking's parameters in a hash or in an entry of the history. Raises StoreDamaged."""
    numbers = {name: number_from(values[name], name) for name in RANGES}
    return Parameters(votes_per_day=round(numbers.pop("votes_per_day")), **numbers)
