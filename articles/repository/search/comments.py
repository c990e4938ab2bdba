"""Search in comments: finds them by the words of their texts, the newest first."""

import json
from collections.abc import Iterable, Sequence
from operator import attrgetter

from articles.domain.discussion.comments import Comment, CommentId
from articles.domain.errors import GroupNotFound, PageNotFound, PageTooDeep
from articles.domain.lists import CommentSearchPage
from articles.repository.comments.reading import FIELDS, comment_from
from articles.repository.lists.reading import moved_to
from articles.repository.search.find import read_directory
from articles.repository.search.scanning import MOST_FOUND, Results, Scan, run
from articles.repository.store.connection import Store
from articles.searching import Query


class CommentSearch:
    """The search in a store's comments."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(
        self, query: Query, number: int = 1, *, slug: str | None = None, hidden: Sequence[str] = ()
    ) -> CommentSearchPage:
        """Return page `number`, counted from 1, of the shown comments that match all terms, newest first.

        Comments on removed articles are left out. `slug`: only comments on articles of this group; `hidden`:
        without those on articles of these groups. Three round trips; some more for words that are frequent alone
        and rare together. Raises GroupNotFound, PageNotFound before the first and beyond the last page, and
        PageTooDeep beyond `MOST_FOUND` comments.
        """
        size = self._store.rules.per_page
        start = (number - 1) * size
        if number < 1:
            raise PageNotFound(number)
        if start >= MOST_FOUND:
            raise PageTooDeep(number)
        titles, indexed = read_directory(self._store)
        if slug is not None and slug not in titles:
            raise GroupNotFound(slug, moved_to(self._store, slug))
        scan = Scan(
            self._store, _as_json(query, slug, hidden), attrgetter("comment_time"), start + size + 1, "comment"
        )
        if query.terms:
            run(self._store, [scan])
        else:
            scan.find_nothing()
        results = Results([scan])
        ids = [int(member) for _, member in results.best[start : start + size]]
        if number > 1 and not ids:
            raise PageNotFound(number)
        has_next = len(results.best) > start + size and start + size < MOST_FOUND
        is_complete = results.complete and indexed
        return CommentSearchPage(tuple(self._read(ids)), number, has_next, titles, results.total, is_complete)

    def _read(self, ids: Iterable[CommentId]) -> list[Comment]:
        """Return those of these comments that are shown. One round trip."""
        wanted = list(ids)
        with self._store.pipeline() as pipe:
            for comment_id in wanted:
                pipe.hmget(self._store.shards.of_comment(comment_id).comment(comment_id), FIELDS)
            replies = pipe.execute()
        rows = ([one, 0, 0, 0, 0, *reply] for one, reply in zip(wanted, replies, strict=True))
        return [comment for row in rows if (comment := comment_from(row)) and comment.is_shown]


def _as_json(query: Query, slug: str | None, hidden: Sequence[str]) -> str:
    rows = [{"words": term.words, "beginning": term.beginning, "groups": ()} for term in query.terms]
    left_out = [name for name in hidden if name != slug]
    return json.dumps({"terms": rows, "hidden": left_out, "group": slug or ""}, ensure_ascii=False)
