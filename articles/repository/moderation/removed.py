"""Removed articles and comments: the lists of them for moderators, and sweeps.

A sweep removes everything that a member posted recently in one act, and restores it in one act.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from typing import NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import COMMENTS_PER_MEMBER_PAGE, Comment, root_of
from articles.domain.errors import (
    ActionRefused,
    ArticleMerged,
    ArticleNotFound,
    CommentNotFound,
    MergeRunning,
    NotMerged,
)
from articles.domain.lists import MOST_PAGED, Position
from articles.domain.members import UserId
from articles.domain.moderation_log import Action, Actor, LogEntry
from articles.repository.articles import Articles
from articles.repository.comments import Comments
from articles.repository.comments.reading import FIELDS, comments_from, comments_with
from articles.repository.lists.pages import page_window, position_of, read_window
from articles.repository.lists.reading import read_articles, split_groups
from articles.repository.members import Members
from articles.repository.moderation.log import ModerationLog, entries_from
from articles.repository.moderation.merges import Merges
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import Call, OfStore, exact_time
from articles.repository.store.findings import carry_out
from articles.repository.store.keys import Keys
from articles.repository.store.scan import ranked_members
from articles.repository.store.values import article_id_from

MOST_PAGED_ARTICLES = 10_000
"""Maximum number of removed articles that can be paged through: a page reads the ids before it."""

MOST_SEARCHED = 5_000  # removed articles, the last posted, that are searched for those in some groups
_READS = 10  # maximum number of round trips to find a page of removed comments in the moderation log
_LEAST_READ = 50  # minimum number of entries that each of them reads from each shard
_TICK = 0.001  # the store's times are whole milliseconds


class RemovedArticle(NamedTuple):
    """A removed article, and the log's entry of its removal, if it is among the latest entries about it."""

    article: Article
    removal: LogEntry | None


class RemovedPage(NamedTuple):
    """One page of the removed articles, the last posted first."""

    articles: tuple[RemovedArticle, ...]
    number: int
    has_next: bool
    last: Position | None = None  # position of the last entry; None for an empty page


class RemovedArticles(OfStore):
    """The removed articles of a store."""

    def get_page(
        self, number: int = 1, *, after: Position | None = None, groups: Set[str] | None = None
    ) -> RemovedPage:
        """Return page `number` of the removed articles, counted from 1. Three round trips.

        `after`: if given, the page follows this position, whatever the number. `groups`: only what is in some of
        these groups and in no other, of the newest `MOST_SEARCHED`. Raises PageNotFound, and PageTooDeep beyond
        `MOST_PAGED_ARTICLES`.
        """
        page = page_window(number, self._store.rules.per_page, MOST_PAGED_ARTICLES, after)
        keys = [one.removed for one in self._store.shards.all]
        if groups is None:
            entries = read_window(self._store, keys, page, after)
        else:
            searched = page_window(1, MOST_SEARCHED, MOST_PAGED_ARTICLES, after)
            found = self._within(groups, read_window(self._store, keys, searched, after))
            entries = found[0 if after else page.start :][: page.size + 1]
        page.check_entries(entries)
        shown = entries[: page.size]
        rows = self.describe([article_id_from(member) for member, _ in shown])
        return RemovedPage(rows, number, page.has_next(len(entries)), position_of(shown))

    def _within(self, groups: Set[str], entries: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """Return those of the entries whose articles are in some of these groups, and in no other."""
        with self._store.pipeline() as pipe:
            for member, _time in entries:
                pipe.hget(
                    self._store.shards.of(article_id_from(member)).article(article_id_from(member)), "groups"
                )
            joined = pipe.execute() if entries else []
        named = (frozenset(split_groups(slugs or "")) for slugs in joined)
        return [entry for entry, slugs in zip(entries, named, strict=True) if slugs and slugs <= groups]

    def iterate_ids(self) -> Iterator[ArticleId]:
        """Yield the id of every removed article. One round trip for each batch of each shard."""
        for keys in self._store.shards.all:
            yield from map(article_id_from, ranked_members(self._store, keys.removed))

    def describe(self, ids: Sequence[ArticleId], *, with_html: bool = False) -> tuple[RemovedArticle, ...]:
        """Return those of these articles that are removed, perhaps with their texts. Two round trips, or none."""
        articles = read_articles(self._store, ids, None, with_html=with_html) if ids else []
        removed = [article for article in articles if article.removed is not None]
        acts = [(_act_on(article), root_of(article.id)) for article in removed]
        return tuple(map(RemovedArticle, removed, ModerationLog(self._store).find_latest(acts)))


def _act_on(article: Article) -> Action:
    """Return what took a removed article out of the lists."""
    if article.merged_into is not None:
        return Action.MERGE
    return Action.WITHDRAW if article.is_withdrawn else Action.REMOVE


class RemovedComment(NamedTuple):
    """A removed comment, its article, and the log's entry of its removal, if that is among the latest."""

    comment: Comment
    article: Article
    removal: LogEntry | None


class RemovedCommentPage(NamedTuple):
    """One page of the removed comments, the last removed first."""

    comments: tuple[RemovedComment, ...]
    next_before: float | None
    """Where the next page begins: with removals before this moment, in Unix seconds; None after the last page."""


class OwnRemovedPage(NamedTuple):
    """Those comments of one page of a member's comments that are removed, newest first."""

    comments: tuple[RemovedComment, ...]
    has_next: bool
    last: Position | None  # position of the last comment of the page, removed or not; None for an empty page


@dataclass(slots=True)
class _Reading:
    """How far one shard's moderation log has been read."""

    keys: Keys
    reached: float  # time of the last entry read: the entries to come are no newer
    next_entry: int | None = None
    """Number of the next entry to read, from the oldest; None before the first read, 0 after the last."""

    @property
    def is_over(self) -> bool:
        return self.next_entry == 0


class RemovedComments(OfStore):
    """The removed comments of a store, as the moderation log records their removals."""

    def get_page_by(self, author: UserId, number: int = 1, *, after: Position | None = None) -> OwnRemovedPage:
        """Return those comments of page `number` of a member's comments that are removed. Four round trips.

        `after`: if given, the page follows this position, whatever the number. Raises PageNotFound, PageTooDeep.
        """
        page = page_window(number, COMMENTS_PER_MEMBER_PAGE, MOST_PAGED, after)
        entries = read_window(
            self._store, [keys.commented(author) for keys in self._store.shards.all], page, after
        )
        page.check_entries(entries)
        shown = entries[: page.size]
        found = self.describe(comments_with(self._store, [int(member) for member, _ in shown], FIELDS))
        return OwnRemovedPage(found, page.has_next(len(entries)), position_of(shown))

    def describe(self, comments: Iterable[Comment]) -> tuple[RemovedComment, ...]:
        """Return those of these comments that are removed. Two round trips; none without any."""
        removed = [comment for comment in comments if comment.removed is not None]
        acts = [(Action.REMOVE_COMMENT, comment.id) for comment in removed]
        return self._with_articles(removed, ModerationLog(self._store).find_latest(acts))

    def get_page(self, before: float = inf) -> RemovedCommentPage:
        """Return the comments that are removed, and whose latest removal was before a moment in Unix seconds.

        A page has as many as other lists, and all that were removed in the same millisecond as its last one. It
        may have fewer, even none, and a next page, where long stretches of the log have no removals to show. Two
        round trips, and one more for each such stretch, at most `_READS` + 1 in all.
        """
        size = self._store.rules.per_page
        logs = [_Reading(keys, before) for keys in self._store.shards.all]
        found, complete, frontier = list[tuple[LogEntry, Comment]](), list[tuple[LogEntry, Comment]](), before
        for _ in range(_READS):
            found += self._read([log for log in logs if not log.is_over], before, size + 1)
            frontier = max((log.reached for log in logs if not log.is_over), default=-inf)
            complete = sorted((one for one in found if one[0].at > frontier), key=lambda one: -one[0].at)
            if len(complete) > size or frontier == -inf:
                break
        shown = complete[:size]
        shown += [one for one in complete[size:] if one[0].at == shown[-1][0].at]
        rows = self._with_articles([comment for _, comment in shown], [entry for entry, _ in shown])
        if len(shown) < len(complete):
            return RemovedCommentPage(rows, shown[-1][0].at)
        has_next = -inf < frontier < before
        return RemovedCommentPage(rows, frontier + _TICK if has_next else None)

    def _read(self, logs: list[_Reading], before: float, most: int) -> list[tuple[LogEntry, Comment]]:
        """Read on in these logs; return the removals that are found."""
        entries = max(_LEAST_READ, ENTRIES_PER_READ // len(self._store.shards.all))
        limit = "inf" if before == inf else exact_time(before)
        calls = [
            Call(
                "moderation_log/find_removed_comments",
                (log.keys.log,),
                ("" if log.next_entry is None else log.next_entry, limit, entries, most, log.keys.prefix, *FIELDS),
            )
            for log in logs
        ]
        found = list[tuple[LogEntry, Comment]]()
        for log, (next_entry, reached, *rows) in zip(logs, self._store.run_many(calls), strict=True):
            log.next_entry, log.reached = next_entry, min(log.reached, float(reached))
            for text, comment_id, *values in rows:
                for comment in comments_from(self._store, [[comment_id, 0, 0, 0, 0, *values]]):
                    found += [(entry, comment) for entry in entries_from([text])]
        return found

    def _with_articles(
        self, comments: Sequence[Comment], removals: Sequence[LogEntry | None]
    ) -> tuple[RemovedComment, ...]:
        ids = list(dict.fromkeys(comment.article for comment in comments))
        articles = {article.id: article for article in read_articles(self._store, ids, None)} if ids else {}
        return tuple(
            RemovedComment(comment, articles[comment.article], entry)
            for comment, entry in zip(comments, removals, strict=True)
            if comment.article in articles
        )


_Change = Callable[[int, Actor, str, str], None]


class Sweeps(OfStore):
    """The sweeps of a store. Each removal and each restoration is one script, so a sweep can be interrupted."""

    def remove(self, member: UserId, since: float, sweep: str, actor: Actor, reason: str) -> Iterator[bool]:
        """Remove what a member posted since then, in Unix seconds; yield for each one whether this call did.

        `sweep`: a mark on each removal, by which `restore` recognises it. One round trip for each, and one for
        each batch of the member's lists in each shard; more where a merge of the member's article is undone.
        Idempotent. Raises StoreError, and MergeRunning while another process merges.
        """
        removals = self._remove_article, Comments(self._store).remove
        yield from self._change(member, since, removals, actor, reason, sweep)

    def _remove_article(self, article_id: ArticleId, actor: Actor, reason: str, sweep: str) -> None:
        """Remove an article. One that was merged is shown by the other one until that is undone."""
        articles = Articles(self._store)
        try:
            articles.remove(article_id, actor, reason, sweep)
        except ArticleMerged:
            with suppress(NotMerged):
                carry_out(Merges(self._store).undo(article_id, actor, reason))
            articles.remove(article_id, actor, reason, sweep)

    def restore(self, member: UserId, since: float, sweep: str, actor: Actor, reason: str) -> Iterator[bool]:
        """Restore what the sweep removed, and nothing else. Otherwise like `remove`."""
        restorations = Articles(self._store).restore, Comments(self._store).restore
        yield from self._change(member, since, restorations, actor, reason, sweep)

    def _change(
        self, member: UserId, since: float, changes: tuple[_Change, _Change], actor: Actor, reason: str, sweep: str
    ) -> Iterator[bool]:
        change_article, change_comment = changes
        posted = Members(self._store).iterate_posted(member)
        for article_id, _ in takewhile(lambda noted: noted[1] >= since, posted):
            yield _is_done(change_article, article_id, actor, reason, sweep)
        for comment in takewhile(lambda one: one.posted_at >= since, Comments(self._store).list_by(member)):
            yield _is_done(change_comment, comment.id, actor, reason, sweep)


def _is_done(change: _Change, subject: int, actor: Actor, reason: str, sweep: str) -> bool:
    """Make a change; return whether its subject permitted it."""
    try:
        change(subject, actor, reason, sweep)
    except MergeRunning:
        raise
    except (ActionRefused, ArticleNotFound, CommentNotFound):
        return False
    return True
