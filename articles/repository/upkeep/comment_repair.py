"""The repair of comments: rebuilds lists of replies, authors' lists and counts from the comments themselves."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import COMMENTS_PER_ARTICLE, CommentId, article_of
from articles.repository.store.attempts import Finding, carry_out
from articles.repository.store.batches import ARTICLES_PER_CHECK, KEYS_PER_READ, KEYS_PER_SCAN
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Contents, batches, portions
from articles.repository.store.values import count_from
from articles.repository.upkeep.comment_audit import (
    MOST_RECOUNTS,
    CommentAudit,
    Shown,
    read_counts,
)

Tell = Callable[[Finding], object]


class CommentRepair:
    """The repair of the comments of one shard. Idempotent, and safe while the site is in use."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, keys: Keys, contents: Contents, tell: Tell) -> None:
        """Repair the comments of a shard. In batches. Raises StoreError.

        `tell` receives each damaged comment, which stays as it is until its hash is fixed.
        """
        shown, stubs = defaultdict[ArticleId, Shown](Shown), list[CommentId]()
        highest = dict[ArticleId, int]()
        for batch in portions(sorted(contents.comments), ARTICLES_PER_CHECK):
            for comment_id, state, time in self._put_into_lists(keys, batch):  # ids ascend
                if state == "shown":
                    shown[article_of(comment_id)].add(time)
                if state != "missing":
                    highest[article_of(comment_id)] = comment_id % COMMENTS_PER_ARTICLE
                if state == "stub":
                    stubs.append(comment_id)
                elif state == "damaged":
                    tell(Finding(keys.comment(comment_id), "is damaged, and left as it is"))
        audit = CommentAudit(self._store)
        for parents in batches(contents.threads, KEYS_PER_READ):
            carry_out(audit.check_replies(keys, parents, "repair"))
        for authors in batches(contents.authors, KEYS_PER_READ):
            carry_out(audit.check_authors(keys, authors, "repair"))
        for batch in portions(reversed(stubs), ARTICLES_PER_CHECK):
            self._store.run("repair/stubs", [keys.comment_voters], [keys.prefix, *batch])
        self._correct_counts(keys, contents, shown, highest)

    def settle(self, ids: Iterable[CommentId], former: Mapping[CommentId, tuple[str | None, str | None]]) -> None:
        """Put comments whose keys were just written or dropped into the lists where they belong.

        `former`: the parent and the author that they had before, which they leave. Raises StoreError.
        """
        for keys, comments in self._store.shards.split_comments(ids).items():
            with self._store.pipeline() as pipe:
                for comment_id in comments:
                    parent, author = former[comment_id]
                    for name in (keys.replies_best, keys.replies_time) if parent else ():
                        pipe.zrem(name(int(parent or 0)), str(comment_id))
                    if author and author.isdigit():
                        pipe.zrem(keys.commented(int(author)), str(comment_id))
                pipe.execute()
            for batch in portions(comments, ARTICLES_PER_CHECK):
                carry_out(self._put_into_lists(keys, batch))

    def _put_into_lists(self, keys: Keys, batch: list[CommentId]) -> Iterator[tuple[CommentId, str, str]]:
        given: list[Value] = [keys.prefix, exact_time(self._store.now()), *batch]
        flat = self._store.run("repair/comments", [keys.comment_voters], given)
        yield from zip(batch, flat[::2], flat[1::2], strict=True)

    def _correct_counts(
        self, keys: Keys, contents: Contents, shown: Mapping[ArticleId, Shown], highest: Mapping[ArticleId, int]
    ) -> None:
        """Correct what articles record about comments; those that members change meanwhile are counted again."""
        for ids in portions(sorted(contents.articles), KEYS_PER_SCAN):
            for article_id, noted in read_counts(self._store, keys, ids).items():
                last = max(highest.get(article_id, 0), count_from(noted.last_number))
                if shown[article_id].agrees_with(noted) and count_from(noted.last_number) == last:
                    continue
                for _ in range(MOST_RECOUNTS):
                    if self._correct(keys, article_id, last):
                        break

    def _correct(self, keys: Keys, article_id: ArticleId, highest: int) -> bool:
        """Count an article's comments and correct its record; return whether it stayed the same meanwhile."""
        noted = read_counts(self._store, keys, [article_id])[article_id]
        last = max(highest, count_from(noted.last_number))
        found = CommentAudit(self._store).count_shown(keys, article_id, last)
        (is_done,) = self._store.run(
            "repair/discussion",
            [keys.article(article_id)],
            [*(value or "" for value in noted), found.number, last, keys.prefix, article_id],
        )
        return bool(is_done)
