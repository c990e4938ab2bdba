"""Flags: set and taken back by members, decided by moderators; with their audit and repair."""

from collections.abc import Collection, Iterator, Sequence, Set
from contextlib import suppress
from heapq import merge
from itertools import chain, islice
from operator import itemgetter

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import article_of, is_root
from articles.domain.errors import ArticleMerged, ArticleRemoved, CommentRemoved, PageNotFound
from articles.domain.flags import (
    FLAGGED_REASON,
    MOST_FLAGS,
    Flag,
    FlagReason,
    FlagState,
    QueueEntry,
    QueuePage,
    SubjectId,
    weight,
    words_of_rules,
)
from articles.domain.members import UserId
from articles.domain.moderation_log import SITE, Actor
from articles.domain.ranking import ONE_POINT
from articles.repository.articles import Articles
from articles.repository.comments import Comments
from articles.repository.comments.reading import FIELDS_WITH_HTML, comments_from
from articles.repository.lists.reading import read_articles, split_groups
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import OfStore, Value, exact_time
from articles.repository.store.findings import Finding, Verb, carry_out
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Contents, portions, ranked_members
from articles.repository.store.values import naming, whole_from

_KEPT = "kept"  # field of a hash of flags that is not a flag: why moderators last kept what is flagged
_MOST_SEARCHED = 5_000  # heaviest entries of the queue that are searched for those flagged in a period
_REMOVED, _WAITING, _KEPT_BY_MODERATORS = 1, 0, -1  # scores in a member's list of flags


class Flags(OfStore):
    def set(
        self, subject: SubjectId, member: UserId, reason: FlagReason, words: str = "", *, is_trusted: bool = True
    ) -> bool:
        """Flag an article or a comment, or change the member's flag. Two round trips. Idempotent.

        If the flags weigh as much as the operator's `Rules.flags_to_remove`, it is removed: one more. Where that
        is possible, flags of members who are not trusted weigh nothing. Returns whether this call removed it.

        Raises ArticleNotFound, ArticleRemoved, CommentNotFound, CommentRemoved, AccountDeleted, OwnContent,
        NotThePoster, FlagDecided, FlagsFull.
        """
        is_request, limit = reason is FlagReason.WITHDRAWAL, self._store.rules.flags_to_remove
        own_weight = weight(0, 0) if is_request else weight(*self.get_record(member))
        if limit and not is_trusted:
            own_weight = 0
        heaviness = self._cast(subject, member, reason.value, own_weight, words)
        if limit and heaviness >= limit and not is_request:
            with suppress(ArticleRemoved, ArticleMerged, CommentRemoved):
                self.remove(subject, SITE, FLAGGED_REASON)
                return True
        return False

    def set_by_rules(self, subject: SubjectId, names: Sequence[str]) -> None:
        """Flag what rules found, without weight: none removes. Idempotent. One round trip. Raises as `set`."""
        self._cast(subject, SITE.id, FlagReason.AGAINST_RULES.value, 0, words_of_rules(names))

    def take_back(self, subject: SubjectId, member: UserId) -> None:
        """Take back a flag that is still open. One round trip. Idempotent. Raises as `set`, except FlagsFull."""
        self._cast(subject, member, "", 0, "")

    def _cast(self, subject: SubjectId, member: UserId, reason: str, heaviness: float, words: str) -> float:
        """Return the weight of all open flags on the subject."""
        store, keys, (flagged, field) = self._store, self._store.shards.of_comment(subject), self._author(subject)
        (total,) = store.change(
            "flags/cast", subject,
            [keys.flags(subject), flagged, keys.article(article_of(subject))],
            [
                subject, member, reason, exact_time(store.now()), f"{heaviness:.2f}", words, field,
                MOST_FLAGS, keys.prefix,
            ],
        )  # fmt: skip
        return float(total)

    def _author(self, subject: SubjectId) -> tuple[str, str]:
        """Return the key of what is flagged, and its field that holds who posted it."""
        keys = self._store.shards.of_comment(subject)
        return (
            (keys.article(article_of(subject)), "poster")
            if is_root(subject)
            else (keys.comment(subject), "author")
        )

    def get_author(self, subject: SubjectId) -> UserId | None:
        """Return who posted what is flagged, even if it is removed; None if it does not exist. One round trip."""
        return self.get_authors([subject]).get(subject)

    def get_authors(self, subjects: Sequence[SubjectId]) -> dict[SubjectId, UserId]:
        """Return who posted each of these; of what does not exist, nothing. One round trip, none for nothing."""
        with self._store.pipeline() as pipe:
            for subject in subjects:
                pipe.hget(*self._author(subject))
            found = zip(subjects, pipe.execute() if subjects else (), strict=True)
            return {one: whole_from(author, "an author") for one, author in found if author is not None}

    def get_record(self, member: UserId) -> tuple[int, int]:
        """Return how many of a member's flags moderators found right, and how many wrong. One round trip."""
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                for score in (_REMOVED, _KEPT_BY_MODERATORS):
                    pipe.zcount(keys.flags_by(member), score, score)
            counts = pipe.execute()
        return sum(counts[::2]), sum(counts[1::2])

    def get(self, subject: SubjectId, member: UserId) -> Flag | None:
        """Return a member's flag; None without one. One round trip."""
        return next(iter(self._read(self._store.shards.of_comment(subject), [subject], member)), None)

    def iterate_by(self, member: UserId) -> Iterator[Flag]:
        """Yield every flag of a member, in no order. Two round trips for each batch of each shard."""
        for keys in self._store.shards.all:
            for batch in portions(ranked_members(self._store, keys.flags_by(member)), ENTRIES_PER_READ):
                yield from self._read(keys, list(map(int, dict.fromkeys(batch))), member)

    def _read(self, keys: Keys, subjects: Sequence[SubjectId], member: UserId) -> list[Flag]:
        """Return a member's flags on these subjects. One round trip."""
        with self._store.pipeline() as pipe:
            for subject in subjects:
                pipe.hmget(keys.flags(subject), str(member), _KEPT)
            replies = pipe.execute()
        flags = [
            _flag_from(subject, member, text, kept)
            for subject, (text, kept) in zip(subjects, replies, strict=True)
        ]
        return [flag for flag in flags if flag]

    def keep(self, subject: SubjectId, seen: float, reason: str = "") -> None:
        """Decide flags set up to `seen`, in Unix seconds, and notify who set them. Idempotent. One round trip."""
        store, keys = self._store, self._store.shards.of_comment(subject)
        facts: list[Value] = [subject, exact_time(seen), reason, keys.prefix, exact_time(store.now())]
        store.change("flags/keep", subject, [keys.flags(subject)], facts)

    def remove(self, subject: SubjectId, actor: Actor, reason: str) -> None:
        """Remove an article or a comment, which decides its flags and notifies those who set them. One round trip.

        `lua/articles/remove.lua` and `lua/comments/remove.lua` do both.

        Raises ArticleNotFound, ArticleRemoved, CommentNotFound, CommentRemoved.
        """
        if is_root(subject):
            Articles(self._store).remove(article_of(subject), actor, reason)
        else:
            Comments(self._store).remove(subject, actor, reason)

    # The moderators' queue

    def count(self) -> int:
        """Return the number of entries in the queue. One round trip."""
        return sum(self._store.in_shards(lambda pipe, keys: pipe.zcard(keys.flagged)))

    def get_page(
        self, number: int = 1, *, seen: Collection[SubjectId] = (), groups: Set[str] | None = None
    ) -> QueuePage:
        """Return page `number` of the queue, counted from 1. Three round trips, or four. Raises PageNotFound.

        `seen`: if given, the page has the heaviest entries that are not among these, whatever the number.
        `groups`: only what is in some of these groups and in no other.
        """
        size = self._store.rules.per_page
        start = 0 if seen else (number - 1) * size
        if groups is None:
            heaviest_first = [one for one, _place in self._heaviest(start + len(seen) + size + 1)]
        else:
            heaviest_first = [one for one, named in self.list_by_groups() if named and named <= groups]
        subjects = [subject for subject in heaviest_first if subject not in seen][start:]
        if number > 1 and not seen and not subjects:
            raise PageNotFound(number)
        shown = tuple(subjects[:size])
        return QueuePage(tuple(self._entries(shown)), number, len(subjects) > size, shown)

    def list_by_groups(self) -> list[tuple[SubjectId, frozenset[str]]]:
        """Return the heaviest entries of the queue with the groups of their articles. Two round trips."""
        subjects = [subject for subject, _place in self._heaviest(_MOST_SEARCHED)]
        with self._store.pipeline() as pipe:
            for subject in subjects:
                pipe.hget(self._store.shards.of_comment(subject).article(article_of(subject)), "groups")
            joined = pipe.execute() if subjects else []
        return [(one, frozenset(split_groups(slugs or ""))) for one, slugs in zip(subjects, joined, strict=True)]

    def _heaviest(self, most: int) -> Iterator[tuple[SubjectId, float]]:
        """Yield at most `most` entries of the queue with their places, the heaviest first. One round trip."""
        shards = self._store.in_shards(
            lambda pipe, keys: pipe.zrevrange(keys.flagged, 0, most - 1, withscores=True)
        )
        heaviest_first = merge(*shards, key=itemgetter(1), reverse=True)
        yield from ((whole_from(one, "a flagged subject"), place) for one, place in islice(heaviest_first, most))

    def list_flagged(self, since: float, until: float, most: int) -> list[QueueEntry]:
        """Return at most `most` entries first flagged after `since`, in whole seconds, and up to `until`.

        The heaviest first. One round trip, two more if there are any.
        """
        # The lower part of a place is when the first open flag was set: `queue_place` in `lua/lib/flags.lua`.
        heaviest = ((one, ONE_POINT - 1 - int(place) % ONE_POINT) for one, place in self._heaviest(_MOST_SEARCHED))
        found = [one for one, first_at in heaviest if since < first_at <= until]
        return list(self._entries(found[:most])) if found else []

    def _entries(self, subjects: Sequence[SubjectId]) -> Iterator[QueueEntry]:
        """Yield the entries of these subjects, with texts; without those decided meanwhile."""
        with self._store.pipeline() as pipe:
            for subject in subjects:
                keys = self._store.shards.of_comment(subject)
                pipe.hgetall(keys.flags(subject))
                pipe.hmget(keys.comment(subject), FIELDS_WITH_HTML)
            replies = pipe.execute()
        ids = list(dict.fromkeys(map(article_of, subjects)))
        read = read_articles(self._store, ids, None, with_html=True)
        articles: dict[ArticleId, Article] = {one.id: one for one in read}
        rows = ([one, 0, 0, 0, 0, *values] for one, values in zip(subjects, replies[1::2], strict=True))
        comments = {one.id: one for one in comments_from(self._store, rows)}
        for subject, fields in zip(subjects, replies[::2], strict=True):
            article, comment = articles.get(article_of(subject)), comments.get(subject)
            flags = _open_flags(subject, fields)
            if flags and article and (comment or is_root(subject)):
                yield QueueEntry(subject, article, comment, flags)


def _open_flags(subject: SubjectId, fields: dict[str, str]) -> tuple[Flag, ...]:
    flags = (_flag_from(subject, int(name), text) for name, text in fields.items() if name.isdecimal())
    found = [flag for flag in flags if flag and flag.state is FlagState.OPEN]
    return tuple(sorted(found, key=lambda flag: (-flag.weight, flag.at)))


def _flag_from(subject: SubjectId, member: UserId, text: str | None, kept: str | None = None) -> Flag | None:
    """Return the flag in a field of a hash; None if it is missing. Raises StoreDamaged."""
    if not text:
        return None
    with naming(f"flags on {subject}"):
        reason, at, heaviness, state, words = text.split(" ", 4)
        note = kept or "" if state == FlagState.KEPT else ""
        return Flag(
            subject, member, FlagReason(reason), words, float(at), float(heaviness), FlagState(state), note
        )


_CHECKS_PER_STEP = 20  # number of articles and comments whose flags one script reads


class FlagUpkeep(OfStore):
    """The audit and the repair of a store's flags."""

    def check(self, keys: Keys, contents: Contents) -> Iterator[Finding]:
        """Yield what is wrong with the flags of a shard. In batches. Raises StoreError."""
        yield from self._run(keys, contents, "audit")

    def repair(self, keys: Keys, contents: Contents) -> None:
        """Rebuild the queue and the members' lists of a shard from the flags. In batches. Raises StoreError."""
        carry_out(self._run(keys, contents, "repair"))

    def _run(self, keys: Keys, contents: Contents, verb: Verb) -> Iterator[Finding]:
        for batch in portions(self._checks(keys, contents), _CHECKS_PER_STEP):
            flat = self._store.run(f"{verb}/flags", [keys.flagged], [keys.prefix, *chain.from_iterable(batch)])
            for number, problem in zip(flat[::2], flat[1::2], strict=True):
                subject, member = batch[number]
                yield Finding(keys.flags_by(int(member)) if member else keys.flags(int(subject)), problem)

    def _checks(self, keys: Keys, contents: Contents) -> Iterator[tuple[str, str]]:
        """Yield what to check: each subject with "", and each entry of a member's list with the member."""
        queued = ranked_members(self._store, keys.flagged)
        for subject in {*map(str, contents.flagged), *queued}:
            yield subject, ""
        for member in sorted(contents.flaggers):
            for subject in ranked_members(self._store, keys.flags_by(member)):
                yield subject, str(member)
