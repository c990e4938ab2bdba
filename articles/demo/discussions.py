"""Comments on the demo's articles, their replies and votes; one discussion is locked, one comment is flagged."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

from articles.domain.articles import Article, Choice
from articles.domain.comments import CommentId, CommentOrder
from articles.domain.errors import ActionRefused, CommentNotFound
from articles.domain.flags import FlagReason
from articles.domain.members import UserId
from articles.domain.moderation_log import OPERATOR
from articles.repository import Repository

_SEED = 22


class _Comment(NamedTuple):
    """A comment to post at a time, in Unix seconds; `parent` is the place of another one in the list."""

    row: Mapping[str, Any]
    at: float
    parent: int | None


class _Vote(NamedTuple):
    comment: CommentId
    member: UserId
    choice: Choice


def discuss(
    repository: Repository,
    members: Mapping[str, UserId],
    logins: Mapping[str, UserId],
    articles: Mapping[str, Article],
    until: float,
) -> int:
    """Post the comments that are missing, with votes and flags; lock a discussion. Return how many there are.

    `members` and `logins` hold ids by name: `members` also vote, and the run makes logins for `logins`. Comments
    by others, and the replies to them, are left out. `articles` by link, or by title without one. All comments are
    older than `until`, in Unix seconds. Can be interrupted and repeated.
    """
    total = 0
    for row in _content():
        if article := articles.get(row.get("link") or row["title"]):
            total += _fill(repository, members, {**members, **logins}, article, row, until)
    return total


def _fill(
    repository: Repository,
    members: Mapping[str, UserId],
    authors: Mapping[str, UserId],
    article: Article,
    row: Mapping[str, Any],
    until: float,
) -> int:
    thread = repository.comments.get_thread(article.id, CommentOrder.OLDEST)
    known = {(comment.author, comment.text): comment.id for comment in thread.comments}
    posted: dict[CommentId, Mapping[str, Any]] = {}
    for comment in _comments(row["comments"], authors, article.posted_at, until, _random()):
        author = authors[comment.row["author"]]
        number = known.get((author, comment.row["text"])) or repository.comments.post(
            article.id,
            author,
            comment.row["author"],
            comment.row["text"],
            parent=None if comment.parent is None else list(posted)[comment.parent],
            posted_at=comment.at,
        )
        posted[number] = comment.row
    for vote in _votes(posted, members):
        with suppress(ActionRefused, CommentNotFound):  # closed since an interrupted run
            repository.comments.cast(*vote)
    for number, comment_row in posted.items():
        for name, reason in comment_row.get("flags", {}).items():
            with suppress(ActionRefused, CommentNotFound):  # decided since an interrupted run
                repository.flags.set(number, members[name], FlagReason(reason))
    if "locked" in row and thread.locked is None:
        repository.comments.lock(article.id, OPERATOR, row["locked"])
    return len(posted)


def _comments(
    rows: Sequence[Mapping[str, Any]], authors: Collection[str], after: float, until: float, rng: Random
) -> list[_Comment]:
    """Return these authors' comments, each after the one it replies to. The same in every run."""
    found: list[_Comment] = []

    def add(rows: Sequence[Mapping[str, Any]], after: float, parent: int | None) -> None:
        for row in rows:
            if row["author"] not in authors:
                continue
            at = round(after + (until - after) * rng.uniform(0.05, 0.4), 3)
            found.append(_Comment(row, at, parent))
            add(row.get("replies", ()), at, len(found) - 1)

    add(rows, after, None)
    return found


def _votes(posted: Mapping[CommentId, Mapping[str, Any]], members: Mapping[str, UserId]) -> Iterator[_Vote]:
    """Draw who votes on each comment. The same in every run."""
    rng = _random()
    for number, row in posted.items():
        others = [member for name, member in members.items() if name != row["author"]]
        voters = rng.sample(others, row["votes"] + row["opposes"])
        for place, member in enumerate(voters):
            yield _Vote(number, member, Choice.VOTE if place < row["votes"] else Choice.OPPOSE)


def _random() -> Random:
    return Random(_SEED)  # nosec B311 # noqa: S311 - no secret depends on it


@cache
def _content() -> Any:
    return json.loads((files("articles.demo") / "discussions.json").read_text("utf-8"))["discussions"]
