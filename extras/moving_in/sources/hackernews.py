"""Items of Hacker News as JSON lines, with the fields of its API (github.com/HackerNews/API), and users.

An item names only what it is below, not the story. Texts are HTML. An option of a poll is a comment on it.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from extras.moving_in.models import Kind
from extras.moving_in.sources import Format, old_addresses
from extras.moving_in.sources.rows import BadRow, Rows, files_of, markdown, objects, text_of
from extras.moving_in.staging import Staging

_STORIES, _BELOW = ("story", "job", "poll"), ("comment", "pollopt")

# UNION ends circles, and a comment is below one thing only.
_PLACE = """
WITH RECURSIVE place (id, article) AS (
    SELECT id, id FROM article
    UNION SELECT comment.id, place.article FROM comment JOIN place ON comment.parent = place.id
) UPDATE comment SET article = place.article FROM place WHERE comment.id = place.id"""


def fill(source: str, staging: Staging, _options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    rows = Rows(staging, reach)
    for path in files_of(source):
        rows.read(objects(path), partial(_stage, rows))
    staging.run("CREATE INDEX IF NOT EXISTS by_parent ON comment (parent)")
    staging.run(_PLACE)
    staging.run("UPDATE comment SET parent = NULL WHERE parent = article")
    staging.run("DROP INDEX by_parent")
    rows.settle()


def _stage(rows: Rows, item: Mapping[str, Any]) -> None:
    if "created" in item and "time" not in item:
        about, name = markdown(item.get("about")), item.get("id")
        rows.add("member", replaces=True, id=name, name=name, joined=item.get("created"), about=about)
        return
    author, kind = text_of(item.get("by")) or None, item.get("type")
    if kind in _BELOW or (kind is None and "parent" in item):
        _stage_comment(rows, item, author)
    elif kind in _STORIES:
        _stage_story(rows, item, author)
    else:
        raise BadRow("It is no story, job, poll, comment, option of a poll, or user.")
    if author:
        rows.add("member", id=author, name=author)


def _stage_comment(rows: Rows, item: Mapping[str, Any], author: str | None) -> None:
    is_deleted = item.get("deleted") is True
    above = item.get("poll") if item.get("type") == "pollopt" else item.get("parent")
    if above is None:
        raise BadRow("The field 'parent' is missing.")
    rows.add(
        "comment", replaces=True, id=item.get("id"), parent=above, author=author, time=item.get("time"),
        text="" if is_deleted else markdown(item.get("text")), votes=item.get("score"), is_deleted=int(is_deleted),
        removed=None if is_deleted else _removed(item),
    )  # fmt: skip


def _stage_story(rows: Rows, item: Mapping[str, Any], author: str | None) -> None:
    link, text = text_of(item.get("url")), markdown(item.get("text"))
    title = text_of(item.get("title")) or ("[deleted]" if item.get("deleted") is True else None)
    rows.add(
        "article", replaces=True, id=item.get("id"), title=title, link=link, author=author,
        text=text or (None if link else title), time=item.get("time"), votes=item.get("score"),
        removed=_removed(item),
    )  # fmt: skip


def _removed(item: Mapping[str, Any]) -> str | None:
    if item.get("deleted") is True:
        return "Deleted by its author."
    return "Dead on Hacker News." if item.get("dead") is True else None


_ID, _END = r"\?(?:.*&)?id=", r"(?:\W.*)?"
# One pattern for both kinds: nginx takes the first that matches.
_ITEM = rf"/(?:item|reply|context|latest|edit|fave|flag|hide|vote){_ID}(\d+){_END}"

FORMAT = Format(
    fill,
    old_addresses(
        (Kind.ARTICLE, _ITEM, ""),
        (Kind.COMMENT, _ITEM, ""),
        (Kind.MEMBER, rf"/(?:user|submitted|threads|favorites|upvoted){_ID}([\w-]+){_END}", ""),
    ),
    {
        "/news": "/", "/newest": "/newest/", "/best": "/top/", "/front": "/top/", "/active": "/active/",
        "/submit": "/post/", "/submitlink": "/post/", "/rss": "/feeds/front.rss", "/hidden": "/hidden/",
    },
)  # fmt: skip
