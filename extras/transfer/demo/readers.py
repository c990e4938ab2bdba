"""What readers of the demo's articles do: comments, replies and votes, and views, also by bots.

Readers prefer appealing articles. One discussion is locked, one comment is flagged.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from math import exp, log
from random import Random
from typing import Any, NamedTuple, TypeAlias

from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.comments import CommentId, CommentOrder
from articles.domain.errors import ActionRefused, CommentNotFound
from articles.domain.flags import FlagReason
from articles.domain.members import UserId
from articles.domain.moderation_log import OPERATOR
from articles.domain.readership import Suspicion, Visit
from articles.repository import Repository

_SEED = 22


class _Comment(NamedTuple):
    """A comment to post at a time, in Unix seconds; `parent` is the place of another one in the list."""

    row: Mapping[str, Any]
    at: float
    parent: int | None


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


def _votes(
    posted: Mapping[CommentId, Mapping[str, Any]], members: Mapping[str, UserId]
) -> Iterator[tuple[CommentId, UserId, Choice]]:
    """Draw who votes on each comment. The same in every run."""
    rng = _random()
    for number, row in posted.items():
        others = [member for name, member in members.items() if name != row["author"]]
        voters = rng.sample(others, row["votes"] + row["opposes"])
        for place, member in enumerate(voters):
            yield number, member, Choice.VOTE if place < row["votes"] else Choice.OPPOSE


def _random() -> Random:
    return Random(_SEED)  # nosec B311 # noqa: S311 - no secret depends on it


@cache
def _content() -> Any:
    return json.loads((files(__package__) / "discussions.json").read_text("utf-8"))["discussions"]


_SEED_OF_VIEWS = 21
_READERS = 700
_MOST_READERS = 60  # of an article with the highest appeal
_MATURING = 5 * 3600  # seconds until 63 % (1 - 1/e) of an article's readers have come
_RETURNING = 0.3  # share of the readers
_PAUSE = 1800  # seconds; longer than any throttle, so that every view counts
_BOTS = ("search", "search", "search", "preview", "feed")
_MOST_BOTS = 9


Views: TypeAlias = list[tuple[Visit, float]]  # each with its time


def draw_views(articles: Sequence[tuple[str, float, float]], until: float) -> dict[str, tuple[Views, Views]]:
    """Draw the counted and the suspect views of articles, by link or else title. Deterministic.

    The articles are given by link or else title, appeal (0 to 1) and posting time.
    """
    rng = Random(_SEED_OF_VIEWS)  # nosec B311 # noqa: S311 - no secret depends on it
    readers = [f"{rng.getrandbits(64):016x}" for _ in range(_READERS)]
    bots = [f"{rng.getrandbits(64):016x}" for _ in _BOTS]
    return {
        link: (
            sorted(_reads(rng, readers, appeal, posted_at, until), key=lambda view: view[1]),
            list(_bot_views(rng, bots, appeal, posted_at, until)),
        )
        for link, appeal, posted_at in articles
    }


def _reads(
    rng: Random, readers: Sequence[str], appeal: float, posted_at: float, until: float
) -> Iterator[tuple[Visit, float]]:
    age = until - posted_at
    come = 1 - exp(-age / _MATURING)
    for reader in rng.sample(readers, round(_MOST_READERS * appeal * come * rng.uniform(0.7, 1.0)) + 1):
        at = posted_at - _MATURING * log(1 - come * rng.random())
        again = at + _PAUSE + rng.expovariate(1 / _MATURING)
        yield Visit(reader), round(min(at, until), 3)
        if rng.random() < _RETURNING and again < until:
            yield Visit(reader), round(again, 3)


def _bot_views(
    rng: Random, bots: Sequence[str], appeal: float, posted_at: float, until: float
) -> Iterator[tuple[Visit, float]]:
    for _ in range(rng.randint(1, 1 + round(_MOST_BOTS * appeal))):
        kind = rng.randrange(len(bots))
        suspicion = Suspicion.PREFETCH if _BOTS[kind] == "preview" else Suspicion.BOT
        yield Visit(bots[kind], suspicion=suspicion), round(rng.uniform(posted_at, until), 3)


def record_missing(repository: Repository, drawn: Mapping[str, tuple[Views, Views]]) -> int:
    """Record the views that are missing in the store. Return how many views of all articles count.

    Views of an article are always recorded in the same order and each of them counts, so an interrupted run
    resumes from the article's own counts.
    """
    articles = {article.link or article.title: article for article in repository.imports.iterate()}
    views: list[tuple[ArticleId, Visit, float]] = []
    for name, (counted, suspect) in drawn.items():
        if article := articles.get(name):
            recorded = sum(repository.pageviews.get_suspects(article.id).values())
            views += [(article.id, *view) for view in (*counted[article.pv :], *suspect[recorded:])]
    repository.pageviews.record_many(views)
    repository.hot.rescore()
    return sum(article.pv for article in repository.imports.iterate())
