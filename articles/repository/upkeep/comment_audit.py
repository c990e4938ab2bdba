"""The audit of comments: their places, their votes, their authors' lists, and the counts of their articles."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import COMMENTS_PER_ARTICLE, article_of, root_of
from articles.repository.search.index import Finding
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK, KEYS_PER_READ, KEYS_PER_SCAN
from articles.repository.store.connection import Call, Store, exact_time
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
        for name, subjects, check in (
            (keys.replies_best, contents.threads, self.check_replies),
            (keys.commented, contents.authors, self.check_authors),
        ):
            for batch in batches(subjects, KEYS_PER_READ):
                yield from attempt_each(name, batch, partial(check, keys), is_shard_damaged=is_shard_damaged)
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

    def check_replies(self, keys: Keys, parents: Sequence[str]) -> Iterator[Finding]:
        """Yield what is wrong with the lists of replies to these comments. One round trip unless one is long."""
        lists = [(keys.replies_best(int(parent)), keys.replies_time(int(parent))) for parent in parents]
        yield from self._check_lists(keys, "audit/replies", parents, lists)

    def check_authors(self, keys: Keys, authors: Sequence[str]) -> Iterator[Finding]:
        """Yield what is wrong with the lists of these members' comments. One round trip unless one is long."""
        lists = [(keys.commented(int(author)),) for author in authors]
        yield from self._check_lists(keys, "audit/commented", authors, lists)

    def _check_lists(
        self, keys: Keys, script: str, subjects: Sequence[str], lists: Sequence[tuple[str, ...]]
    ) -> Iterator[Finding]:
        """Yield what a script finds in parts of lists. The first parts are read together."""

        def call(subject: str, names: tuple[str, ...], done: int) -> Call:
            return Call(script, names, (subject, keys.prefix, done, ENTRIES_PER_CHECK))

        first = [call(subject, names, 0) for subject, names in zip(subjects, lists, strict=True)]
        replies = self._store.run_many(first)
        for subject, names, (entries, found) in zip(subjects, lists, replies, strict=True):
            problems = set(found)
            for done in range(ENTRIES_PER_CHECK, entries, ENTRIES_PER_CHECK):
                problems.update(self._store.run(*call(subject, names, done))[1])
            yield from (Finding(names[0], problem) for problem in sorted(problems))

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
