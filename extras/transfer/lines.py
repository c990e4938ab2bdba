"""Read and write articles with their comments as JSON Lines, one article or comment a line, to move between sites.

A row has `title`, `link` or `text` or both, `time` (Unix seconds) and `votes`; optionally `poster`, `groups`,
`opposes`, `closes` (when voting ends, Unix seconds), `removed` (the reason), `locked` (why its discussion is) and
`comment_numbers` (the highest number of its comments, whose rows follow). Other fields are ignored. Without
`opposes`, `votes` is the net count; without `closes`, voting ends with the voting window of the importing site.

The row of a comment has `comment` (its number in its article, from 1), `time` and `text`; optionally `parent` (the
number of the comment it replies to), `author`, `votes`, `opposes`, `closes`, `edited` (Unix seconds), `removed`
(the reason; the text may be missing then) and `deleted` (true for a comment that only keeps the place of its
replies: it has no author, text and votes). Numbers ascend in order of posting.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from articles.domain.articles import AHEAD, MOST_IMPORTED_GROUPS, Article, ImportedArticle
from articles.domain.comments import COMMENTS_PER_ARTICLE, Comment, CommentId, CommentPlace, ImportedComment
from articles.domain.members import DELETED_MEMBER, UNKNOWN_POSTER
from articles.text.lines import TITLE_LIMIT, clean_comment, clean_text, clean_title
from articles.text.links import clean_link
from articles.text.slugs import clean_slug
from extras.transfer.fields import (
    BadRow,
    Reading,
    checked_counts,
    cleaned,
    is_count,
    plain_seconds,
    read_closes,
    read_name,
    read_reason,
    read_time,
    seconds,
)

# Words of visible ASCII with single spaces. `clean_title` returns them unchanged too, but takes six times as long.
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")

_NEEDED = ("title", "time", "votes")


def read_row(
    fields: Mapping[str, Any], reading: Reading, reject: Callable[[BadRow], object] = lambda _: None
) -> ImportedArticle:
    """Return the article of a row, with the name of its poster as given, "" if unknown, and without an account.

    `reject` receives the problem of each invalid group of a valid row, which is left out. Raises BadRow.
    """
    for name in _NEEDED:
        if fields.get(name) is None:
            raise BadRow(f"{name}-missing")
    posted_at = round(read_time(fields, reading.now) + reading.shift, 3)
    closes_at = read_closes(fields, posted_at, reading)
    votes, opposes = _counts(fields, is_open=reading.is_open(posted_at, closes_at))
    groups, left_out = _groups(fields.get("groups"))
    link, text = _content(fields, unescape=reading.unescape)
    article = ImportedArticle(
        title=cleaned("title", fields["title"], _clean_title, unescape=reading.unescape),
        link=link,
        poster=UNKNOWN_POSTER,
        poster_name=read_name(fields, "poster"),
        posted_at=posted_at,
        votes=votes,
        opposes=opposes,
        groups=groups,
        removed=read_reason(fields, "removed"),
        closes_at=closes_at,
        text=text,
        locked=read_reason(fields, "locked"),
        comment_numbers=_comment_numbers(fields.get("comment_numbers")),
    )
    for bad_group in left_out:
        reject(bad_group)
    return article


def _comment_numbers(given: object) -> int:
    if given is None:
        return 0
    if not is_count(given) or not 0 <= given < COMMENTS_PER_ARTICLE:
        raise BadRow("comment-number-kind")
    return given


def _content(fields: Mapping[str, Any], *, unescape: bool) -> tuple[str, str]:
    """Return the link and the text, at most one of them "". Raises BadRow."""
    link, text = fields.get("link"), fields.get("text")
    clean = "" if text is None else cleaned("text", text, clean_text, unescape=unescape)
    if link in (None, "") and clean:
        return "", clean
    if link is None:
        raise BadRow("link-missing")
    return cleaned("link", link, clean_link, unescape=unescape), clean


def fields_of(article: Article, comment_numbers: int = 0) -> dict[str, Any]:
    """Return the row of an article, to be read the same. `comment_numbers`: its comments' highest number."""
    fields: dict[str, Any] = {
        "title": article.title,
        "link": article.link or None,
        "poster": article.poster_name or None,
        "time": plain_seconds(article.posted_at),
        "closes": plain_seconds(article.closes_at),
        "votes": article.votes,
        "groups": list(article.groups),
    }
    if article.opposes or article.votes < 1:
        fields["opposes"] = article.opposes
    if article.text:
        fields["text"] = article.text
    if article.removed is not None:
        fields["removed"] = article.removed
    if article.locked is not None:
        fields["locked"] = article.locked
    if comment_numbers:
        fields["comment_numbers"] = comment_numbers
    return fields


def format_line(article: Article, comment_numbers: int = 0) -> bytes:
    """Return the line of an article, in UTF-8."""
    return json.dumps(fields_of(article, comment_numbers), ensure_ascii=False).encode() + b"\n"


def _clean_title(raw: str) -> str:
    return raw if len(raw) <= TITLE_LIMIT and _PLAIN.fullmatch(raw) else clean_title(raw)


_slug = lru_cache(maxsize=10_000)(clean_slug)


def _counts(fields: Mapping[str, Any], *, is_open: bool) -> tuple[int, int]:
    """Return votes and opposes. A total below 1 becomes the poster's own vote and the opposes that it takes."""
    votes, opposes = fields["votes"], fields.get("opposes")
    if opposes is None:
        if not is_count(votes):
            raise BadRow("votes-kind")
        votes, opposes = max(1, votes), max(0, 1 - votes)
    return checked_counts(votes, opposes, is_open=is_open)


def _groups(names: object) -> tuple[tuple[str, ...], tuple[BadRow, ...]]:
    """Return the valid groups, without duplicates, and the problems of the others."""
    if names is None:
        return (), ()
    if not isinstance(names, list):
        raise BadRow("groups-kind")
    slugs, left_out = dict[str, None](), list[BadRow]()
    for name in names:
        try:
            slugs[cleaned("slug", name, _slug)] = None
        except BadRow as bad:
            left_out.append(bad)
    if len(slugs) > MOST_IMPORTED_GROUPS:
        left_out.append(BadRow("slug-many", limit=MOST_IMPORTED_GROUPS))
    return tuple(slugs)[:MOST_IMPORTED_GROUPS], tuple(left_out)


# Comments

NUMBER = "comment"  # the field that tells the row of a comment from that of an article


@dataclass(slots=True)
class Discussion:
    article: ImportedArticle
    places: dict[int, CommentPlace] = field(default_factory=dict)  # places by number, without rejected comments
    last_number: int = 0

    def read_row(self, fields: Mapping[str, Any], reading: Reading) -> ImportedComment:
        """Return the next comment, with the name of its author as given, "" if unknown, and without an account.

        Raises BadRow; then it counts as rejected, and so do its replies.
        """
        number = _number(fields[NUMBER])
        if number <= self.last_number:
            raise BadRow("comment-number-order")
        self.last_number = number
        above = fields.get("parent")
        parent = None if above is None else self.places.get(_number(above))
        if above is not None and parent is None:
            raise BadRow("comment-parent")
        posted_at = round(read_time(fields, reading.now) + reading.shift, 3)
        closes_at = read_closes(fields, posted_at, reading)
        place = CommentPlace(number, posted_at, parent, closes_at, _is_deleted(fields))
        comment = _read_comment(fields, self.article, place, reading)
        self.places[number] = place
        return comment


def _read_comment(
    fields: Mapping[str, Any], article: ImportedArticle, place: CommentPlace, reading: Reading
) -> ImportedComment:
    if place.is_stub:
        return ImportedComment(article, place, DELETED_MEMBER, "", "")
    removed = read_reason(fields, "removed")
    is_open = reading.is_open(place.posted_at, place.closes_at)
    votes, opposes = checked_counts(fields.get("votes", 0), fields.get("opposes", 0), is_open=is_open)
    return ImportedComment(
        article=article,
        place=place,
        author=DELETED_MEMBER,
        author_name=read_name(fields, "author"),
        text=_text(fields, is_removed=removed is not None, unescape=reading.unescape),
        votes=votes,
        opposes=opposes,
        edited_at=_edited(fields, place.posted_at, reading),
        removed=removed,
    )


def _number(value: object) -> int:
    if not is_count(value) or not 0 < value < COMMENTS_PER_ARTICLE:
        raise BadRow("comment-number-kind")
    return value


def _is_deleted(fields: Mapping[str, Any]) -> bool:
    deleted = fields.get("deleted", False)
    if not isinstance(deleted, bool):
        raise BadRow("deleted-kind")
    return deleted


def _text(fields: Mapping[str, Any], *, is_removed: bool, unescape: bool) -> str:
    text = fields.get("text")
    if is_removed and text in (None, ""):
        return ""
    if text is None:
        raise BadRow("text-missing")
    return cleaned("text", text, clean_comment, unescape=unescape)


def _edited(fields: Mapping[str, Any], posted_at: float, reading: Reading) -> float | None:
    if (given := fields.get("edited")) is None:
        return None
    edited = seconds("edited", given)
    if edited > reading.now + AHEAD:
        raise BadRow("edited-late")
    edited_at = round(float(edited) + reading.shift, 3)
    if edited_at < posted_at:
        raise BadRow("edited-early")
    return edited_at


def fields_of_comment(comment: Comment, *, with_removed: bool) -> dict[str, Any]:
    """Return the row of a comment. `with_removed`: with text and author even if it is removed."""
    fields: dict[str, Any] = {NUMBER: _number_of(comment.id)}
    if comment.parent is not None:
        fields["parent"] = _number_of(comment.parent)
    fields |= {"time": plain_seconds(comment.posted_at), "closes": plain_seconds(comment.closes_at)}
    if comment.is_deleted:
        return fields | {"deleted": True}
    if comment.removed is None or with_removed:
        fields |= {"author": comment.author_name or None, "text": comment.text}
        if comment.edited_at is not None:
            fields["edited"] = plain_seconds(comment.edited_at)
    counts = {"votes": comment.votes, "opposes": comment.opposes}
    fields |= {name: count for name, count in counts.items() if count}
    if comment.removed is not None:
        fields["removed"] = comment.removed
    return fields


def _number_of(comment_id: CommentId) -> int:
    return comment_id % COMMENTS_PER_ARTICLE


def format_comment(comment: Comment, *, with_removed: bool) -> bytes:
    """Return the line of a comment, in UTF-8."""
    return json.dumps(fields_of_comment(comment, with_removed=with_removed), ensure_ascii=False).encode() + b"\n"
