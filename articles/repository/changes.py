"""What search indexes and mirrors follow: which articles and comments changed, and what they contain.

Scripts note in `changes:` what they change (lua/lib/changes.lua). A search index is a copy that can be built again
at any time: it records the id of this copy of the data, and for each shard up to which moment it has read changes.
A mirror has one position in the changes of all shards.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import uuid4

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import Comment, CommentId, article_of, root_of
from articles.domain.errors import GroupNotFound
from articles.domain.lists import CHANGES_KEPT, closed_groups, without_groups
from articles.domain.members import UserId
from articles.repository.comments.reading import FIELDS, FIELDS_WITH_HTML, comments_with
from articles.repository.groups import Groups
from articles.repository.lists.reading import moved_to, read_articles
from articles.repository.store import keys as names
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import Call, OfStore
from articles.repository.store.values import count_from, number_from, whole_from

_COPY = "data"  # field of the stamp: an index of another copy of the site's data is built again

OVERLAP = 10.0
"""Seconds of changes that are read again: the clock of a server that takes over may be behind by as much."""


class ChangesLostError(Exception):
    """The store no longer names all changes since the moment asked for."""


class Changed(NamedTuple):
    """An article's id, or a comment's, and when it changed, in seconds of its server's clock."""

    id: int
    is_comment: bool
    at: float


Place = tuple[int, str]
"""A position in the changes: their time in microseconds, and the one of that time that was read last, or ""."""


class ChangesPart(NamedTuple):
    """A part of the changes, the earliest first, the place after it, and whether more follow at once."""

    changed: tuple[Changed, ...]
    place: Place
    has_next: bool


Reading = tuple[Changed, Article | None, Comment | None]


class Changes(OfStore):
    """The changes of a store."""

    def get_closed(self) -> list[str]:
        """Return the slugs of the closed groups, and of those merged into one. One round trip if there are any."""
        if not (closed := closed_groups()):
            return []
        with self._store.commands() as client:
            merged = client.hgetall(self._store.shards.directory.merged)
        return sorted([*closed, *(slug for slug, into in merged.items() if into in closed)])

    def get_copy(self) -> str:
        """Return the id of this copy of the site's data. One round trip, two at the first use."""
        with self._store.commands() as client:
            if copy := client.hget(names.SCHEMA, _COPY):
                return str(copy)
            client.hsetnx(names.SCHEMA, _COPY, uuid4().hex)
            return str(client.hget(names.SCHEMA, _COPY))

    def begin_copy(self) -> None:
        """Give the data a new id, after changes that are not noted: every index is built again. One round trip."""
        with self._store.commands() as client:
            client.hset(names.SCHEMA, _COPY, uuid4().hex)

    def read_since(self, moments: Mapping[str, float], copy: str, weight: float) -> dict[str, list[Changed]]:
        """Return what changed since these moments, by the shards' prefixes, the earliest first. One round trip.

        Changes of the `OVERLAP` before are returned again. Raises ChangesLostError, also if the site's data is
        another copy, or the weight of a vote another one.
        """
        shards = {keys.prefix: keys for keys in self._store.shards.all}
        if moments.keys() != shards.keys():
            raise ChangesLostError
        with self._store.pipeline() as pipe:
            pipe.hget(names.SCHEMA, _COPY)
            pipe.hget(*self._weight)
            for prefix, keys in shards.items():
                pipe.zrangebyscore(
                    keys.changes, f"{(moments[prefix] - OVERLAP) * 1e6:.0f}", "+inf", withscores=True
                )
                pipe.zrange(keys.changes, 0, 0, withscores=True)
                pipe.zcard(keys.changes)
            copy_now, weight_now, *read = pipe.execute()
        if (copy_now, _weight_from(weight_now)) != (copy, weight):
            raise ChangesLostError
        found, replies = dict[str, list[Changed]](), iter(read)
        for prefix, (entries, oldest, count) in zip(
            shards, zip(replies, replies, replies, strict=True), strict=True
        ):
            if count >= CHANGES_KEPT and oldest[0][1] > moments[prefix] * 1e6:
                raise ChangesLostError
            found[prefix] = [_changed(member, at / 1e6) for member, at in entries]
        return found

    def read_part(self, place: Place | None, most: int) -> ChangesPart:
        """Return the first changes after a place, at most so many; without a place, none and the place for now.

        What changed in the `OVERLAP` before comes again in the next part: another shard may note something earlier
        meanwhile, and so may a server that takes over. With closed groups, parts are read until so many changes
        are the reader's to know. One round trip for each, and those of `read_changed`. Raises ChangesLostError.
        """
        part = self._read_part(place, most)
        if not closed_groups():
            return part
        known = self._known(part.changed)
        while part.has_next and len(known) < most:
            part = self._read_part(part.place, most)
            known += self._known(part.changed)
        if len(known) > most or part.has_next:
            last = known[most - 1]
            place = (round(last.at * 1e6), f"c{last.id}" if last.is_comment else f"{last.id}")
            return ChangesPart(tuple(known[:most]), place, has_next=True)
        return ChangesPart(tuple(known), part.place, has_next=False)

    def _known(self, changed: Sequence[Changed]) -> list[Changed]:
        """Return those of these changes that the reader gets to know."""
        return [one for one, *_ in self.read_changed(changed)]

    def _read_part(self, place: Place | None, most: int) -> ChangesPart:
        """Return the first changes after a place, for all readers. One round trip."""
        at, last = place or ("inf", "")
        calls = [
            Call("changes/read", (keys.changes,), (at, last, most + 1 if place else 0))
            for keys in self._store.shards.all
        ]
        replies = self._store.run_many(calls)
        if any(is_known == "0" for _, is_known, *_ in replies):
            raise ChangesLostError
        settled: Place = (min(int(now) for now, *_ in replies) - round(OVERLAP * 1e6), "")
        found = sorted(
            (int(float(time)), member)
            for _, _, *pairs in replies
            for member, time in zip(pairs[::2], pairs[1::2], strict=True)
        )
        shown = found[:most]
        has_next = len(found) > most and shown[-1] <= settled
        following = shown[-1] if has_next else settled
        changed = tuple(_changed(member, time / 1e6) for time, member in shown)
        return ChangesPart(changed, max(place or following, following), has_next)

    def read_changed(self, changed: Sequence[Changed]) -> Iterator[Reading]:
        """Yield each change with the article or the comment as everyone sees it who sees what the reader sees.

        Both are None if the reader does not see it any more. What the reader never saw is left out: of articles in
        closed groups, only those are named that may have come there later, which the moderation log has. Removed
        articles and comments are included. At most three round trips; more if some HTML has to be made.
        """
        ids = [one.id for one in changed if not one.is_comment]
        written = [one.id for one in changed if one.is_comment]
        with without_groups(()):
            articles = {one.id: one for one in read_articles(self._store, ids, None, with_html=True)}
            discussed = {article_of(one) for one in written} - articles.keys()
            articles |= {one.id: one for one in read_articles(self._store, [*discussed], None)}
        comments = {one.id: one for one in self.read_comments(written, with_html=True, with_removed=True)}
        for one in changed:
            article = articles.get(article_of(one.id) if one.is_comment else one.id)
            is_closed = article is not None and not closed_groups().isdisjoint(article.groups)
            if one.is_comment and article and not is_closed:
                yield one, None, None if article.is_withheld else comments.get(one.id)
            elif not one.is_comment and (not is_closed or (article and self._was_shown(article))):
                yield one, None if is_closed else article, None

    def _was_shown(self, article: Article) -> bool:
        """Return whether an article in a closed group was in none before. No round trip unless it is logged."""
        keys, groups, left = self._store.shards.of(article.id), set(article.groups), -1 if article.is_logged else 0
        while left:
            given = (ENTRIES_PER_READ, "" if left < 0 else left)
            left, *texts = self._store.run("moderation_log/find", [keys.article(article.id), keys.log], given)
            for text in texts:
                with suppress(ValueError, KeyError, AttributeError):
                    details = json.loads(text)["details"]
                    groups.difference_update(details.get("added", "").split(","))
                    groups.update(filter(None, details.get("removed", "").split(",")))
                    if groups.isdisjoint(closed_groups()):
                        return True
        return False

    def get_moments(self) -> dict[str, float]:
        """Return when each shard changed last, in seconds, by prefix; 0 if it never did. One round trip."""
        replies = self._store.in_shards(lambda pipe, keys: pipe.zrange(keys.changes, -1, -1, withscores=True))
        last = [entries[0][1] / 1e6 if entries else 0.0 for entries in replies]
        return {keys.prefix: at for keys, at in zip(self._store.shards.all, last, strict=True)}

    def get_weight(self) -> float:
        """Return the weight of a vote by which articles are ranked, in seconds; 0 if lost. One round trip."""
        with self._store.commands() as client:
            return _weight_from(client.hget(*self._weight))

    @property
    def _weight(self) -> tuple[str, str]:
        """The key and the field of the weight of a vote."""
        return self._store.shards.directory.ranking, "seconds_per_point"

    def get_last_id(self) -> ArticleId:
        """Return the highest article id given out, 0 before the first. One round trip. Raises StoreDamaged."""
        with self._store.commands() as client:
            return whole_from(client.get(names.COUNTER) or "0", "the last article's id")

    def read_articles(self, ids: Sequence[ArticleId]) -> list[Article]:
        """Return those of these articles that are listed, with their texts. One round trip."""
        with without_groups(()):
            found = read_articles(self._store, ids, None, with_texts=True, with_visitors=False)
        return [article for article in found if article.removed is None]

    def list_comments_on(self, ids: Sequence[ArticleId]) -> list[CommentId]:
        """Return the ids of all comments on these articles; also of deleted ones. One round trip."""
        with self._store.pipeline() as pipe:
            for article_id in ids:
                pipe.hget(self._store.shards.of(article_id).article(article_id), "comment_ids")
            numbers = map(count_from, pipe.execute())
        return [root_of(one) + n for one, number in zip(ids, numbers, strict=True) for n in range(1, number + 1)]

    def read_comments(
        self, ids: Sequence[CommentId], *, with_html: bool = False, with_removed: bool = False
    ) -> list[Comment]:
        """Return those that are shown, or also removed ones and stubs. One round trip, two to make HTML."""
        found = comments_with(self._store, ids, FIELDS_WITH_HTML if with_html else FIELDS)
        return found if with_removed else [comment for comment in found if comment.is_shown]

    def read_rows(
        self, ids: Sequence[ArticleId], reader: UserId | None, *, with_texts: bool = False
    ) -> dict[ArticleId, Article]:
        """Return the listed ones as the reader sees them, perhaps with HTML. One round trip; two to make it."""
        if not ids:
            self._store.run_many([])  # for what rides along
        found = read_articles(self._store, ids, reader, with_html=with_texts)
        return {article.id: article for article in found if article.removed is None}

    def read_titles(self, slug: str | None) -> dict[str, str]:
        """Return the groups' titles by slug. One round trip. Raises GroupNotFound if there is no group `slug`."""
        titles = Groups(self._store).get_titles()
        if slug is not None and slug not in titles:
            raise GroupNotFound(slug, moved_to(self._store, slug))
        return titles


def _weight_from(text: str | None) -> float:
    return number_from(text or "0", "the weight of a vote")


def _changed(member: str, at: float) -> Changed:
    return Changed(int(member.removeprefix("c")), member.startswith("c"), at)
