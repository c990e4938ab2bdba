"""A subreddit of Reddit: its submissions and comments as JSON lines, plain or packed by gzip or zstd.

Fields are those of the public dumps, which have what Reddit's API answered; it escapes `<`, `>` and `&` there. A
score is net. The files of a folder are read by their names, and a row replaces an earlier one of its id.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from extras.moving_in.models import Kind
from extras.moving_in.sources import Format, old_addresses
from extras.moving_in.sources.rows import BadRow, Rows, files_of, objects, text_of
from extras.moving_in.staging import Staging

_BY_MEMBERS, _BY_MODERATORS = "Deleted by its author.", "Removed by moderators."
_GONE = {"[deleted]": _BY_MEMBERS, "[removed]": _BY_MODERATORS, "[ Removed by Reddit ]": _BY_MODERATORS}
_OWN = ("deleted", "author")  # of `removed_by_category`; the others are moderators, filters and Reddit


def fill(source: str, staging: Staging, options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    rows = Rows(staging, reach)
    for path in files_of(source):
        rows.read(objects(path), partial(_stage, rows, with_flairs=bool(options.get("flairs"))))
    rows.settle()


def _stage(rows: Rows, fields: Mapping[str, Any], *, with_flairs: bool) -> None:
    if "body" in fields:
        _stage_comment(rows, fields)
    elif "title" in fields:
        _stage_submission(rows, fields, with_flairs=with_flairs)
    else:
        raise BadRow("It is neither a submission nor a comment.")


def _stage_comment(rows: Rows, fields: Mapping[str, Any]) -> None:
    article, body = text_of(fields.get("link_id")), _text(fields.get("body"))
    if not article.startswith("t3_"):
        raise BadRow("The field 'link_id' does not name a submission.")
    parent, gone = text_of(fields.get("parent_id")), _GONE.get(body)
    rows.add(
        "comment", replaces=True, id=fields.get("id"), article=article[3:], author=_author(rows, fields),
        parent=parent[3:] if parent.startswith("t1_") else None, time=fields.get("created_utc"),
        text="" if gone else body, votes=fields.get("score"), edited=_edited(fields),
        removed=gone if gone == _BY_MODERATORS else None, is_deleted=int(gone == _BY_MEMBERS),
    )  # fmt: skip


def _stage_submission(rows: Rows, fields: Mapping[str, Any], *, with_flairs: bool) -> None:
    number, link, text = fields.get("id"), _text(fields.get("url")), _text(fields.get("selftext"))
    link = f"https://www.reddit.com{link}" if link.startswith("/") else link
    if fields.get("is_self") is True or f"/comments/{number}" in link:
        link = ""
    category = fields.get("removed_by_category")
    by_category = (_BY_MEMBERS if category in _OWN else _BY_MODERATORS) if isinstance(category, str) else None
    removed, title = _GONE.get(text) or by_category, _text(fields.get("title"))
    rows.add(
        "article", replaces=True, id=number, title=title, link=link, text=text or ("" if link else title),
        author=_author(rows, fields), time=fields.get("created_utc"), votes=fields.get("score"),
        edited=_edited(fields), removed=removed,
        locked="Locked on Reddit." if fields.get("locked") is True else None,
    )  # fmt: skip
    groups = [fields.get("subreddit"), fields.get("link_flair_text") if with_flairs else None]
    for group in filter(None, map(text_of, groups)):
        rows.add("tag", id=group, title=group)
        rows.add("article_tag", article=number, tag=group)


def _author(rows: Rows, fields: Mapping[str, Any]) -> str | None:
    name = text_of(fields.get("author"))
    if name in ("", "[deleted]"):
        return None
    rows.add("member", id=name, name=name, joined=fields.get("author_created_utc"))
    return name


def _edited(fields: Mapping[str, Any]) -> Any:
    """Return the time of the last edit; long ago only that there was one was kept."""
    return None if isinstance(edited := fields.get("edited"), bool) else edited


def _text(value: object) -> str:
    return text_of(value).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--flairs", action="store_true", help="reddit: make groups of flairs, too")


_R, _END = r"(?:/(?:r|u|user)/[\w-]+)?/(?:comments|duplicates|gallery|tb)", r"(?:\W.*)?"

FORMAT = Format(
    fill,
    old_addresses(
        (Kind.COMMENT, rf"{_R}/\w+/[^/?]*/(\w+){_END}", ""),
        (Kind.ARTICLE, rf"{_R}/(\w+){_END}", ""),
        (Kind.GROUP, r"/r/(\w+)(?:/\w+)?/?\.rss(?:\?.*)?", "rss"),
        (Kind.GROUP, rf"/r/(\w+)(?!/(?:comments|duplicates|s)/){_END}", ""),
        (Kind.MEMBER, r"/u(?:ser)?/([\w-]+)(?:/\w+)?/?\.rss(?:\?.*)?", "rss"),
        (Kind.MEMBER, rf"/u(?:ser)?/([\w-]+){_END}", ""),
    ),
    {
        "/hot": "/", "/best": "/", "/new": "/newest/", "/top": "/top/", "/rising": "/active/",
        "/search": "/search/", "/submit": "/post/", "/message/inbox": "/inbox/", "/.rss": "/feeds/front.rss",
        "/new/.rss": "/feeds/newest.rss", "/top/.rss": "/feeds/top/all.rss",
    },
    _arguments,
)  # fmt: skip
