"""Inboxes: reading them, their audit and their repair.

The scripts that post comments and articles, and those that moderate, write the notices.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from articles.domain.comments import Comment, CommentId, article_of, is_root
from articles.domain.errors import StoreDamaged
from articles.domain.flags import FlagState
from articles.domain.lists import MOST_PAGED, Position
from articles.domain.members import UserId
from articles.domain.moderation_log import LogEntry
from articles.domain.notices import DECISIONS, DeletedComment, InboxPage, Notice, NoticeKind, NoticePointer
from articles.domain.reasons import recorded
from articles.repository.comments.reading import FIELDS_WITH_HTML, comments_from
from articles.repository.lists.pages import newest_first, page_window, position_of, read_window
from articles.repository.moderation.log import entries_from
from articles.repository.store.batches import ENTRIES_PER_CHECK
from articles.repository.store.connection import Call, OfStore, Ride, Store, exact_time, riding
from articles.repository.store.findings import Finding, Verb
from articles.repository.store.keys import Keys
from articles.repository.store.values import naming

_FORM = re.compile(r"([a-z-]{1,40}):([1-9][0-9]{6,21})")
"""What an inbox keeps of a notice: the word of its pointer; the comment or root."""


class Inbox(OfStore):
    """The inboxes of a store."""

    def counting(self, user: UserId, since: float) -> AbstractContextManager[Ride[int]]:
        """Count a member's notices later than `since` (Unix seconds) without a round trip of its own.

        The first exchange of several scripts within the block fetches the count, too; on a cluster, the first one
        with every shard.
        """
        calls = [Call("inbox/count", (keys.inbox(user),), (exact_time(since),)) for keys in self._store.shards.all]
        return riding(self._store, calls, _sum)

    def get_page(self, user: UserId, number: int = 1, *, after: Position | None = None) -> InboxPage:
        """Return page `number`, counted from 1, of a member's notices, newest first. Two round trips.

        `after`: if given, the page follows this position, whatever the number. Raises PageNotFound for pages that
        do not exist, PageTooDeep beyond `MOST_PAGED` notices.
        """
        page = page_window(number, self._store.rules.per_page, MOST_PAGED, after)
        inboxes = [keys.inbox(user) for keys in self._store.shards.all]
        entries = read_window(self._store, inboxes, page, after)
        page.check_entries(entries)
        shown = entries[: page.size]
        notices = self.read(list(_pointers(shown)))
        return InboxPage(notices, number, page.has_next(len(entries)), position_of(shown))

    def iterate(self, user: UserId) -> Iterator[NoticePointer]:
        """Yield every notice of a member, newest first. One round trip."""
        shards = self._store.in_shards(lambda pipe, keys: pipe.zrevrange(keys.inbox(user), 0, -1, withscores=True))
        yield from _pointers(newest_first(shards))

    def list_between(self, members: Sequence[tuple[UserId, float]], until: float) -> list[list[NoticePointer]]:
        """Return each member's notices after their own time, up to `until`, newest first. One round trip."""
        shards = self._store.shards.all
        with self._store.pipeline() as pipe:
            for user, since in members:
                for keys in shards:
                    pipe.zrevrangebyscore(
                        keys.inbox(user), exact_time(until), f"({exact_time(since)}", withscores=True
                    )
            replies = pipe.execute()
        width = len(shards)
        each = (replies[n * width : (n + 1) * width] for n in range(len(members)))
        return [list(_pointers(newest_first(shards))) for shards in each]

    def read(self, pointers: Sequence[NoticePointer]) -> tuple[Notice, ...]:
        """Return what these point to, without notices about articles that do not exist. One round trip."""
        return tuple(self._read(pointers))

    def _read(self, pointers: Sequence[NoticePointer]) -> Iterator[Notice]:
        """Read what notices point to; leave out those about articles that do not exist. One round trip."""
        parts: dict[Keys, list[NoticePointer]] = {}
        for pointer in pointers:
            parts.setdefault(self._store.shards.of_comment(pointer.subject), []).append(pointer)
        calls = [
            Call(
                "inbox/read",
                (keys.log,),
                (keys.prefix, len(FIELDS_WITH_HTML), *FIELDS_WITH_HTML, *(pointer.text for pointer in part)),
            )
            for keys, part in parts.items()
        ]
        replies = self._store.run_many(calls) if calls else []
        rows = {
            pointer: row
            for part, reply in zip(parts.values(), replies, strict=True)
            for pointer, row in zip(part, reply, strict=True)
        }
        with_comment = (row[3] for row in rows.values() if row[3])
        comments = {comment.id: comment for comment in comments_from(self._store, with_comment)}
        return (notice for pointer in pointers if (notice := _notice(pointer, rows[pointer], comments)))


def _pointers(entries: Iterable[tuple[str, float]]) -> Iterator[NoticePointer]:
    """Yield the notices that entries of inboxes name. Raises StoreDamaged."""
    with naming("a notice"):
        for text, at in entries:
            if not (found := _FORM.fullmatch(text)):
                raise StoreDamaged(repr(text[:60]))
            yield NoticePointer(found[1], int(found[2]), at)


def _notice(pointer: NoticePointer, row: Sequence[Any], comments: Mapping[CommentId, Comment]) -> Notice | None:
    title, poster_name, removed, _, text, kept, locked, deletion = row
    if title is None:
        return None
    entries: list[LogEntry] = list(entries_from([text])) if text else []
    comment, decision = comments.get(pointer.subject), DECISIONS.get(pointer.word)
    removed_because = removed if is_root(pointer.subject) else comment and comment.removed
    reason = kept if decision is FlagState.KEPT else removed_because if decision else None
    return Notice(
        kind=NoticeKind.MODERATION if entries else pointer.kind,
        at=pointer.at,
        article=article_of(pointer.subject),
        title=recorded(title),
        poster_name=poster_name or "",
        is_article_removed=removed is not None,
        is_locked=locked is not None,
        comment_id=None if is_root(pointer.subject) else pointer.subject,
        comment=comment,
        entry=entries[0] if entries else None,
        decision=decision,
        deleted=_deleted(*map(int, deletion)) if deletion else None,
        reason=recorded(reason or ""),
    )


def _deleted(author: UserId, parent: CommentId) -> DeletedComment:
    return DeletedComment(author, None if is_root(parent) else parent)


def check_inbox(store: Store, keys: Keys, user: UserId, verb: Verb = "audit") -> Iterator[Finding]:
    """Yield what is wrong with an inbox in one shard, once; or repair it. A round trip for each batch."""
    inbox, problems, done, length = keys.inbox(user), dict[str, None](), 0, 1
    while done < length:
        length, done, found = store.run(f"{verb}/inbox", [inbox], [user, keys.prefix, done, ENTRIES_PER_CHECK])
        problems.update(dict.fromkeys(found))
    yield from (Finding(inbox, problem) for problem in problems)


def _sum(counts: Sequence[Any]) -> int | None:
    return sum(counts) if all(isinstance(count, int) for count in counts) else None
