"""The audit of comments: their places, their votes, their authors' lists, and the counts of their articles."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import COMMENTS_PER_ARTICLE, CommentId, article_of, root_of
from articles.domain.members import UserId
from articles.repository.search.index import Finding
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK, KEYS_PER_SCAN
from articles.repository.store.connection import Store, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Contents, batches, portions
from articles.repository.store.values import count_from
from articles.repository.upkeep.attempts import attempt, attempt_each
from articles.repository.upkeep.long_articles import MOST_LOOKED_AT

MOST_RECOUNTS = 3
"""Attempts to count the comments of an article while members go on posting."""


class CommentAudit:
    """The audit of the comments of one shard. Read-only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, keys: Keys, contents: Contents, *, is_shard_damaged: bool) -> Iterator[Finding]:
        """Yield every broken invariant of the comments in a shard. In batches. Raises StoreError."""
        shown = Counter[ArticleId]()
        for batch in batches(contents.comments, ARTICLES_PER_CHECK):
            yield from attempt_each(
                keys.comment, batch, partial(self._check, keys, shown), is_shard_damaged=is_shard_damaged
            )
        for parent in sorted(contents.threads):
            yield from attempt(keys.replies_best(parent), self._check_replies(keys, parent))
        for author in sorted(contents.authors):
            yield from attempt(keys.commented(author), self._check_author(keys, author))
        highest = {article_of(one): one % COMMENTS_PER_ARTICLE for one in sorted(contents.comments)}
        for ids in portions(sorted(contents.articles), KEYS_PER_SCAN):
            yield from attempt(keys.article(ids[0]), self._check_counts(keys, ids, shown, highest))

    def _check(self, keys: Keys, shown: Counter[ArticleId], batch: list[str]) -> Iterator[Finding]:
        """Yield what is wrong with these comments; add those that are shown to the counts of their articles."""
        counted = Counter[ArticleId]()
        findings: list[Finding] = []
        while batch:
            checked, states, flat = self._store.run(
                "audit/comments",
                [keys.comment_voters],
                [keys.prefix, exact_time(self._store.now()), MOST_LOOKED_AT, *batch],
            )
            for comment_id, is_shown in zip(batch, states, strict=False):
                counted[article_of(int(comment_id))] += is_shown
            for comment_id, problem in zip(flat[::2], flat[1::2], strict=True):
                findings.append(Finding(keys.comment(int(comment_id)), problem))
            batch = batch[checked:]
        shown.update(counted)
        yield from findings

    def _check_replies(self, keys: Keys, parent: CommentId) -> Iterator[Finding]:
        lists, done, entries, problems = [keys.replies_best(parent), keys.replies_time(parent)], 0, 1, set[str]()
        while done < entries:
            entries, found = self._store.run(
                "audit/replies", lists, [parent, keys.prefix, done, ENTRIES_PER_CHECK]
            )
            done += ENTRIES_PER_CHECK
            problems.update(found)
        yield from (Finding(lists[0], problem) for problem in sorted(problems))

    def _check_author(self, keys: Keys, author: UserId) -> Iterator[Finding]:
        done, entries = 0, 1
        while done < entries:
            entries, problems = self._store.run(
                "audit/commented", [keys.commented(author)], [author, keys.prefix, done, ENTRIES_PER_CHECK]
            )
            done += ENTRIES_PER_CHECK
            yield from (Finding(keys.commented(author), problem) for problem in problems)

    def _check_counts(
        self, keys: Keys, ids: Iterable[ArticleId], shown: Counter[ArticleId], highest: dict[ArticleId, int]
    ) -> Iterator[Finding]:
        """Check the counts in articles. What members change meanwhile is counted again."""
        for article_id, (count, _) in read_counts(self._store, keys, ids).items():
            if count_from(count) == shown[article_id]:
                continue
            for _ in range(MOST_RECOUNTS):
                before = read_counts(self._store, keys, [article_id])
                last = max(highest.get(article_id, 0), count_from(before[article_id][1]))
                found = self.count_shown(keys, article_id, last)
                if read_counts(self._store, keys, [article_id]) == before:
                    if (noted := count_from(before[article_id][0])) != found:
                        yield Finding(keys.article(article_id), f"comments {noted}, shown {found}")
                    break

    def count_shown(self, keys: Keys, article_id: ArticleId, last: int) -> int:
        """Return how many of an article's comments up to this number are shown. In batches."""
        shown = Counter[ArticleId]()
        root = root_of(article_id)
        for batch in portions(map(str, range(root + 1, root + last + 1)), ARTICLES_PER_CHECK):
            for _ in self._check(keys, shown, batch):
                pass
        return shown[article_id]


def read_counts(
    store: Store, keys: Keys, ids: Iterable[ArticleId]
) -> dict[ArticleId, tuple[str | None, str | None]]:
    """Return what articles say of their comments: how many are shown, the last number. One round trip."""
    articles = list(ids)
    with store.pipeline() as pipe:
        for article_id in articles:
            pipe.hmget(keys.article(article_id), "comments", "comment_ids")
        replies = pipe.execute(raise_on_error=False)
    return {
        article_id: (None, None) if isinstance(reply, Exception) else (reply[0], reply[1])
        for article_id, reply in zip(articles, replies, strict=True)
    }
