"""Groups: their directory, and the articles in them.

A slug's target is the group it leads to: the group itself, or the one it was merged into.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from redis.client import Pipeline

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleNotFound, GroupExists, GroupNotFound
from articles.domain.lists import Group, closed_groups
from articles.domain.moderation_log import Actor
from articles.repository.lists.reading import split_groups
from articles.repository.store.connection import Call, OfStore, Value, exact_time
from articles.repository.store.values import article_id_from


class Groups(OfStore):
    """The groups of a store. Their directory is in the first shard."""

    def list_all(self, *, with_descriptions: bool = False) -> list[Group]:
        """Return every group, ordered by slug, with the number of its listed articles. Two round trips."""
        store = self._store
        with store.commands() as client:
            titles = client.hgetall(store.shards.directory.groups)
        slugs = sorted(titles.keys() - closed_groups())
        with store.pipeline() as pipe:
            for slug in slugs:
                self._queue_counts(slug, pipe)
            if with_descriptions:
                pipe.hgetall(store.shards.directory.descriptions)
            counts = pipe.execute()
        width = store.shards.count * (1 + len(closed_groups()))
        texts = counts.pop() if with_descriptions else {}
        return [
            Group(slug, titles[slug], self._sum(counts[at * width : (at + 1) * width]), texts.get(slug, ""))
            for at, slug in enumerate(slugs)
        ]

    def get(self, slug: str) -> Group:
        """Return a group with the number of its listed articles. One round trip. Raises GroupNotFound."""
        shards = self._store.shards
        with self._store.pipeline() as pipe:
            pipe.hget(shards.directory.groups, slug)
            pipe.hget(shards.directory.merged, slug)
            self._queue_counts(slug, pipe)
            title, into, *counts = pipe.execute()
        if title is None or slug in closed_groups():
            raise GroupNotFound(slug, None if into in closed_groups() else into)
        return Group(slug, title, self._sum(counts))

    def _queue_counts(self, slug: str, pipe: Pipeline) -> None:
        """Queue the reads of how many articles a group has, and which of these are in each closed group."""
        for keys in self._store.shards.all:
            pipe.scard(keys.group(slug))
            for one in sorted(closed_groups()):
                pipe.sinter([keys.group(slug), keys.group(one)])  # SINTERCARD needs Redis 7

    def _sum(self, replies: Sequence[Any]) -> int:
        """Return how many articles of a group the reader gets to see."""
        width = 1 + len(closed_groups())
        hidden = {one for n, reply in enumerate(replies) if n % width for one in reply}
        listed: int = sum(replies[::width])
        return max(0, listed - len(hidden))

    def get_titles(self) -> dict[str, str]:
        """Return the titles of all groups by slug. One round trip."""
        with self._store.commands() as client:
            titles: dict[str, str] = client.hgetall(self._store.shards.directory.groups)
        return {slug: title for slug, title in titles.items() if slug not in closed_groups()}

    def get_merged(self) -> dict[str, str]:
        """Return the targets of merged groups, by slug. One round trip."""
        with self._store.commands() as client:
            targets: dict[str, str] = client.hgetall(self._store.shards.directory.merged)
        closed = closed_groups()
        return {slug: into for slug, into in targets.items() if closed.isdisjoint((slug, into))}

    def get_targets(self, slugs: Sequence[str]) -> dict[str, str]:
        """Return the target of each of these slugs that has one which the reader gets to see. One round trip."""
        if not slugs:
            return {}
        with self._store.pipeline() as pipe:
            self.queue_target_reads(slugs, pipe)
            titles, moved = pipe.execute()
        targets, closed = self.targets_from(slugs, titles, moved), closed_groups()
        return {slug: into for slug, into in targets.items() if into not in closed} if closed else targets

    def queue_target_reads(self, slugs: Sequence[str], pipe: Pipeline) -> None:
        """Queue the reads for `targets_from` in a pipeline, which gets two replies."""
        directory = self._store.shards.directory
        pipe.hmget(directory.groups, [*slugs, ""])
        pipe.hmget(directory.merged, [*slugs, ""])

    def targets_from(
        self, slugs: Sequence[str], titles: Sequence[str | None], moved: Sequence[str | None]
    ) -> dict[str, str]:
        """Return the target of each of these slugs that has one, from the replies to `queue_target_reads`."""
        existing = {slug: slug for slug, title in zip(slugs, titles, strict=False) if title is not None}
        return {slug: into for slug, into in zip(slugs, moved, strict=False) if into is not None} | existing

    def ensure_targets(self, slugs: Sequence[str], targets: Mapping[str, str]) -> dict[str, str]:
        """Return the targets of all these slugs; create a group for each without one. At most one round trip."""
        missing = [slug for slug in dict.fromkeys(slugs) if slug not in targets]
        if not missing:
            return {slug: targets[slug] for slug in slugs}
        replies = self._store.run_many(self._creation(slug, slug, is_implied=True) for slug in missing)
        created = {slug: _target(slug, reply) for slug, reply in zip(missing, replies, strict=True)}
        return {slug: targets.get(slug) or created[slug] for slug in slugs}

    def create(self, slug: str, title: str, actor: Actor | None = None) -> None:
        """Create a group; log it for an `actor`. One round trip. Raises GroupExists for the slug, or title."""
        with self._store.retracting([]) if actor else nullcontext():
            status, *_ = self._store.run(*self._creation(slug, title, actor))
            if status != "ok":
                raise GroupExists(slug)

    def _creation(self, slug: str, title: str, actor: Actor | None = None, *, is_implied: bool = False) -> Call:
        directory = self._store.shards.directory
        who, now = actor.name if actor else "", exact_time(self._store.now())
        arguments: list[Value] = [slug, title, who, now, directory.prefix, int(is_implied)]
        return Call("groups/create", [directory.groups, directory.merged], arguments)

    def ensure(self, titles: dict[str, str], descriptions: Mapping[str, str] = {}) -> None:
        """Create those groups of slug → title that do not exist yet. Idempotent. Three round trips."""
        missing = sorted(titles.keys() - self.get_titles().keys())
        self._store.run_many(self._creation(slug, titles[slug]) for slug in missing)
        with self._store.pipeline() as pipe:
            for slug in descriptions.keys() & missing:
                pipe.hset(self._store.shards.directory.descriptions, slug, descriptions[slug])
            pipe.execute()

    def rename(self, slug: str, title: str, actor: Actor, reason: str = "") -> None:
        """Change a group's title; its slug stays. One round trip. Raises GroupNotFound, GroupExists."""
        self._change("groups/rename", slug, title, actor, reason)

    def describe(self, slug: str, description: str, actor: Actor, reason: str = "") -> None:
        """Set a group's description, in Markdown; "" removes it. One round trip. Raises GroupNotFound."""
        self._change("groups/describe", slug, description, actor, reason)

    def _change(self, script: str, slug: str, text: str, actor: Actor, reason: str) -> None:
        directory = self._store.shards.directory
        arguments = [slug, text, actor.signature, exact_time(self._store.now()), reason, directory.prefix]
        with self._store.retracting(None):
            self._store.change(script, slug, [directory.groups], arguments)

    def get_descriptions(self, slugs: Sequence[str] | None = None) -> dict[str, str]:
        """Return the descriptions of these groups, or of all, by slug, as Markdown. One round trip."""
        key = self._store.shards.directory.descriptions
        with self._store.commands() as client:
            if slugs is None:
                every: dict[str, str] = client.hgetall(key)
                return every
            texts = client.hmget(key, list(slugs))
        return {slug: text for slug, text in zip(slugs, texts, strict=True) if text}

    def assign(
        self,
        article_id: ArticleId,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        actor: Actor | None = None,
        reason: str = "",
    ) -> tuple[str, ...]:
        """Add an article to groups and remove it from others in one atomic step; return all its groups.

        A group that is in both is removed. Groups that do not exist yet are created first, with their slug as
        title; a merged group is replaced by its target. Logged if `actor` is given and something changed. Two
        round trips; one more with groups to add, and another if one of them has to be created. Raises
        ArticleNotFound.
        """
        slugs, store = list(dict.fromkeys(add)), self._store
        keys = store.shards.of(article_id)
        with store.pipeline() as pipe:
            pipe.exists(keys.article(article_id))
            self.queue_target_reads(slugs, pipe)
            exists, *replies = pipe.execute()
        if not exists:
            raise ArticleNotFound(article_id)
        targets = self.ensure_targets(slugs, self.targets_from(slugs, *replies))
        to_add = list(dict.fromkeys(targets.values()))
        with store.retracting([article_id]):
            groups = self._assign(article_id, to_add, list(remove), actor, reason)
            return self._assign(article_id, (), (), None, "") if self.follow_merges(to_add) else groups

    def _assign(
        self, article_id: ArticleId, add: Sequence[str], remove: Sequence[str], actor: Actor | None, reason: str
    ) -> tuple[str, ...]:
        store, keys = self._store, self._store.shards.of(article_id)
        who, now = actor.signature if actor else "", exact_time(store.now())
        (joined,) = store.change(
            "groups/assign",
            article_id,
            [keys.article(article_id)],
            [article_id, ",".join(add), ",".join(remove), keys.prefix, who, now, reason, store.rules.hot_size],
        )
        return split_groups(joined)

    def merge(self, slug: str, into: str, actor: Actor, reason: str = "") -> int:
        """Move every article of one group into another and close the first; return how many were moved.

        From then on the slug leads to the other group. Moves one article per round trip, so the site stays
        responsive. After an interruption the group still exists, and merging again completes it. The directory
        decides between concurrent merges: the articles of the refused one follow the other. Raises GroupNotFound.
        """
        titles = self.get_titles()
        for name in (slug, into):
            if name not in titles or slug == into:
                raise GroupNotFound(name)
        moved = self._move(slug, into)
        directory = self._store.shards.directory
        arguments = [slug, into, actor.name, exact_time(self._store.now()), reason, directory.prefix]
        with self._store.retracting(None):
            try:
                keys = [directory.groups, directory.merged, directory.descriptions]
                self._store.change("groups/close", slug, keys, arguments)
            except GroupNotFound:
                self.follow_merges([into])
                raise
            return moved + self.follow_merges([slug])

    def finish_merges(self) -> int:
        """Move articles out of merged groups; return how many. Two round trips if there are none.

        A request that adds an article to a group during its merge also moves the article, unless its process dies
        or a reply is lost in between. `merged:` names every merged group, so all such articles are found.
        """
        with self._store.commands() as client:
            merged = sorted(client.hkeys(self._store.shards.directory.merged))
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                for slug in merged:
                    pipe.exists(keys.group(slug))
            exists = pipe.execute()
        slugs = merged * self._store.shards.count
        return sum(map(self._move_to_target, {slug for slug, left in zip(slugs, exists, strict=True) if left}))

    def follow_merges(self, slugs: Sequence[str]) -> int:
        """Move articles that were just added to these groups to the groups' targets; return how many were moved.

        Only articles of groups that were merged meanwhile are moved; a group without a target is created. One
        round trip if all groups exist.
        """
        if not slugs:
            return 0
        with self._store.commands() as client:
            titles = client.hmget(self._store.shards.directory.groups, list(slugs))
        return sum(self._move_to_target(slug) for slug, title in zip(slugs, titles, strict=True) if title is None)

    def _move_to_target(self, slug: str) -> int:
        """Move a group's articles to its target; create the group if it has none. Return how many were moved."""
        moved = 0
        while (target := _target(slug, self._store.run(*self._creation(slug, slug, is_implied=True)))) != slug:
            if not (count := self._move(slug, target)):
                break
            moved += count
            self.follow_merges([target])
        return moved

    def _move(self, slug: str, into: str) -> int:
        """Move the articles that are in the group now; return how many."""
        moved = 0
        for article_id in self._members(slug):
            with suppress(ArticleNotFound):
                self._assign(article_id, [into], [slug], None, "")
                moved += 1
        return moved

    def _members(self, slug: str) -> list[ArticleId]:
        """Return the ids of all articles of a group, removed ones included."""
        store, members = self._store, list[ArticleId]()
        for keys in store.shards.all:
            with store.pipeline() as pipe:
                pipe.smembers(keys.group(slug))
                pipe.zrange(keys.removed, 0, -1)
                listed, removed = pipe.execute()
            with store.pipeline() as pipe:
                for member in removed:
                    pipe.hget(keys.article(member), "groups")
                groups = pipe.execute()
            hidden = [m for m, joined in zip(removed, groups, strict=True) if slug in split_groups(joined or "")]
            members += [article_id_from(member) for member in (*listed, *hidden)]
        return members


def _target(slug: str, reply: Sequence[str]) -> str:
    """Return a slug's target from the reply of `groups/create`."""
    return reply[1] if reply[0] == "merged" else slug
