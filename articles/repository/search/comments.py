"""Search in comments: finds them by the words of their texts, newest first."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from articles.domain.discussion.comments import Comment, CommentId
from articles.domain.lists import CommentSearchPage, Position
from articles.repository.comments.reading import FIELDS_WITH_HTML, comments_from
from articles.repository.lists.paging import page_window
from articles.repository.lists.reading import sort_key
from articles.repository.search.find import read_directory
from articles.repository.search.scanning import MOST_FOUND, Results, Scan, as_json, run
from articles.repository.store.connection import Store
from articles.searching import Query


class CommentSearch:
    """The search in a store's comments."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(
        self,
        query: Query,
        number: int = 1,
        *,
        slug: str | None = None,
        hidden: Sequence[str] = (),
        after: Position | None = None,
    ) -> CommentSearchPage:
        """Return page `number`, counted from 1, of the shown comments that match all terms, newest first.

        Comments on removed articles are left out. `slug`: only comments on articles of this group; `hidden`:
        without those on articles of these groups. `after`: if given, the page follows this position, whatever the
        number. Three round trips; some more for words that are frequent alone and rare together. Raises
        GroupNotFound, PageNotFound before the first and beyond the last page, and PageTooDeep beyond `MOST_FOUND`
        comments.
        """
        page = page_window(number, self._store.rules.per_page, MOST_FOUND, after)
        titles, indexed = read_directory(self._store, slug)
        by_time, most = attrgetter("comment_time"), page.end + 1 if after is None else MOST_FOUND
        scan = Scan(self._store, as_json(query.terms, hidden, slug), by_time, most, "comment")
        if query.terms:
            run(self._store, [scan])
        else:
            scan.find_nothing()
        results = Results([scan])
        best = [one for one in results.best if after is None or one < sort_key(*after)][page.start :]
        page.check_entries(best)
        shown = best[: page.size]
        comments = self._read(int(member) for _, member in shown)
        last = (shown[-1][0], shown[-1][1].decode()) if shown else None
        facts = (titles, results.total, results.complete and indexed, last)
        return CommentSearchPage(tuple(comments), number, page.has_next(len(best)), *facts)

    def _read(self, ids: Iterable[CommentId]) -> list[Comment]:
        """Return those of these comments that are shown, with HTML. One round trip, two if some has to be made."""
        wanted = list(ids)
        with self._store.pipeline() as pipe:
            for comment_id in wanted:
                pipe.hmget(self._store.shards.of_comment(comment_id).comment(comment_id), FIELDS_WITH_HTML)
            replies = pipe.execute()
        rows = ([one, 0, 0, 0, 0, *reply] for one, reply in zip(wanted, replies, strict=True))
        return [comment for comment in comments_from(self._store, rows) if comment.is_shown]
