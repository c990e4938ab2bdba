"""Entering comments with their history, and reading all comments of an article for an export."""

from collections.abc import Sequence
from itertools import groupby

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentEntry, CommentPlace, ImportedComment
from articles.domain.members import DELETED_MEMBER, PLACEHOLDERS
from articles.repository.store.connection import Call, Store, Value, exact_time
from articles.repository.store.scan import filled

AT_ONCE = 5000
"""Weight of the articles or comments that an import enters in one exchange, unless one of them is heavier: some
milliseconds of the store's time, in which it serves no one else, and some hundred kilobytes of its file."""


def enter_comments(
    store: Store, comments: Sequence[ImportedComment], ids: Sequence[ArticleId | None]
) -> list[CommentEntry]:
    """Enter comments on the articles with these ids; return the outcome of each.

    One round trip for each `AT_ONCE`, so that the store serves others in between.
    """
    entries = [CommentEntry.NO_ARTICLE] * len(comments)
    weights = [weight_of(comment.text, _voters(store, comment)) for comment in comments]
    steps = (
        step
        for article_id, places in groupby(range(len(comments)), ids.__getitem__)
        if article_id is not None
        for step in filled(places, weights.__getitem__, AT_ONCE)
    )
    for exchange in filled(steps, lambda step: sum(map(weights.__getitem__, step)), AT_ONCE):
        replies = store.run_many(_call(store, ids[step[0]] or 0, [comments[n] for n in step]) for step in exchange)
        for step, reply in zip(exchange, replies, strict=True):
            statuses = [status for status in reply if status != "stub"]
            for n, status in zip(step, statuses, strict=True):
                entries[n] = CommentEntry(status)
    return entries


def weight_of(text: str, voters: int, alone: int = 100) -> int:
    """Return what an article or a comment with this text and so many new voters weighs in an import.

    `alone`: what one without text and voters does.
    """
    return alone + voters + len(text) // 10


def _voters(store: Store, comment: ImportedComment) -> int:
    """Return how many voters the comment may get: none if voting is over."""
    is_over = float(_closes_at(store, comment.place)) < store.now()
    return 0 if is_over else comment.votes + comment.opposes


def _closes_at(store: Store, place: CommentPlace) -> str:
    if place.closes_at is not None:
        return exact_time(place.closes_at)
    return exact_time(float(exact_time(place.posted_at)) + store.rules.voting_window)


def _call(store: Store, article_id: ArticleId, comments: Sequence[ImportedComment]) -> Call:
    keys = store.shards.of(article_id)
    arguments: list[Value] = [article_id, keys.prefix, exact_time(store.now()), PLACEHOLDERS.start]
    stubs = dict[int, CommentPlace]()
    for comment in comments:
        above = comment.place.parent
        while above is not None and above.is_stub:
            stubs[above.number] = above
            above = above.parent
    for stub in stubs.values():
        arguments += (*_place(store, stub), 0, 0, DELETED_MEMBER, "", "", "", "", "", "1")
    for comment in comments:
        edited = "" if comment.edited_at is None else exact_time(comment.edited_at)
        arguments += (*_place(store, comment.place), comment.votes, comment.opposes, comment.author)
        arguments += (comment.author_name, comment.text, edited, comment.removed or "")
        arguments += (store.kept_html.make(comment.text), "")
    return Call("imports/enter_comments", (keys.article(article_id), keys.comment_voters), arguments)


def _place(store: Store, place: CommentPlace) -> tuple[Value, ...]:
    parent = place.parent
    above: tuple[Value, Value] = (0, "") if parent is None else (parent.number, exact_time(parent.posted_at))
    return place.number, *above, exact_time(place.posted_at), _closes_at(store, place)
