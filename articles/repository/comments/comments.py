"""Posting, editing, deleting, voting on and moderating comments. A comment is in the shard of its article."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import Any

from articles.domain.articles import Article, ArticleId, Choice, Tally
from articles.domain.comments import (
    COMMENTS_PER_MEMBER_PAGE,
    EDIT_SECONDS,
    FIRST_PART,
    Comment,
    CommentId,
    CommentOrder,
    Thread,
    ThreadPart,
    article_of,
    is_root,
    root_of,
)
from articles.domain.errors import ArticleNotFound, CommentNotFound
from articles.domain.lists import MOST_PAGED, closed_groups
from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.repository.comments import reading
from articles.repository.lists.pages import page_window
from articles.repository.lists.reading import FIELDS, read_article_with, read_fields_with, readable
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import NO_ONE, OfStore, exact_time, joined, joined_times
from articles.repository.votes import cast

SENT_SECONDS = 600  # seconds within which the same comment, sent again, leads to the first

KEYED_SECONDS = 30 * 86400
"""The same for one with a key, such as a mail, which a mail server can deliver twice."""

_HAS_NO_TOKEN = FIELDS.index("log"), FIELDS.index("merges")

_SHARED = CommentOrder.BEST, FIRST_PART  # what the page of an article shows first of its comments
_CHOICE = slice(3, 5)  # values of a row of a thread that tell the reader's choice
_BEFORE_HTML = _CHOICE.stop + len(reading.FIELDS)  # values of a row that come before HTML


class Comments(OfStore):
    """The comments of a store."""

    def post(
        self,
        article_id: ArticleId,
        user: UserId,
        name: str,
        text: str,
        *,
        parent: CommentId | None = None,
        mentioned: Collection[UserId] = (),
        spared: Collection[UserId] = (),
        posted_at: float | None = None,
        key: str = "",
    ) -> CommentId:
        """Publish a comment, as a reply to `parent` if given; return its id. One round trip.

        Notifies those who are `mentioned` and, unless `spared`, the author of what it replies to. `posted_at`:
        Unix seconds, for content that is older than the site; now if None.

        The same text sent again within SENT_SECONDS returns the id of the first; for a comment with a `key`, the
        same key within KEYED_SECONDS. Raises ArticleNotFound, ArticleRemoved,
        AccountDeleted, DiscussionLocked, DiscussionFull, CommentRemoved for a removed parent, and CommentNotFound
        for one that is unknown, deleted or on another article.
        """
        root = root_of(article_id)
        above = root if parent is None else parent
        if parent is not None and (parent == root or article_of(parent) != article_id):
            raise CommentNotFound(parent)
        store, now = self._store, self._store.now() if posted_at is None else posted_at
        keys = store.shards.of(article_id)
        sent = _digest(above, user, f"\0{key}" if key else text)  # no text has a NUL
        life = KEYED_SECONDS if key else SENT_SECONDS
        (comment_id,) = store.change(
            "comments/post", article_id,
            [keys.article(article_id), keys.comment_sent(sent)],
            [
                article_id, above, user, name, text, exact_time(now),
                exact_time(now + store.rules.voting_window), life, keys.prefix,
                joined(mentioned),
                joined(spared),
                store.kept_html.make(text),
            ],
        )  # fmt: skip
        return int(comment_id)

    def get(self, comment_id: CommentId, reader: UserId | None = None) -> Comment:
        """Return a comment, even a removed one or a stub, with the reader's own choice. One round trip.

        Raises CommentNotFound, and ArticleRemoved if its article is removed.
        """
        branch = self.get_branch(comment_id, CommentOrder.OLDEST, reader=reader, part=ThreadPart(size=1))
        return branch.comments[0]

    def get_thread(
        self,
        article_id: ArticleId,
        order: CommentOrder,
        *,
        reader: UserId | None = None,
        part: ThreadPart = FIRST_PART,
    ) -> Thread:
        """Return a part of the comments. One round trip. Raises ArticleNotFound, ArticleRemoved."""
        if not readable(self._store, [article_id]):
            raise ArticleNotFound(article_id)
        return reading.read_thread(self._store, root_of(article_id), order, reader, part, subject=article_id)

    def get_article(
        self,
        article_id: ArticleId,
        order: CommentOrder,
        *,
        reader: UserId | None = None,
        part: ThreadPart = FIRST_PART,
        others: Sequence[ArticleId] = (),
    ) -> tuple[Article, Thread | None, Callable[[], str], list[Article]]:
        """Return an article with its text and the reader's own choice, and its comments as `get_thread` does.

        There are no comments for a removed article. The third part returns the token of `get_states`, "" for a
        page that has none, such as one with other articles. These come last, as far as they exist. One round
        trip. Raises ArticleNotFound.
        """
        root = root_of(article_id)
        call = reading.thread_call(self._store, root, order, reader, part)
        article, fields, reply, further = read_article_with(self._store, article_id, reader, call, others)
        if article is None:
            raise ArticleNotFound(article_id)
        thread = reading.thread_in(self._store, reply[1:], root, order, part) if reply[0] == "ok" else None
        has_token = (order, part) == _SHARED and not further
        return article, thread, partial(_token, fields, reply) if has_token else str, further

    def get_states(self, ids: Sequence[ArticleId]) -> dict[ArticleId, str]:
        """Return for each article a token that changes with all that its page shows, except views and time.

        The page with the first part of its comments, regardless of the reader. A removed or unknown article,
        or one with entries in the moderation log, has no token. One round trip.
        """
        order, part = _SHARED
        calls = [
            reading.thread_call(self._store, root_of(number), order, None, part, with_html=False) for number in ids
        ]
        fields, threads = read_fields_with(self._store, ids, calls)
        tokens = {number: _token(fields[number], thread) for number, thread in zip(ids, threads, strict=True)}
        return {number: token for number, token in tokens.items() if token}

    def get_branch(
        self,
        comment_id: CommentId,
        order: CommentOrder,
        *,
        reader: UserId | None = None,
        part: ThreadPart = FIRST_PART,
    ) -> Thread:
        """Return a comment and a part of its replies. One round trip. Raises CommentNotFound, ArticleRemoved."""
        if is_root(comment_id) or not readable(self._store, [article_of(comment_id)]):
            raise CommentNotFound(comment_id)
        branch = reading.read_thread(self._store, comment_id, order, reader, part, subject=comment_id)
        if not branch.comments or branch.comments[0].id != comment_id:  # it is damaged
            raise CommentNotFound(comment_id)
        return branch

    def list_by(self, user: UserId) -> Iterator[Comment]:
        """Yield a member's comments, newest first, also removed ones. A round trip a batch of a shard."""
        return reading.comments_by(self._store, user)

    def get_page_by(self, user: UserId, number: int = 1) -> tuple[list[Comment], bool]:
        """Return page `number`, counted from 1, of a member's comments, newest first, and whether more follow.

        COMMENTS_PER_MEMBER_PAGE of them, with removed ones and those on removed articles. Two round trips; with
        closed groups, one more for each batch of the comments up to the page. Raises PageNotFound for pages that
        do not exist, PageTooDeep beyond `MOST_PAGED` comments.
        """
        page = page_window(number, COMMENTS_PER_MEMBER_PAGE, MOST_PAGED)
        most = 2 * MOST_PAGED if closed_groups() else page.end + 1
        readable_ids = self._readable_ids(reading.newest_ids_by(self._store, user, most))
        ids = list(islice(readable_ids, page.start, page.end + 1))
        page.check_entries(ids)
        fields = reading.FIELDS_WITH_HTML
        shown = reading.comments_with(self._store, ids[: page.size], fields, with_replies=True)
        return shown, page.has_next(len(ids))

    def list_newest(self, *, since: float, article_id: ArticleId | None = None) -> list[Comment]:
        """Return the newest shown comments on listed articles, or on one article, newest first.

        All that were posted at `since` (Unix seconds) or later: at least LEAST_IN_FEED, at most MOST_IN_FEED, of
        which a long one counts once more for each KB. One round trip. Those on an article that was removed are
        returned if it is given.
        """
        read, before, times = reading.newest_comments(self._store, since, article_id), -1, 1
        while len(found := self._readable(read)) < len(read) and before < len(read):
            if len(shown := reading.within_a_feed(found, since)) < len(found):
                return shown
            before, times = len(read), 4 * times
            read = reading.newest_comments(self._store, since, article_id, times)
        return reading.within_a_feed(found, since)

    def list_newest_by(self, user: UserId, *, since: float) -> list[Comment]:
        """Return a member's newest shown comments, as `list_newest`. A round trip a batch of a shard."""
        comments = self._all_readable(reading.comments_by(self._store, user, reading.FIELDS_WITH_HTML))
        return reading.within_a_feed((comment for comment in comments if comment.is_shown), since)

    def _readable_ids(self, ids: Sequence[CommentId]) -> Iterator[CommentId]:
        """Yield those of these comments that are on articles that the reader gets to see."""
        for at in range(0, len(ids), ENTRIES_PER_READ):
            batch = ids[at : at + ENTRIES_PER_READ]
            known = readable(self._store, list(map(article_of, batch)))
            yield from (one for one in batch if article_of(one) in known)

    def _all_readable(self, comments: Iterator[Comment]) -> Iterator[Comment]:
        """Yield those that `_readable` returns. No round trip without closed groups."""
        if not closed_groups():
            yield from comments
        while batch := list(islice(comments, COMMENTS_PER_MEMBER_PAGE)):
            yield from self._readable(batch)

    def _readable(self, comments: list[Comment]) -> list[Comment]:
        """Return the comments on articles that the reader gets to see. At most one round trip."""
        known = readable(self._store, [article_of(one.id) for one in comments])
        return [one for one in comments if article_of(one.id) in known]

    def edit(
        self,
        comment_id: CommentId,
        user: UserId,
        text: str,
        *,
        mentioned: Collection[UserId] = (),
        unmentioned: Mapping[UserId, float] = NO_ONE,
    ) -> None:
        """Change the text of the author's comment; within EDIT_SECONDS, leave no mark. One round trip.

        Notifies those who are `mentioned` and have had no notice of the comment, MOST_MENTIONED with all edits.
        The `unmentioned` lose a notice of the last UNDO_SECONDS, unless they have read the inbox since: the values
        say when each did, in Unix seconds.

        Raises CommentNotFound, NotTheAuthor, CommentRemoved, DiscussionLocked, ArticleRemoved, AccountDeleted.
        """
        keys, article_id = self._store.shards.of_comment(comment_id), article_of(comment_id)
        with self._store.retracting([article_id]):
            self._store.change(
                "comments/edit", comment_id,
                [keys.comment(comment_id), keys.article(article_id)],
                [
                    user, text, exact_time(self._store.now()), EDIT_SECONDS, keys.prefix,
                    joined(mentioned),
                    self._store.kept_html.make(text),
                    joined_times(unmentioned),
                ],
            )  # fmt: skip

    def delete(self, comment_id: CommentId, user: UserId, *, unmentioned: Mapping[UserId, float] = NO_ONE) -> None:
        """Delete the author's comment; while it has replies, a stub without text and author remains.

        The `unmentioned` lose their notices as with `edit`.

        One round trip. Raises CommentNotFound, NotTheAuthor, AccountDeleted.
        """
        keys, article_id = self._store.shards.of_comment(comment_id), article_of(comment_id)
        with self._store.retracting([article_id]):
            self._store.change(
                "comments/delete",
                comment_id,
                [keys.comment(comment_id), keys.article(article_id), keys.commented(user)],
                [comment_id, user, keys.prefix, exact_time(self._store.now()), joined_times(unmentioned)],
            )

    def cast(self, comment_id: CommentId, user: UserId, choice: Choice, network: str = "") -> Tally:
        """Set a member's choice on a comment; return the resulting counts. One round trip.

        `network` as for `Votes.cast`. Idempotent, because the choice is a target state. Raises CommentNotFound,
        CommentRemoved, OwnComment, CommentVotingClosed, ArticleRemoved, AccountDeleted, LimitReached.
        """
        store, keys, article_id = self._store, self._store.shards.of_comment(comment_id), article_of(comment_id)
        given = (comment_id, user, choice.value, exact_time(store.now()), keys.prefix)
        ring = keys.ring(article_id, network) if network else ""
        subjects = [keys.comment(comment_id), keys.article(article_id)]
        return cast(store, "comments/cast", comment_id, subjects, given, ring)

    def remove(self, comment_id: CommentId, actor: Actor, reason: str, sweep: str = "") -> None:
        """Put a stub in a comment's place. One round trip. Raises CommentNotFound, CommentRemoved."""
        self._moderate("comments/remove", comment_id, actor, reason, sweep)

    def restore(self, comment_id: CommentId, actor: Actor, reason: str, sweep: str = "") -> None:
        """Show it again, if a given sweep removed it. One round trip. Raises as `remove`, CommentNotRemoved."""
        self._moderate("comments/restore", comment_id, actor, reason, sweep)

    def lock(self, article_id: ArticleId, actor: Actor, reason: str) -> None:
        """Close an article's discussion. One round trip. Raises ArticleNotFound, DiscussionLocked."""
        self._set_lock("lock", article_id, actor, reason)

    def unlock(self, article_id: ArticleId, actor: Actor, reason: str) -> None:
        """Open an article's discussion again. One round trip. Raises ArticleNotFound, DiscussionNotLocked."""
        self._set_lock("unlock", article_id, actor, reason)

    def _moderate(self, script: str, comment_id: CommentId, actor: Actor, reason: str, sweep: str) -> None:
        store, keys, article_id = self._store, self._store.shards.of_comment(comment_id), article_of(comment_id)
        with store.retracting([article_id]):
            store.change(
                script,
                comment_id,
                [keys.comment(comment_id), keys.article(article_id)],
                [comment_id, actor.signature, exact_time(store.now()), reason, keys.prefix, sweep],
            )

    def _set_lock(self, act: str, article_id: ArticleId, actor: Actor, reason: str) -> None:
        store, keys = self._store, self._store.shards.of(article_id)
        store.change(
            "comments/lock",
            article_id,
            [keys.article(article_id)],
            [article_id, actor.signature, exact_time(store.now()), reason, keys.prefix, act],
        )


def _digest(parent: CommentId, user: UserId, text: str) -> str:
    """Return the digest that identifies a comment sent twice, by its text or key, as 32 hexadecimal digits."""
    return blake2b(f"{parent} {user} {text}".encode(), digest_size=16).hexdigest()


def _token(fields: Sequence[str | None], thread: Sequence[Any]) -> str:
    """Return the digest of replies about an article's page, as 32 hexadecimal digits; "" for none.

    Neither the reader's choices nor HTML are part of it: that changes with the texts, or is made again.
    """
    if thread[0] != "ok" or any(fields[at] is not None for at in _HAS_NO_TOKEN):
        return ""
    status, counts, above, rest, *rows = thread
    shown = [row[: _CHOICE.start] + row[_CHOICE.stop : _BEFORE_HTML] for row in rows]
    facts = fields, status, counts, above, rest, shown
    return blake2b(repr(facts).encode(), digest_size=16).hexdigest()
