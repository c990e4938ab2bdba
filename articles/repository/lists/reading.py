"""Reading articles: turns hashes of the store into domain objects. One round trip, whatever the number."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from articles.domain import extras, ranking
from articles.domain.articles import (
    LISTED,
    NONE_LEFT_OUT,
    Article,
    ArticleId,
    Choice,
    LeftOut,
    VotingRing,
    ranked_points,
    shown_poster,
)
from articles.domain.comments import CommentId
from articles.domain.errors import StoreError, StoreUnfit
from articles.domain.lists import closed_groups
from articles.domain.members import UserId
from articles.domain.reasons import recorded
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_READ, TEXTS_PER_READ
from articles.repository.store.clients.guarded_connection import UNPREPARED
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys
from articles.repository.store.values import count_from, moment_from, naming, number_from, time_from

_MERGE = re.compile("(?:^|,)([0-9]{1,15}) [0-9]{1,15} ([a-z]+)")
_REQUIRED = ("title", "link", "poster", "poster_name", "time", "votes", "opposes", "groups")
"""Fields that every article has."""

_CHOICES = 4  # values of an article's part of a reply, after its fields, up to and with the member's choices
MOST_ARTICLES = 2_000  # articles that a process keeps as it has read them, about 2 KB each

FIELDS = (
    *dict.fromkeys((*_REQUIRED, *LISTED)),
    "archived", "closes", "removed", "merged", "merges", "edited", "log", "ring",
    "text_bytes", "comments", "last_comment", "locked", "left_out",
)  # fmt: skip
"""Fields of a hash that are read."""

_OF_EXTRAS = extras.article_fields()
_TEXT, _HTML = ("text",), ("text", "html", "ballots", *_OF_EXTRAS)
"""Further ones, up to 80 KB and 200 KB: lists do not read them."""


class _Facts(NamedTuple):
    """Facts about all articles. `voting_window`: seconds, for articles without a closing time of their own."""

    seconds_per_point: float
    voting_window: float


T = TypeVar("T")


def stale_if_whole(read: Callable[[bool], T], *, may_be_stale: bool) -> T:
    """Return the result of `read`, from replicas if it may be stale and they are filled.

    `read` receives whether replicas may reply. A replica that has just been started is empty for some moments.
    """
    if may_be_stale:
        with suppress(StoreUnfit):
            return read(True)
    return read(False)


def read_articles(
    store: Store,
    ids: Sequence[ArticleId],
    reader: UserId | None,
    *,
    with_texts: bool = False,
    with_html: bool = False,
    with_visitors: bool = True,
    may_be_stale: bool = False,
) -> list[Article]:
    """Return articles in the order of `ids`, with the reader's own choices; unknown ones are left out.

    `with_html`: with their texts and the HTML of these; one more round trip if some of it has to be made.
    `with_visitors`: otherwise `uv` is 0, unless it is archived: counting takes a command of the store for each.
    `may_be_stale`: replicas may reply, for a reader without an account. One round trip, none without ids. Raises
    StoreUnfit if the store has no parameters, and StoreDamaged.
    """
    more = _HTML if with_html else _TEXT if with_texts else ()
    parts = _parts(store, ids, TEXTS_PER_READ if more else ARTICLES_PER_READ)
    calls = _calls(parts, reader, more, with_visitors=with_visitors)

    def read(is_stale: bool) -> list[Article]:
        replies = store.run_many(calls, may_be_stale=is_stale) if calls else []
        found = _found(store, parts, reader, replies)
        return [found[number] for number in ids if number in found]

    return stale_if_whole(read, may_be_stale=may_be_stale and reader is None)


def readable(store: Store, ids: Collection[ArticleId]) -> Collection[ArticleId]:
    """Return those of these articles that the reader gets to see. No round trip unless there are closed groups."""
    if not (closed := closed_groups()) or not ids:
        return ids
    unique = list(dict.fromkeys(ids))
    with store.pipeline() as pipe:
        for one in unique:
            pipe.hget(store.shards.of(one).article(one), "groups")
        of_each = zip(unique, pipe.execute(), strict=True)
    return {one for one, groups in of_each if groups is not None and closed.isdisjoint(split_groups(groups))}


def read_article_with(
    store: Store, article_id: ArticleId, reader: UserId | None, call: Call, others: Sequence[ArticleId] = ()
) -> tuple[Article | None, list[str | None], Any, list[Article]]:
    """Return an article with its HTML, the values of FIELDS as the store has them, and the reply to another call.

    The article is None if it is unknown. Last come those of the `others` that exist, without texts and
    the reader's choices. One round trip, two if its HTML has to be made. Raises StoreUnfit like `read_articles`.
    """
    parts, further = _parts(store, [article_id], TEXTS_PER_READ), _parts(store, others, ARTICLES_PER_READ)
    about_others = _calls(further, None, with_visitors=False)
    *replies, reply = store.run_many([*about_others, *_calls(parts, reader, _HTML), call])
    of_others, replies = replies[: len(further)], replies[len(further) :]
    article = _found(store, parts, reader, replies).get(article_id)
    found = _found(store, further, None, of_others)
    return article, replies[0][1][: len(FIELDS)], reply, [found[one] for one in others if one in found]


def read_fields_with(
    store: Store, ids: Sequence[ArticleId], calls: Sequence[Call]
) -> tuple[dict[ArticleId, list[str | None]], Sequence[Any]]:
    """Return the values of FIELDS of each article as the store has them, and the replies to other calls.

    One round trip. They show whether an article has changed: its text changes only together with `edited`.
    """
    parts = _parts(store, ids, ARTICLES_PER_READ)
    replies = store.run_many([*_calls(parts, None, with_visitors=False), *calls])
    fields: dict[ArticleId, list[str | None]] = {}
    for (_, part), (_facts, *values) in zip(parts, replies, strict=False):
        fields |= zip(part, values[:: len(values) // len(part)], strict=True)
    return fields, replies[len(parts) :]


_Parts = Sequence[tuple[Keys, list[ArticleId]]]


def _calls(
    parts: _Parts, reader: UserId | None, more: Sequence[str] = (), *, with_visitors: bool = True
) -> list[Call]:
    """Return the calls that read articles, followed by those that read which ones the reader saved."""
    fields, user = (*FIELDS, *more), "" if reader is None else reader
    calls = [
        Call(
            "articles/read", (keys.ranking,), (keys.prefix, user, int(with_visitors), len(fields), *fields, *part)
        )
        for keys, part in parts
    ]
    if reader is not None:
        calls += [Call("members/find_saved", (names.saved(reader),), part) for _, part in parts]
    return calls


HtmlOf: TypeAlias = Callable[[int, str, str | None], str]
"""Returns the HTML of an article's or a comment's text, given its id, the text, and what is kept of the HTML."""


@contextmanager
def html_read(store: Store, key_of: Callable[[ArticleId | CommentId], str]) -> Iterator[HtmlOf]:
    """Yield a function that reads HTML, and makes what is missing or was made under other rules.

    At the end of the block, one round trip keeps what was made, unless its text has changed; none if all was
    there. If the store takes no changes, the HTML is made again at the next read.
    """
    made: list[Call] = []

    def html_of(number: int, text: str, kept: str | None) -> str:
        html = store.kept_html.read(kept or "", text)
        if html is None:
            html = store.kept_html.html_of(text)
            made.append(Call("texts/keep", (key_of(number),), (text, store.kept_html.sealed(text, html))))
        return html

    yield html_of
    if made:
        with suppress(StoreError):
            store.run_many(made)


def _found(store: Store, parts: _Parts, reader: UserId | None, replies: Sequence[Any]) -> dict[ArticleId, Article]:
    found: dict[ArticleId, Article] = {}
    with html_read(store, lambda number: store.shards.of(number).article(number)) as html_of:
        for n, (_, part) in enumerate(parts):
            saved = replies[len(parts) + n] if reader is not None else [0] * len(part)
            found |= articles_in(replies[n], part, saved, html_of)
    return found


def _parts(store: Store, ids: Sequence[ArticleId], size: int) -> list[tuple[Keys, list[ArticleId]]]:
    """Split ids by shard, and then into parts that a script reads within a millisecond or two."""
    return [
        (keys, numbers[at : at + size])
        for keys, numbers in store.shards.split(ids).items()
        for at in range(0, len(numbers), size)
    ]


def articles_in(
    reply: Sequence[Any], ids: Sequence[ArticleId], saved: Sequence[int], html_of: HtmlOf | None = None
) -> dict[ArticleId, Article]:
    """Return the articles in a reply of `articles/read` for these ids, without hidden ones. Raises StoreUnfit.

    `html_of` reads the HTML of their texts, if it is in the reply.
    """
    (seconds_per_point, window), *values = reply
    if seconds_per_point is None:
        raise StoreUnfit(UNPREPARED)
    facts = _Facts(
        number_from(seconds_per_point, "the weight of a vote"), number_from(window or "0", "the voting window")
    )
    width, found, closed = len(values) // (len(ids) or 1), {}, closed_groups()
    for n, number in enumerate(ids):
        fields, *rest = values[n * width : (n + 1) * width]
        (visit,) = rest[_CHOICES:] or ("",)
        text, kept, ballots, *of_extras = (*fields[len(FIELDS) :], None, None, None)[: 3 + len(_OF_EXTRAS)]
        row = tuple(rest[:_CHOICES])
        article = _article(number, tuple(fields[: len(FIELDS)]), row, facts, is_saved=bool(saved[n]))
        if article and closed.isdisjoint(article.groups):
            html = html_of(number, text, kept) if html_of and text and len(fields) > len(FIELDS) + 1 else ""
            article = _marked(article, visit) if visit else article  # before the long texts: it is kept
            article = replace(article, text=text, html=html) if text else article
            if ballots or any(of_extras):
                noted = tuple((name, kept) for name, kept in zip(_OF_EXTRAS, of_extras, strict=False) if kept)
                article = replace(article, ballots=count_from(ballots), extras=noted)
            found[number] = article
    return found


@lru_cache(MOST_ARTICLES)
def _marked(article: Article, visit: str) -> Article:
    """Return the article as read by a member, if what the store notes of the visit is valid; kept like others."""
    (_before, seen, left, *_opened), new = (*visit.split(" "), "-", "-")[:4], 0
    left_at, latest = moment_from(left), article.last_comment_at
    if seen.isdecimal() and left_at is not None and latest is not None and latest > left_at:
        new = max(1, article.comments - count_from(seen))
    return replace(article, read_at=moment_from(visit.rpartition(" ")[2]), new_comments=new)


def _ring(text: str | None) -> VotingRing | None:
    """Return the voting ring in a hash's `ring` field; None without one. Raises ValueError."""
    if text is None:
        return None
    accounts, first, last, *comment = text.split(" ")
    return VotingRing(int(accounts), float(first), float(last), int(comment[0]) if comment else None)


def rescored_at(state: Sequence[Any]) -> float:
    """Return the hot list's last rescore from {version, refreshed at}, which the scripts that read lists return.

    Raises StoreUnfit if the store has no parameters: it was emptied, so that its lists are empty, too.
    """
    if None in state:
        raise StoreUnfit(UNPREPARED)
    return number_from(state[1], "the moment of the hot list")


class Merge(NamedTuple):
    """An article that was merged into another one, as the field `merges` of the other one lists it."""

    article: ArticleId
    is_open: bool  # whether its votes still have to be moved


def merges_from(field: str | None) -> list[Merge]:
    """Return the merges in a field `merges`, as scripts read it."""
    return [Merge(int(number), state == "open") for number, state in _MERGE.findall(field)] if field else []


def left_out_from(field: str | None) -> LeftOut:
    """Return the numbers in a field `left_out`; none for a missing one. Raises ValueError."""
    return LeftOut(*map(int, field.split(" "))) if field else NONE_LEFT_OUT


@lru_cache(MOST_ARTICLES)
def _article(
    article_id: ArticleId, values: tuple[str | None, ...], row: tuple[Any, ...], facts: _Facts, *, is_saved: bool
) -> Article | None:
    """Return the article with these values of FIELDS, and the rest of its part of the reply; None if unknown.

    The last ones are kept: most articles that are read have not changed since. Raises StoreDamaged.
    """
    fields = {name: value for name, value in zip(FIELDS, values, strict=False) if value is not None}
    if not fields:
        return None
    with naming(f"article {article_id}"):
        return _article_from(article_id, fields, row, facts, is_saved=is_saved)


def _article_from(
    article_id: ArticleId, fields: Mapping[str, str], row: tuple[Any, ...], facts: _Facts, *, is_saved: bool
) -> Article:
    pv, uv, voted, opposed = (*row, 0, 0)[:4]
    if archived := fields.get("archived"):
        pv, uv = archived.split()
    posted_at = time_from(fields["time"])
    votes, opposes = count_from(fields["votes"]), count_from(fields["opposes"])
    closes_at, left_out = moment_from(fields.get("closes")), left_out_from(fields.get("left_out"))
    points = ranked_points(votes, opposes, left_out)
    poster, former = shown_poster(int(fields["poster"]), fields["poster_name"])
    content: dict[str, Any] = {name: fields.get(name, "") for name in LISTED}
    return Article(
        **content | {"title": recorded(fields["title"]), "link": fields["link"]},
        id=article_id,
        poster=poster,
        poster_name=fields["poster_name"],
        posted_at=posted_at,
        votes=votes,
        opposes=opposes,
        score=ranking.score(posted_at, points, seconds_per_point=facts.seconds_per_point),
        closes_at=posted_at + facts.voting_window if closes_at is None else closes_at,
        groups=split_groups(fields["groups"]),
        removed=recorded(fields["removed"]) if "removed" in fields else None,
        merged_into=count_from(fields.get("merged")) or None,
        merged=tuple(merge.article for merge in merges_from(fields.get("merges"))),
        left_out=left_out,
        choice=Choice.VOTE if voted else Choice.OPPOSE if opposed else Choice.NONE,
        saved=is_saved,
        pv=count_from(pv),
        uv=count_from(uv),
        edited_at=moment_from(fields.get("edited")),
        is_logged="log" in fields,
        ring=_ring(fields.get("ring")),
        text_bytes=count_from(fields.get("text_bytes")),
        comments=count_from(fields.get("comments")),
        last_comment_at=moment_from(fields.get("last_comment")),
        locked=recorded(fields["locked"]) if "locked" in fields else None,
        former=former,
    )


def moved_to(store: Store, slug: str) -> str | None:
    """Return the slug of the group into which a group was merged; None if the reader sees none. One round trip."""
    with store.commands() as client:
        into: str | None = client.hget(store.shards.directory.merged, slug)
    return None if into in closed_groups() else into


def split_groups(joined: str) -> tuple[str, ...]:
    """Return the slugs in a hash's `groups` field."""
    return tuple(joined.split(",")) if joined else ()


def sort_key(order_value: float, article_id: str) -> tuple[float, bytes]:
    """Return the sort key of a ranking: the value, then the bytes of the id, as in the store's sorted sets."""
    return order_value, article_id.encode()
