"""Read and write articles as JSON Lines, one article per line, to move them between sites.

A row has `title`, `link` or `text` or both, `time` (Unix seconds) and `votes`; optionally `poster`, `groups`,
`opposes`, `closes` (when voting ends, Unix seconds) and `removed` (the reason). Other fields are ignored. Without
`opposes`, `votes` is the net count; without `closes`, voting ends with the voting window of the importing site.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isinf, isnan
from typing import Any

from articles.domain.articles import Article, ImportedArticle
from articles.domain.members import UNKNOWN_POSTER, UserId
from articles.text.lines import TITLE_LIMIT, InvalidInput, clean_reason, clean_text, clean_title
from articles.text.links import clean_link
from articles.text.messages import english_sentence
from articles.text.slugs import clean_slug

EARLIEST = 631_152_000  # 1990-01-01, before the first web page
AHEAD = 86_400  # seconds by which the other site's clock or time zone may be ahead
LONGEST_WINDOW = 366 * 86_400  # seconds from `time` to `closes`
MOST_VOTES = 1_000_000_000
MOST_OPEN_VOTES = 5_000
"""While an article is open, each of its votes is a member of a set. One script adds them all with the article, and
blocks the store meanwhile."""

GROUPS_LIMIT = 20
LONGEST_LINE = 1_000_000  # bytes

# Only with a semicolon: `&region=` in a link is a parameter, although `html.unescape` decodes `&reg` in it.
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")

# Words of visible ASCII with single spaces. `clean_title` returns them unchanged too, but takes six times as long.
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")

_NEEDED = ("title", "time", "votes")


class BadRow(ValueError):
    """A row that cannot be imported, or a group that is not valid.

    `code` is one of `messages.ROWS` or `messages.INPUT`, and stable; `params` are the facts of its sentence.
    """

    def __init__(self, code: str, **params: int | str) -> None:
        super().__init__(english_sentence(code, params))
        self.code = code

    @classmethod
    def because(cls, error: InvalidInput) -> "BadRow":
        """Return the same problem as a BadRow."""
        return cls(error.code, **error.params)


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read rows: the current time, the voting window (in seconds), and changes to every row."""

    now: float
    voting_window: float
    unescape: bool = False
    shift: float = 0.0
    """Seconds added to every time."""


@dataclass(frozen=True, slots=True)
class Row:
    """A valid row. `poster` is the name as given, '' if unknown."""

    title: str
    link: str
    poster: str
    posted_at: float
    votes: int
    opposes: int
    groups: tuple[str, ...] = ()
    removed: str | None = None
    closes_at: float | None = None
    left_out: tuple[BadRow, ...] = ()
    """Invalid groups, to which the article is not assigned."""

    text: str = ""

    def imported(self, poster: UserId = UNKNOWN_POSTER, poster_name: str = "") -> ImportedArticle:
        """Return the article, with its poster's account."""
        return ImportedArticle(
            title=self.title,
            link=self.link,
            poster=poster,
            poster_name=poster_name,
            posted_at=self.posted_at,
            votes=self.votes,
            opposes=self.opposes,
            groups=self.groups,
            removed=self.removed,
            closes_at=self.closes_at,
            text=self.text,
        )


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


def read_row(fields: Mapping[str, Any], reading: Reading) -> Row:
    """Return the article of a row. Raises BadRow, except for invalid groups, which are left out."""
    for name in _NEEDED:
        if fields.get(name) is None:
            raise BadRow(f"{name}-missing")
    posted_at = round(read_time(fields, reading.now) + reading.shift, 3)
    closes_at = _closes(fields, posted_at, reading)
    ends = posted_at + reading.voting_window if closes_at is None or isinf(reading.voting_window) else closes_at
    votes, opposes = _counts(fields, is_open=reading.now <= ends)
    groups, left_out = _groups(fields.get("groups"))
    link, text = _content(fields, unescape=reading.unescape)
    return Row(
        title=_clean("title", fields["title"], _clean_title, unescape=reading.unescape),
        link=link,
        poster="" if (poster := fields.get("poster")) is None else _text("poster", poster).strip(),
        posted_at=posted_at,
        votes=votes,
        opposes=opposes,
        groups=groups,
        removed=None if (reason := fields.get("removed")) is None else _clean("reason", reason, clean_reason),
        closes_at=closes_at,
        left_out=left_out,
        text=text,
    )


def _content(fields: Mapping[str, Any], *, unescape: bool) -> tuple[str, str]:
    """Return the link and the text, at most one of them "". Raises BadRow."""
    link, text = fields.get("link"), fields.get("text")
    cleaned = "" if text is None else _clean("text", text, clean_text, unescape=unescape)
    if link in (None, "") and cleaned:
        return "", cleaned
    if link is None:
        raise BadRow("link-missing")
    return _clean("link", link, clean_link, unescape=unescape), cleaned


def read_time(fields: Mapping[str, Any], now: float) -> float:
    """Return the time of a row, not shifted. Raises BadRow."""
    time = _seconds("time", fields.get("time"))
    if time < EARLIEST:
        raise BadRow("time-early")
    if time > now + AHEAD:
        raise BadRow("time-late")
    return float(time)


def _closes(fields: Mapping[str, Any], posted_at: float, reading: Reading) -> float | None:
    """Return when voting ends, shifted like the posting time; None if the row does not say. Raises BadRow."""
    if (given := fields.get("closes")) is None:
        return None
    closes = _seconds("closes", given)
    if closes < EARLIEST:
        raise BadRow("closes-early")
    if closes > posted_at - reading.shift + LONGEST_WINDOW:
        raise BadRow("closes-late")
    closes_at = round(float(closes) + reading.shift, 3)
    if closes_at < posted_at:
        raise BadRow("closes-early")
    return closes_at


def _seconds(name: str, value: object) -> int | float:
    """Return a field that holds Unix seconds. Raises BadRow."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRow(f"{name}-kind")
    if isinstance(value, float) and isnan(value):
        raise BadRow(f"{name}-kind")
    return value


def fields_of(article: Article) -> dict[str, Any]:
    """Return the row of an article. Reading it restores the same counts, groups, names and times."""
    fields: dict[str, Any] = {
        "title": article.title,
        "link": article.link or None,
        "poster": article.poster_name or None,
        "time": _plain_seconds(article.posted_at),
        "closes": _plain_seconds(article.closes_at),
        "votes": article.votes,
        "groups": list(article.groups),
    }
    if article.opposes or article.votes < 1:
        fields["opposes"] = article.opposes
    if article.text:
        fields["text"] = article.text
    if article.removed is not None:
        fields["removed"] = article.removed
    return fields


def _plain_seconds(at: float) -> int | float:
    return int(at) if at.is_integer() else round(at, 3)


def format_line(article: Article) -> bytes:
    """Return the line of an article, in UTF-8."""
    return json.dumps(fields_of(article), ensure_ascii=False).encode() + b"\n"


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadRow(f"{name}-kind")
    return value


def _clean(name: str, value: object, clean: Callable[[str], str], *, unescape: bool = False) -> str:
    text = _text(name, value)
    if unescape:
        text = _REFERENCE.sub(lambda reference: html.unescape(reference[0]), text)
    try:
        return clean(text)
    except InvalidInput as error:
        raise BadRow.because(error) from None


def _clean_title(raw: str) -> str:
    return raw if len(raw) <= TITLE_LIMIT and _PLAIN.fullmatch(raw) else clean_title(raw)


_slug = lru_cache(maxsize=10_000)(clean_slug)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _counts(fields: Mapping[str, Any], *, is_open: bool) -> tuple[int, int]:
    """Return votes and opposes. A total below 1 becomes the poster's own vote and the opposes that it takes."""
    votes, opposes = fields["votes"], fields.get("opposes")
    if opposes is None:
        if not _is_count(votes):
            raise BadRow("votes-kind")
        votes, opposes = max(1, votes), max(0, 1 - votes)
    elif not (_is_count(votes) and _is_count(opposes) and votes >= 0 and opposes >= 0):
        raise BadRow("opposes-kind")
    if max(votes, opposes) > MOST_VOTES:
        raise BadRow("votes-many")
    if is_open and votes + opposes > MOST_OPEN_VOTES:
        raise BadRow("votes-open", limit=MOST_OPEN_VOTES)
    return votes, opposes


def _groups(names: object) -> tuple[tuple[str, ...], tuple[BadRow, ...]]:
    """Return the valid groups, without duplicates, and the problems of the others."""
    if names is None:
        return (), ()
    if not isinstance(names, list):
        raise BadRow("groups-kind")
    slugs, left_out = dict[str, None](), list[BadRow]()
    for name in names:
        try:
            slugs[_slug(_text("slug", name))] = None
        except InvalidInput as error:
            left_out.append(BadRow.because(error))
        except BadRow as bad:
            left_out.append(bad)
    if len(slugs) > GROUPS_LIMIT:
        left_out.append(BadRow("slug-many", limit=GROUPS_LIMIT))
    return tuple(slugs)[:GROUPS_LIMIT], tuple(left_out)
