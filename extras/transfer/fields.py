"""What the rows of import files have in common: reading a line, its times and texts, and why a row is rejected."""

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isinf, isnan
from typing import Any, TypeGuard

from articles.domain.articles import AHEAD, EARLIEST, MOST_OPEN_VOTES
from articles.text.lines import InvalidInput, clean_reason
from articles.text.messages import INPUT, with_facts

LONGEST_WINDOW = 366 * 86_400  # seconds from `time` to `closes`
MOST_VOTES = 1_000_000_000

LONGEST_LINE = 1_000_000  # bytes

# Only with a semicolon: `&region=` in a link is a parameter, although `html.unescape` decodes `&reg` in it.
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")


_NEEDED = ("title", "link", "text", "time", "votes")
_TEXTS = ("title", "link", "text", "poster", "author", "reason")

SENTENCES = {
    "row-encoding": "The line is not UTF-8 text.",
    "row-json": "The line is not valid JSON.",
    "row-object": "The line is not a JSON object.",
    "row-long": "The line is too long.",
    **{f"{name}-missing": f"The field {name!r} is missing." for name in _NEEDED},
    **{f"{name}-kind": f"The {name} is not text." for name in _TEXTS},
    "time-kind": "The time is not a number of Unix seconds.",
    "time-early": "The time is before 1990.",
    "time-late": "The time is more than a day in the future.",
    "closes-kind": "The end of voting is not a number of Unix seconds.",
    "closes-early": "Voting ends before the time of posting.",
    "closes-late": "Voting ends more than a year after the time of posting.",
    "votes-kind": "The votes are not a whole number.",
    "votes-many": "There are more votes than the site can store.",
    "votes-open": "Voting is still open. Until it ends there can be at most %(limit)s votes and opposes.",
    "opposes-kind": "The votes and opposes are not whole numbers from 0.",
    "groups-kind": "The groups are not a list.",
    "slug-kind": "A group's name is not text.",
    "comment-number-kind": "A comment's number is not a whole number below a million.",
    "comment-number-order": "The comment's number is not higher than that of the comment above it.",
    "comment-number-taken": "The article has another comment with this number here.",
    "comment-article": "The comment has no article: none is above it, or it was rejected.",
    "comment-parent": "The comment that it replies to is not above it, or was rejected.",
    "comment-parent-gone": "The comment that it replies to is not here.",
    "edited-kind": "The time of the edit is not a number of Unix seconds.",
    "edited-early": "The comment was edited before the time of posting.",
    "edited-late": "The time of the edit is more than a day in the future.",
    "deleted-kind": "The field 'deleted' is neither true nor false.",
    "slug-many": "The article is in more than %(limit)s groups. Only the first %(limit)s are kept.",
}
"""What is wrong with a row, besides `INPUT`. A report of an import is in English only."""


class BadRow(ValueError):
    """A row that cannot be imported, or a group that is not valid.

    `code` is one of `SENTENCES` or `messages.INPUT`, and stable; `params` are the facts of its sentence.
    """

    def __init__(self, code: str, **params: int | str) -> None:
        super().__init__(with_facts(SENTENCES.get(code) or INPUT[code], params))
        self.code = code


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read rows: the current time, the voting window (in seconds), and changes to every row."""

    now: float
    voting_window: float
    unescape: bool = False
    shift: float = 0.0  # seconds added to every time

    def is_open(self, posted_at: float, closes_at: float | None) -> bool:
        uses_window = closes_at is None or isinf(self.voting_window)
        return self.now <= (posted_at + self.voting_window if uses_window else closes_at or 0.0)


def parse_line(line: bytes) -> dict[str, Any]:
    """Return the fields of a line. Raises BadRow."""
    if len(line) > LONGEST_LINE:
        raise BadRow("row-long")
    try:
        fields = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadRow("row-encoding") from None
    except (ValueError, RecursionError):
        raise BadRow("row-json") from None
    if not isinstance(fields, dict):
        raise BadRow("row-object")
    return fields


def read_time(fields: Mapping[str, Any], now: float) -> float:
    """Return the time of a row, not shifted. Raises BadRow."""
    time = seconds("time", fields.get("time"))
    if time < EARLIEST:
        raise BadRow("time-early")
    if time > now + AHEAD:
        raise BadRow("time-late")
    return float(time)


def read_closes(fields: Mapping[str, Any], posted_at: float, reading: Reading) -> float | None:
    """Return when voting ends, shifted like the posting time; None if the row does not say. Raises BadRow."""
    if (given := fields.get("closes")) is None:
        return None
    closes = seconds("closes", given)
    if closes < EARLIEST:
        raise BadRow("closes-early")
    if closes > posted_at - reading.shift + LONGEST_WINDOW:
        raise BadRow("closes-late")
    closes_at = round(float(closes) + reading.shift, 3)
    if closes_at < posted_at:
        raise BadRow("closes-early")
    return closes_at


def seconds(name: str, value: object) -> int | float:
    """Return a field that holds Unix seconds. Raises BadRow."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRow(f"{name}-kind")
    if isinstance(value, float) and isnan(value):
        raise BadRow(f"{name}-kind")
    return value


def plain_seconds(at: float) -> int | float:
    return int(at) if at.is_integer() else round(at, 3)


def text_of(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadRow(f"{name}-kind")
    return value


def cleaned(name: str, value: object, clean: Callable[[str], str], *, unescape: bool = False) -> str:
    text = text_of(name, value)
    if unescape and "&" in text:
        text = _REFERENCE.sub(lambda reference: html.unescape(reference[0]), text)
    try:
        return clean(text)
    except InvalidInput as error:
        raise BadRow(error.code, **error.params) from None


def read_reason(fields: Mapping[str, Any], name: str) -> str | None:
    """Return the reason in a field; None if the row has none. Raises BadRow."""
    return None if (reason := fields.get(name)) is None else cleaned("reason", reason, clean_reason)


def read_name(fields: Mapping[str, Any], name: str) -> str:
    """Return the name of a member as given, "" if unknown. Raises BadRow."""
    return "" if (given := fields.get(name)) is None else text_of(name, given).strip()


def is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def checked_counts(votes: object, opposes: object, *, is_open: bool) -> tuple[int, int]:
    """Return votes and opposes that a site can store. Raises BadRow."""
    if not (is_count(votes) and is_count(opposes) and votes >= 0 and opposes >= 0):
        raise BadRow("opposes-kind")
    if max(votes, opposes) > MOST_VOTES:
        raise BadRow("votes-many")
    if is_open and votes + opposes > MOST_OPEN_VOTES:
        raise BadRow("votes-open", limit=MOST_OPEN_VOTES)
    return votes, opposes
