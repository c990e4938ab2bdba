"""Reading comments: turns replies of the scripts into domain objects."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain
from typing import Any

from articles.domain.articles import ArticleId, Choice, shown_poster
from articles.domain.comments import (
    DEEPEST_SHOWN,
    LEAST_IN_FEED,
    MOST_IN_FEED,
    Comment,
    CommentId,
    CommentOrder,
    Thread,
    ThreadPart,
    article_of,
    root_of,
)
from articles.domain.lists import Order
from articles.domain.members import DELETED_MEMBER, UserId
from articles.domain.reasons import recorded
from articles.repository.lists.pages import newest_first
from articles.repository.lists.reading import HtmlOf, html_read, left_out_from
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import Call, Store, Value, exact_time, joined
from articles.repository.store.keys import Keys
from articles.repository.store.values import count_from, moment_from, naming, time_from

FIELDS = (
    "parent", "time", "closes", "votes", "opposes",
    "text", "author", "author_name", "edited", "removed", "deleted", "log", "left_out",
)  # fmt: skip
"""Fields of a hash that are read. Every comment has the first five, and the next three unless it is deleted."""

FIELDS_WITH_HTML = (*FIELDS, "html")  # the same with what is kept of the HTML of the text
_KILOBYTES_PER_READ = 500  # texts, or their HTML, in one reply about a member's comments, and one more comment
_OF_DELETED = {"text": "", "author": "", "author_name": ""}  # fields that a deleted comment lacks


def read_thread(
    store: Store, parent: CommentId, order: CommentOrder, reader: UserId | None, part: ThreadPart, subject: object
) -> Thread:
    """Return the replies to a comment, after the comment itself, or to the root of an article. One round trip.

    Raises the error of a refusal about `subject`.
    """
    call = thread_call(store, parent, order, reader, part)
    return thread_in(store, store.change(call.script, subject, call.keys, call.args), parent, order, part)


def thread_call(
    store: Store,
    parent: CommentId,
    order: CommentOrder,
    reader: UserId | None,
    part: ThreadPart,
    *,
    with_html: bool = True,
) -> Call:
    """Return the call that reads a part of the replies to a comment."""
    fields = FIELDS_WITH_HTML if with_html else FIELDS
    keys, skipped = store.shards.of_comment(parent), 0 if part.passed else max(0, part.start)
    return Call(
        "comments/read_thread",
        (keys.article(article_of(parent)),),
        (
            parent, order.value, "" if reader is None else reader, skipped, max(1, part.size),
            DEEPEST_SHOWN, keys.prefix, joined(part.passed), *(part.after or ("", "")), *fields,
        ),
    )  # fmt: skip


def thread_in(
    store: Store, reply: Sequence[Any], parent: CommentId, order: CommentOrder, part: ThreadPart
) -> Thread:
    """Return the replies to a comment from the reply to `thread_call`, without its status."""
    (total, locked), above, rest, *rows = reply
    passed = None if rest is None else tuple(map(int, rest))
    comments = comments_from(store, rows)
    return Thread(
        comments=tuple(comments),
        total=int(total),
        order=order,
        start=part.start,
        next_start=None if passed is None else part.start + len(passed),
        passed=passed or (),
        cut=_cut(comments, parent),
        locked=None if locked is None else recorded(locked),
        ancestors=tuple(map(int, reversed(above))),
    )


def _cut(comments: Sequence[Comment], parent: CommentId) -> dict[CommentId, int]:
    """Return how many direct replies to each comment, other than the parent, are not among the comments."""
    shown = Counter(comment.parent for comment in comments)
    missing = {one.id: one.replies - shown[one.id] for one in comments if one.id != parent}
    return {comment_id: count for comment_id, count in missing.items() if count > 0}


def comments_by(store: Store, user: UserId, fields: Sequence[str] = FIELDS) -> Iterator[Comment]:
    """Yield the comments of a member, newest first. One round trip for each batch of each shard."""
    shards = [_comments_in(store, keys, user, fields) for keys in store.shards.all]
    return merge(*shards, key=_age_order, reverse=True)


def _comments_in(store: Store, keys: Keys, user: UserId, fields: Sequence[str]) -> Iterator[Comment]:
    done, rows = 0, [[""]]
    while rows:
        steps: list[Value] = [done, ENTRIES_PER_READ, _KILOBYTES_PER_READ]
        rows = store.run("comments/list", [keys.commented(user)], [*steps, keys.prefix, *fields])
        yield from comments_from(store, rows)
        done += len(rows)


def newest_ids_by(store: Store, user: UserId, most: int) -> list[CommentId]:
    """Return the ids of a member's comments, newest first, of each shard at most so many. One round trip."""
    replies = store.in_shards(
        lambda pipe, keys: pipe.zrevrange(keys.commented(user), 0, most - 1, withscores=True)
    )
    return [int(member) for member, _ in newest_first(replies)]


def comments_with(
    store: Store, ids: Sequence[CommentId], fields: Sequence[str], *, with_replies: bool = False
) -> list[Comment]:
    """Return the comments in this order, perhaps with numbers of replies. One round trip; two to make HTML."""
    with store.pipeline() as pipe:
        for one in ids:
            pipe.hmget(store.shards.of_comment(one).comment(one), fields)
        for one in ids if with_replies else ():
            pipe.zcard(store.shards.of_comment(one).replies(one)[0])
        found = pipe.execute()
    counts = found[len(ids) :] or [0] * len(ids)
    rows = ([one, 0, count, 0, 0, *values] for one, count, values in zip(ids, counts, found, strict=False))
    return comments_from(store, rows)


def newest_comments(store: Store, since: float, article_id: ArticleId | None, times: int = 1) -> list[Comment]:
    """Return the comments of a feed, newest first: on listed articles, or on one article. One round trip.

    `times`: so many times as many, for a reader who does not get to see all.
    """
    shards = store.shards.all if article_id is None else [store.shards.of(article_id)]
    article, bounds = "" if article_id is None else article_id, (times * LEAST_IN_FEED, times * MOST_IN_FEED)
    replies = store.run_many(
        Call(
            "comments/list_newest",
            (keys.order(Order.ACTIVE),),
            (article, exact_time(since), *bounds, keys.prefix, *FIELDS_WITH_HTML),
        )
        for keys in shards
    )
    comments = comments_from(store, chain.from_iterable(replies))
    return within_a_feed(sorted(comments, key=_age_order, reverse=True), since, times)


def within_a_feed(comments: Iterable[Comment], since: float, times: int = 1) -> list[Comment]:
    """Return the first comments, which are given newest first: those of a feed, or so many times as many."""
    kept, size = list[Comment](), 0
    for comment in comments:
        size += 1 + max(len(comment.text.encode()), len(comment.html.encode())) // 1000
        if size > times * MOST_IN_FEED or (len(kept) >= times * LEAST_IN_FEED and comment.posted_at < since):
            break
        kept.append(comment)
    return kept


def _age_order(comment: Comment) -> tuple[float, CommentId]:
    return comment.posted_at, comment.id


def comments_from(store: Store, rows: Iterable[Sequence[Any]]) -> list[Comment]:
    """Return the comments in rows of a reply, without missing ones, with their HTML if the rows have it.

    One more round trip if some of it has to be made. Raises StoreDamaged.
    """
    with html_read(store, lambda number: store.shards.of_comment(number).comment(number)) as html_of:
        return [comment for row in rows if (comment := _comment_from(row, html_of))]


def _comment_from(row: Sequence[Any], html_of: HtmlOf) -> Comment | None:
    """Return the comment in a row of a reply; None for a missing one. Raises StoreDamaged."""
    comment_id, depth, replies, voted, opposed, *values = row
    fields = {name: value for name, value in zip(FIELDS_WITH_HTML, values, strict=False) if value is not None}
    if not fields:
        return None
    number, is_deleted, has_html = int(comment_id), "deleted" in fields, len(values) > len(FIELDS)
    article_id: ArticleId = article_of(number)
    with naming(f"comment {comment_id}"):
        fields = _OF_DELETED | fields if is_deleted else fields
        parent, text, author_name = count_from(fields["parent"]), fields["text"], fields["author_name"]
        author, former = shown_poster(int(fields["author"] or DELETED_MEMBER), author_name)
        return Comment(
            id=number,
            article=article_id,
            parent=None if parent == root_of(article_id) else parent,
            author=author,
            author_name=author_name,
            text=text,
            posted_at=time_from(fields["time"]),
            votes=count_from(fields["votes"]),
            opposes=count_from(fields["opposes"]),
            closes_at=time_from(fields["closes"]),
            edited_at=moment_from(fields.get("edited")),
            removed=recorded(fields["removed"]) if "removed" in fields else None,
            is_deleted=is_deleted,
            is_logged="log" in fields,
            left_out=left_out_from(fields.get("left_out")),
            choice=Choice.VOTE if voted else Choice.OPPOSE if opposed else Choice.NONE,
            depth=depth,
            replies=replies,
            html=html_of(number, text, fields.get("html")) if text and has_html else "",
            former=former,
        )
