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
from extras.moving_in.sources.rows import BadRow, Rows, text_of
from extras.moving_in.staging import Staging

_BY_MEMBERS, _BY_MODERATORS = "Deleted by its author.", "Removed by moderators."
_GONE = {"[deleted]": _BY_MEMBERS, "[removed]": _BY_MODERATORS, "[ Removed by Reddit ]": _BY_MODERATORS}
_OWN = ("deleted", "author")  # of `removed_by_category`; the others are moderators, filters and Reddit


def fill(source: str, staging: Staging, options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    rows = Rows(staging, reach)
    rows.read_files(source, partial(_stage, with_flairs=bool(options.get("flairs"))))
    rows.settle()


def _stage(rows: Rows, fields: Mapping[str, Any], *, with_flairs: bool) -> None:
    number, name = fields.get("id"), text_of(fields.get("author"))
    author = name if name not in ("", "[deleted]") else None
    if author:
        rows.add("member", id=name, name=name, joined=fields.get("author_created_utc"))
    edited = None if isinstance(fields.get("edited"), bool) else fields.get("edited")  # once only whether
    by: dict[str, Any] = {
        "author": author,
        "time": fields.get("created_utc"),
        "votes": fields.get("score"),
        "edited": edited,
    }
    if "body" in fields:
        article, parent = text_of(fields.get("link_id")), text_of(fields.get("parent_id"))
        if not article.startswith("t3_"):
            raise BadRow("The field 'link_id' does not name a submission.")
        gone = _GONE.get(body := _text(fields["body"]))
        rows.post(
            "comment", id=number, article=article[3:], parent=parent[3:] if parent.startswith("t1_") else None,
            text="" if gone else body, removed=gone if gone == _BY_MODERATORS else None,
            is_deleted=int(gone == _BY_MEMBERS), **by,
        )  # fmt: skip
    elif "title" in fields:
        link, text, title = (_text(fields.get(one)) for one in ("url", "selftext", "title"))
        link = f"https://www.reddit.com{link}" if link.startswith("/") else link
        if fields.get("is_self") is True or f"/comments/{number}" in link:
            link = ""
        category = fields.get("removed_by_category")
        by_category = (_BY_MEMBERS if category in _OWN else _BY_MODERATORS) if isinstance(category, str) else None
        groups = [fields.get("subreddit"), fields.get("link_flair_text") if with_flairs else None]
        rows.post(
            "article", filter(None, map(text_of, groups)), id=number, title=title, link=link,
            text=text or ("" if link else title), removed=_GONE.get(text) or by_category,
            locked="Locked on Reddit." if fields.get("locked") is True else None, **by,
        )  # fmt: skip
    else:
        raise BadRow("It is neither a submission nor a comment.")


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
