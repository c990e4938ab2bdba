"""Articles merged into another one: the acts of moderators, the votes that move, and the audit between shards.

The hash of the merged article says into which one it was merged: the script that writes this is the act. Before
it, the other article lists the merge as open; after it, votes are moved, or taken back, until both agree. So an
act that was interrupted anywhere can be finished from what both articles say.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.comments import FIRST_PART, CommentOrder, Thread, root_of
from articles.domain.errors import (
    ActionRefused,
    ArticleNotFound,
    MergeRunning,
    NotMerged,
    SelfMerge,
    StoreUnavailable,
)
from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.repository.comments.reading import thread_call, thread_in
from articles.repository.lists.reading import merges_from, read_articles
from articles.repository.store import keys as names
from articles.repository.store.connection import OfStore, Value, exact_time
from articles.repository.store.findings import Finding, carry_out

MOST_MERGED = 10  # articles that can be merged into one: its page shows the comments of all
VOTERS_PER_STEP = 250  # voters whose votes one script moves: some milliseconds of the store's time
_LOCK_LIFE, _LOCK_WAIT, _LOCK_PAUSE = 20, 3.0, 0.05
"""Seconds after which the lock of a process that died expires; for which another one waits, in what steps."""

Renew = Callable[[], None]


class Merges(OfStore):
    """The merges of a store. Each step is one script in one shard, so an act can be interrupted and finished."""

    def merge(self, article_id: ArticleId, into: ArticleId, actor: Actor, reason: str) -> Iterator[int]:
        """Merge an article into another one, and log it; yield how many votes each step moved.

        It leaves every list; its comments stay with it. Members who voted only on it count for the other one with
        this choice, as far as the voters of both are known: until two days after voting ended. What a member chose
        on the other one counts, and later choices there. Idempotent, and continues an act that was interrupted.
        Some round trips, and two for each batch of voters. Raises ArticleNotFound, ArticleRemoved, ArticleMerged,
        HasMerges, MergesFull, SelfMerge, and MergeRunning while another process merges.
        """
        if article_id == into:
            raise SelfMerge(article_id)
        with self._lock() as renew:
            carry_out(self._settle(into, renew))
            if self._merged_into(article_id) == into:
                return
            self._open(article_id, into, MOST_MERGED)
            try:
                self._act("merges/leave", article_id, into, actor, reason, into)
            except (ActionRefused, ArticleNotFound):
                carry_out(self._settle(into, renew))
                raise
            yield from self._settle(into, renew)

    def undo(self, article_id: ArticleId, actor: Actor, reason: str) -> Iterator[int]:
        """Undo a merge, and log it; yield how many votes each step took back.

        Both articles are as if it had never been made, with what members did since: choices on the other one since
        then are choices on it. If the voters are no longer known, their numbers are taken back. Otherwise as
        `merge`. Raises ArticleNotFound, NotMerged, MergeRunning.
        """
        with self._lock() as renew:
            if not (into := self._merged_into(article_id)):
                raise NotMerged(article_id)
            with suppress(ActionRefused, ArticleNotFound):  # the other one may be damaged
                self._open(article_id, into, 0)
            self._act("merges/return", article_id, into, actor, reason, self._store.rules.hot_size)
            yield from self._settle(into, renew)

    def finish(self) -> Iterator[int]:
        """Finish interrupted acts; yield moved votes. One round trip without any. Raises MergeRunning."""
        shards = self._store.in_shards(lambda pipe, keys: pipe.zrange(keys.merging, 0, -1))
        if waiting := [int(article) for articles in shards for article in articles]:
            with self._lock() as renew:
                for article in waiting:
                    with suppress(ArticleNotFound):  # it is damaged
                        yield from self._settle(article, renew)

    def list_merged(
        self, article: Article, order: CommentOrder, reader: UserId | None
    ) -> list[tuple[Article, Thread]]:
        """Return what was merged into an article, each with its text and the first part of its comments.

        No round trip without any, else two; one more if HTML of texts has to be made.
        """
        found = read_articles(self._store, article.merged, reader, with_html=True) if article.merged else []
        merged = [one for one in found if one.merged_into == article.id]
        calls = [thread_call(self._store, root_of(one.id), order, reader, FIRST_PART) for one in merged]
        replies = self._store.run_many(calls) if calls else []
        return [
            (one, thread_in(self._store, reply[1:], root_of(one.id), order, FIRST_PART))
            for one, reply in zip(merged, replies, strict=True)
            if reply[0] == "ok"
        ]

    def _open(self, article_id: ArticleId, into: ArticleId, most: int) -> None:
        """Let the other article list the merge as open. `most`: how many merges it can have."""
        keys = self._store.shards.of(into)
        arguments: list[Value] = [into, article_id, keys.prefix, exact_time(self._store.now()), most]
        self._store.change("merges/open", into, [keys.article(into)], arguments)

    def _act(
        self, script: str, article_id: ArticleId, into: ArticleId, actor: Actor, reason: str, more: Value
    ) -> None:
        store, keys = self._store, self._store.shards.of(article_id)
        arguments: list[Value] = [article_id, actor.name, exact_time(store.now()), reason, keys.prefix, more]
        with store.retracting([article_id, into]):
            store.change(script, article_id, [keys.article(article_id)], arguments)

    def _merged_into(self, article_id: ArticleId) -> ArticleId | None:
        with self._store.commands() as client:
            field = client.hget(self._store.shards.of(article_id).article(article_id), "merged") or ""
        return int(field) if field.isascii() and field.isdecimal() else None

    def _settle(self, into: ArticleId, renew: Renew) -> Iterator[int]:
        """Move the votes of open merges, or take them back, as the merged articles say."""
        keys = self._store.shards.of(into)
        while True:
            with self._store.commands() as client:
                merges = merges_from(client.hget(keys.article(into), "merges"))
            other = next((merge.article for merge in merges if merge.is_open), None)
            if other is None:
                return
            is_merged = self._merged_into(other) == into
            for moved in self._bring(other, into) if is_merged else self._take_back(other, into):
                renew()
                yield moved

    def _bring(self, other: ArticleId, into: ArticleId) -> Iterator[int]:
        store, keys, theirs = self._store, self._store.shards.of(into), self._store.shards.of(other)
        sets = [theirs.article(other), theirs.voted(other), theirs.oppose(other)]
        given = [keys.article(into), keys.voted(into), keys.oppose(into), keys.brought(into)]

        def count(choice: Choice, voters: Sequence[str], *, is_last: bool = False) -> int:
            arguments: list[Value] = [into, other, exact_time(store.now()), store.rules.voters_grace, keys.prefix]
            (added,) = store.change("merges/bring", into, given, [*arguments, int(is_last), choice.value, *voters])
            return int(added)

        for choice in (Choice.VOTE, Choice.OPPOSE):
            cursor, is_begun = "0", False
            while cursor != "0" or not is_begun:
                is_begun = True
                arguments: list[Value] = [other, choice.value, cursor, VOTERS_PER_STEP, theirs.prefix]
                cursor, *voters = self._store.run("merges/read_voters", sets, arguments)
                if voters:
                    yield count(choice, voters)
        yield count(Choice.NONE, (), is_last=True)

    def _take_back(self, other: ArticleId, into: ArticleId) -> Iterator[int]:
        store, keys, has_more = self._store, self._store.shards.of(into), True
        while has_more:
            arguments: list[Value] = [into, other, exact_time(store.now()), keys.prefix, VOTERS_PER_STEP]
            taken, rest = store.change(
                "merges/take_back", into, [keys.article(into), keys.brought(into)], arguments
            )
            has_more = bool(rest)
            yield int(taken)

    @contextmanager
    def _lock(self) -> Iterator[Renew]:
        """Exclude other merges; yield a function that renews the lock. Raises MergeRunning."""
        token, deadline = secrets.token_hex(8), time.monotonic() + _LOCK_WAIT
        while not self._hold(token):
            if time.monotonic() > deadline:
                raise MergeRunning
            time.sleep(_LOCK_PAUSE)
        held_since = time.monotonic()

        def renew() -> None:
            nonlocal held_since
            if time.monotonic() - held_since > _LOCK_LIFE / 4:
                held_since = time.monotonic()
                if not self._hold(token):
                    raise MergeRunning

        try:
            yield renew
        finally:
            with suppress(StoreUnavailable):  # the lock expires by itself
                self._store.run("lease/release", [names.MERGE_LOCK], [token])

    def _hold(self, token: str) -> bool:
        return bool(self._store.run("lease/acquire", [names.MERGE_LOCK], [token, _LOCK_LIFE]))


Merged = Mapping[ArticleId, tuple[str, str]]
"""Of articles that were merged, or into which others were, the fields `merged` and `merges`, "" without."""

_Disagreement = tuple[ArticleId, ArticleId, Finding]  # the merged article, the other one, and what is wrong


class MergeUpkeep(OfStore):
    """The audit and the repair of what two articles say of a merge."""

    def check(self, merged: Merged) -> Iterator[Finding]:
        """Yield where they disagree, in two readings: moderators may act meanwhile. One more round trip if so."""
        yield from (finding for _, _, finding in self._disagreements(merged))

    def repair(self, merged: Merged) -> None:
        """Let the other article follow what the merged one says, and finish acts that were interrupted.

        What was merged into an article that does not exist, or cannot have it, is a removed article from then on.
        """
        merges = Merges(self._store)
        for article_id, into, _ in self._disagreements(merged):
            try:
                merges._open(article_id, into, MOST_MERGED)
            except (ActionRefused, ArticleNotFound):
                with self._store.commands() as client:
                    client.hdel(self._store.shards.of(article_id).article(article_id), "merged")
        carry_out(merges.finish())

    def _disagreements(self, merged: Merged) -> list[_Disagreement]:
        found = list(self._compare(merged))
        ids = sorted({number for *pair, _ in found for number in pair})
        if not ids:
            return []
        with self._store.pipeline() as pipe:
            for number in ids:
                pipe.hmget(self._store.shards.of(number).article(number), "merged", "merges")
            again = {
                number: (one or "", many or "") for number, (one, many) in zip(ids, pipe.execute(), strict=True)
            }
        still = list(self._compare(again))
        return [one for one in found if one in still]

    def _compare(self, merged: Merged) -> Iterator[_Disagreement]:
        def article(number: ArticleId) -> str:
            return self._store.shards.of(number).article(number)

        into = {number: int(one) for number, (one, _) in merged.items() if one.isascii() and one.isdecimal()}
        listed = {number: merges_from(field) for number, (_, field) in merged.items()}
        for number, other in into.items():
            if number not in [merge.article for merge in listed.get(other, ())]:
                yield number, other, Finding(article(number), f"merged into {other}, which does not list it")
        for other, merges in listed.items():
            for merge in merges:
                if not merge.is_open and into.get(merge.article) != other:
                    yield (
                        merge.article,
                        other,
                        Finding(article(other), f"lists {merge.article}, which is not merged"),
                    )
