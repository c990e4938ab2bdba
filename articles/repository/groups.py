"""Groups: which there are, and which articles they hold."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from articles.domain import Actor, ArticleId, Group
from articles.errors import ArticleNotFound, GroupExists, GroupNotFound
from articles.repository.reading import split_groups
from articles.repository.store import Call, Store, exact_time


class Groups:
    """The groups of a store. Their directory lives in the first shard."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> list[Group]:
        """Every group by slug, with the number of its listed articles. Two round trips."""
        store = self._store
        with store.commands() as client:
            titles = client.hgetall(store.shards.directory.groups)
        slugs = sorted(titles)
        with store.pipeline() as pipe:
            for slug in slugs:
                for keys in store.shards.all:
                    pipe.scard(keys.group(slug))
            counts = pipe.execute()
        width = store.shards.count
        return [
            Group(slug, titles[slug], sum(counts[at * width : (at + 1) * width])) for at, slug in enumerate(slugs)
        ]

    def get(self, slug: str) -> Group:
        """One group with the number of its listed articles. One round trip. Raises GroupNotFound."""
        shards = self._store.shards
        with self._store.pipeline() as pipe:
            pipe.hget(shards.directory.groups, slug)
            pipe.hget(shards.directory.merged, slug)
            for keys in shards.all:
                pipe.scard(keys.group(slug))
            title, into, *counts = pipe.execute()
        if title is None:
            raise GroupNotFound(slug, into)
        return Group(slug, title, sum(counts))

    def titles(self) -> dict[str, str]:
        """Slug to title of every group. One round trip."""
        with self._store.commands() as client:
            found: dict[str, str] = client.hgetall(self._store.shards.directory.groups)
        return found

    def present(self, slugs: Sequence[str]) -> dict[str, str]:
        """Each of these slugs to the group it leads to now; without those that lead nowhere. One round trip."""
        if not slugs:
            return {}
        directory = self._store.shards.directory
        with self._store.pipeline() as pipe:
            pipe.hmget(directory.groups, slugs)
            pipe.hmget(directory.merged, slugs)
            titles, moved = pipe.execute()
        found = {slug: slug for slug, title in zip(slugs, titles, strict=True) if title is not None}
        return {slug: into for slug, into in zip(slugs, moved, strict=True) if into is not None} | found

    def create(self, slug: str, title: str, actor: Actor | None = None) -> None:
        """Create a group; logged when `actor` is given. Raises GroupExists: by slug, with an actor by title."""
        if not self._ensure(slug, title, actor):
            raise GroupExists(slug)

    def _ensure(self, slug: str, title: str, actor: Actor | None = None) -> bool:
        status, *_ = self._store.run(*self._creation(slug, title, actor))
        return bool(status == "ok")

    def _creation(self, slug: str, title: str, actor: Actor | None = None) -> Call:
        directory = self._store.shards.directory
        who, now = actor.name if actor else "", exact_time(self._store.now())
        arguments = [slug, title, who, now, directory.prefix]
        return Call("create_group", [directory.groups, directory.merged], arguments)

    def ensure(self, titles: dict[str, str]) -> None:
        """Create those groups of slug → title that do not exist yet. Safe to repeat. Two round trips."""
        missing = titles.keys() - self.titles().keys()
        self._store.run_many([self._creation(slug, titles[slug]) for slug in sorted(missing)])

    def rename(self, slug: str, title: str, actor: Actor, reason: str = "") -> None:
        """Give a group another title; its address stays. Raises GroupNotFound, GroupExists."""
        directory = self._store.shards.directory
        arguments = [slug, title, actor.name, exact_time(self._store.now()), reason, directory.prefix]
        self._store.change("rename_group", slug, [directory.groups], arguments)

    def assign(
        self,
        article_id: ArticleId,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        *,
        actor: Actor | None = None,
        reason: str = "",
    ) -> tuple[str, ...]:
        """Add an article to groups and remove it from others in one atomic step; returns all its groups.

        A group that is in both is removed. Groups that do not exist yet are created first, named by their
        slug. Logged when `actor` is given and something changed. Raises ArticleNotFound.
        """
        to_add, store = list(dict.fromkeys(add)), self._store
        keys = store.shards.of(article_id)
        with store.pipeline() as pipe:
            pipe.exists(keys.article(article_id))
            pipe.hmget(store.shards.directory.groups, [*to_add, ""])
            exists, titles = pipe.execute()
        if not exists:
            raise ArticleNotFound(article_id)
        for slug, title in zip(to_add, titles, strict=False):
            if title is None:
                self._ensure(slug, slug)
        groups = self._assign(article_id, to_add, list(remove), actor, reason)
        return self._assign(article_id, (), (), None, "") if self.settle(to_add) else groups

    def _assign(
        self,
        article_id: ArticleId,
        add: Sequence[str],
        remove: Sequence[str],
        actor: Actor | None,
        reason: str,
    ) -> tuple[str, ...]:
        store, keys = self._store, self._store.shards.of(article_id)
        who, now = actor.name if actor else "", exact_time(store.now())
        (joined,) = store.change(
            "assign_groups",
            article_id,
            [keys.article(article_id)],
            [article_id, ",".join(add), ",".join(remove), keys.prefix, who, now, reason],
        )
        return split_groups(joined)

    def merge(self, slug: str, into: str, actor: Actor, reason: str = "") -> int:
        """Move every article of one group into another and end the first; its address then leads to the other.

        Returns how many articles were moved. One article at a time, so the site goes on meanwhile; when it
        is broken off, the group still exists and merging again finishes. The directory decides between
        merges at the same time: the articles of the one that is refused follow the other. Raises GroupNotFound.
        """
        titles = self.titles()
        for needed in (slug, into):
            if needed not in titles or slug == into:
                raise GroupNotFound(needed)
        moved = self._move(slug, into)
        directory = self._store.shards.directory
        arguments = [slug, into, actor.name, exact_time(self._store.now()), reason, directory.prefix]
        try:
            self._store.change("close_group", slug, [directory.groups, directory.merged], arguments)
        except GroupNotFound:
            self.settle([into])
            raise
        return moved + self.settle([slug])

    def settle(self, slugs: Sequence[str]) -> int:
        """See to it that what was just put into these groups is in groups that exist; returns how many moved.

        Articles of a group that was merged away meanwhile follow it; a group that nobody knows is created.
        One round trip when all of them exist.
        """
        if not slugs:
            return 0
        with self._store.commands() as client:
            titles = client.hmget(self._store.shards.directory.groups, list(slugs))
        return sum(self._settle(slug) for slug, title in zip(slugs, titles, strict=True) if title is None)

    def _settle(self, slug: str) -> int:
        directory, moved = self._store.shards.directory, 0
        while True:
            with self._store.pipeline() as pipe:
                pipe.hexists(directory.groups, slug)
                pipe.hget(directory.merged, slug)
                exists, into = pipe.execute()
            if exists or into is None:
                self._ensure(slug, slug)
                return moved
            if not (step := self._move(slug, into)):
                return moved
            moved += step
            self.settle([into])

    def _move(self, slug: str, into: str) -> int:
        """Move the articles that are in the group now; returns how many."""
        moved = 0
        for article_id in self._members(slug):
            with suppress(ArticleNotFound):
                self._assign(article_id, [into], [slug], None, "")
                moved += 1
        return moved

    def _members(self, slug: str) -> list[ArticleId]:
        """Ids of all articles of a group, removed ones included."""
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
            members += [int(member) for member in (*listed, *hidden)]
        return members
