"""Entering comments with their history, and reading all comments of an article for an export."""

from collections.abc import Iterator, Sequence

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import Comment, CommentEntry, CommentPlace, ImportedComment
from articles.domain.members import DELETED_MEMBER, PLACEHOLDERS
from articles.repository.comments.reading import FIELDS, comments_from
from articles.repository.store.connection import Call, Store, Value, exact_time
from articles.repository.store.values import count_from
from articles.searching import words_of_comment

_COMMENTS_PER_SCRIPT = 50
"""Comments that one script adds: some milliseconds of the store's time."""

_VOTERS_PER_SCRIPT = 5000
"""Voters that one script adds, unless a single comment has more."""

_SIZE_PER_READ = 500
"""Comments, and KB of their texts, in one reply."""


def enter_comments(
    store: Store, comments: Sequence[ImportedComment], ids: Sequence[ArticleId | None]
) -> list[CommentEntry]:
    """Enter comments on the articles with these ids; return the outcome of each. One round trip."""
    entries = [CommentEntry.NO_ARTICLE] * len(comments)
    steps = list(_steps(store, comments, ids))
    replies = store.run_many([_call(store, ids[step[0]] or 0, [comments[n] for n in step]) for step in steps])
    for step, reply in zip(steps, replies, strict=True):
        statuses = [status for status in reply if status != "stub"]
        for n, status in zip(step, statuses, strict=True):
            entries[n] = CommentEntry(status)
    return entries


def _steps(
    store: Store, comments: Sequence[ImportedComment], ids: Sequence[ArticleId | None]
) -> Iterator[list[int]]:
    """Yield the places of comments in lists that one script can enter: of one article, with few voters."""
    step, voters = list[int](), 0
    for n, comment in enumerate(comments):
        more = _voters(store, comment)
        is_full = len(step) == _COMMENTS_PER_SCRIPT or voters + more > _VOTERS_PER_SCRIPT
        if step and (is_full or ids[step[0]] != ids[n]):
            yield step
            step, voters = [], 0
        if ids[n] is not None:
            step.append(n)
            voters += more
    if step:
        yield step


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
        arguments += (*_place(store, stub), 0, 0, DELETED_MEMBER, "", "", "", "", "", "", "1")
    for comment in comments:
        edited = "" if comment.edited_at is None else exact_time(comment.edited_at)
        arguments += (*_place(store, comment.place), comment.votes, comment.opposes, comment.author)
        arguments += (comment.author_name, comment.text, edited, comment.removed or "")
        arguments += (words_of_comment(comment.text), store.kept_html.make(comment.text), "")
    return Call("imports/enter_comments", (keys.article(article_id), keys.comment_voters), arguments)


def _place(store: Store, place: CommentPlace) -> tuple[Value, ...]:
    parent = place.parent
    above: tuple[Value, Value] = (0, "") if parent is None else (parent.number, exact_time(parent.posted_at))
    return place.number, *above, exact_time(place.posted_at), _closes_at(store, place)


def comments_of(store: Store, article_id: ArticleId) -> Iterator[Comment]:
    """Yield an article's comments by number, with removed ones and stubs. One round trip for each batch."""
    keys, number = store.shards.of(article_id), 1
    while number:
        number, *rows = store.run(
            "imports/read_comments",
            [keys.article(article_id)],
            [article_id, number, _SIZE_PER_READ, keys.prefix, *FIELDS],
        )
        yield from comments_from(store, rows)


def read_comment_numbers(store: Store, ids: Sequence[ArticleId]) -> dict[ArticleId, int]:
    """Return the highest number given to a comment, of those articles that have had comments. One round trip."""
    with store.pipeline() as pipe:
        for article_id in ids:
            pipe.hget(store.shards.of(article_id).article(article_id), "comment_ids")
        replies = pipe.execute(raise_on_error=False)
    numbers = {number: count_from(reply) for number, reply in zip(ids, replies, strict=True)}
    return {number: highest for number, highest in numbers.items() if highest}
