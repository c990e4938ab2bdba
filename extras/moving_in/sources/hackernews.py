"""Items of Hacker News as JSON lines, with the fields of its API (github.com/HackerNews/API), and users.

An item names only what it is below, not the story. Texts are HTML. An option of a poll is a comment on it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from extras.moving_in.models import Kind
from extras.moving_in.sources import Format, old_addresses
from extras.moving_in.sources.rows import BadRow, Rows, markdown, text_of
from extras.moving_in.staging import Staging

# UNION ends circles, and a comment is below one thing only.
_PLACE = (
    "CREATE INDEX IF NOT EXISTS by_parent ON comment (parent)",
    "WITH RECURSIVE place (id, article) AS (SELECT id, id FROM article "
    "UNION SELECT comment.id, place.article FROM comment JOIN place ON comment.parent = place.id) "
    "UPDATE comment SET article = place.article FROM place WHERE comment.id = place.id",
    "UPDATE comment SET parent = NULL WHERE parent = article",
    "DROP INDEX by_parent",
)


def fill(source: str, staging: Staging, _options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    rows = Rows(staging, reach)
    rows.read_files(source, _stage)
    for statement in _PLACE:
        staging.run(statement)
    rows.settle()


def _stage(rows: Rows, item: Mapping[str, Any]) -> None:
    kind, number, is_deleted = item.get("type"), item.get("id"), item.get("deleted") is True
    if "created" in item and "time" not in item:
        about = markdown(item.get("about"))
        rows.add("member", replaces=True, id=number, name=number, joined=item["created"], about=about)
        return
    author = text_of(item.get("by")) or None
    by: dict[str, Any] = {"author": author, "time": item.get("time"), "votes": item.get("score")}
    removed, text = "Dead on Hacker News." if item.get("dead") is True else None, markdown(item.get("text"))
    if kind in ("comment", "pollopt") or (kind is None and "parent" in item):
        above = item.get("poll" if kind == "pollopt" else "parent")
        if above is None:
            raise BadRow("The field 'parent' is missing.")
        shown, removed = ("", None) if is_deleted else (text, removed)
        rows.post(
            "comment", id=number, parent=above, text=shown, removed=removed, is_deleted=int(is_deleted), **by
        )
    elif kind in ("story", "job", "poll"):
        link, title = text_of(item.get("url")), text_of(item.get("title")) or ("[deleted]" if is_deleted else None)
        text, removed = text or ("" if link else title or ""), "Deleted by its author." if is_deleted else removed
        rows.post("article", id=number, title=title, link=link, text=text, removed=removed, **by)
    else:
        raise BadRow("It is no story, job, poll, comment, option of a poll, or user.")


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
