"""Read and write comments as JSON Lines, one comment per line, below the row of their article.

A row has `comment` (its number in its article, from 1), `time` (Unix seconds) and `text`; optionally `parent` (the
number of the comment it replies to), `author`, `votes`, `opposes`, `closes` (when voting ends, Unix seconds),
`edited` (Unix seconds), `removed` (the reason; the text may be missing then) and `deleted` (true for a comment
that only keeps the place of its replies: it has no author, text and votes). Numbers ascend in order of posting.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from articles.domain.articles import ImportedArticle
from articles.domain.comments import COMMENTS_PER_ARTICLE, Comment, CommentId, CommentPlace, ImportedComment
from articles.domain.members import DELETED_MEMBER
from articles.text.lines import clean_comment
from articles.transfer.fields import (
    AHEAD,
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
    votes, opposes = _counts(fields, reading, place)
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


def _counts(fields: Mapping[str, Any], reading: Reading, place: CommentPlace) -> tuple[int, int]:
    votes, opposes = fields.get("votes", 0), fields.get("opposes", 0)
    if not (is_count(votes) and is_count(opposes) and votes >= 0 and opposes >= 0):
        raise BadRow("opposes-kind")
    return checked_counts(votes, opposes, is_open=reading.is_open(place.posted_at, place.closes_at))


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


def fields_of(comment: Comment, *, with_removed: bool) -> dict[str, Any]:
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


def format_line(comment: Comment, *, with_removed: bool) -> bytes:
    """Return the line of a comment, in UTF-8."""
    return json.dumps(fields_of(comment, with_removed=with_removed), ensure_ascii=False).encode() + b"\n"
