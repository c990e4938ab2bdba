"""Values as the store keeps them, which is text. Where a number is something else, the store is damaged."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from typing import Any

from articles.domain.articles import LATEST, LISTED, ArticleId, Content
from articles.domain.errors import StoreDamaged
from articles.domain.ranking import RANGES, Parameters

_COUNT = re.compile("[0-9]{1,16}")


@contextmanager
def naming(subject: str) -> Iterator[None]:
    """Let damage that the block meets name the subject. Raises StoreDamaged."""
    try:
        yield
    except (StoreDamaged, LookupError, TypeError, ValueError) as error:
        raise StoreDamaged(f"{subject}: {error}") from error


def article_id_from(member: str | bytes) -> ArticleId:
    """Return the id in a set or a ranking. Raises StoreDamaged."""
    try:
        return int(member)
    except ValueError as error:
        raise StoreDamaged(f"the id of an article is {member[:40]!r}") from error


def content_values(content: Content, kept_html: str) -> list[str]:
    """Return an article's content as arguments of a script: text, HTML, then other fields, each with its value."""
    fields = chain.from_iterable((name, getattr(content, name)) for name in LISTED)
    return [content.text, kept_html, *fields]


def count_from(text: str | int | None) -> int:
    """Return the number in a counter; 0 for none. Raises StoreDamaged."""
    return whole_from(str(text), "a counter") if text is not None else 0


def whole_from(text: str, meaning: str) -> int:
    """Return a whole number that is not negative. Raises StoreDamaged, with its meaning, for anything else."""
    if not _COUNT.fullmatch(text):
        raise StoreDamaged(f"{meaning} is {text[:40]!r}")
    return int(text)


def moment_from(text: str | None) -> float | None:
    """Return a time, in Unix seconds; None for none, which may be written as a dash. Raises StoreDamaged."""
    return None if text in (None, "", "-") else time_from(text)


def time_from(text: str) -> float:
    """Return a time, in Unix seconds. Raises StoreDamaged."""
    at = number_from(text, "a time")
    if not 0 <= at < LATEST:
        raise StoreDamaged(f"a time is {text[:40]}")
    return at


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
