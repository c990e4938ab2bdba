"""Groups: which there are, and which articles they hold."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from redis.client import Pipeline

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleNotFound, GroupExists, GroupNotFound
from articles.domain.lists import Group
from articles.domain.moderation import Actor
from articles.repository.lists.reading import split_groups
from articles.repository.store.connection import Call, Store, Value, exact_time


class Groups:
    """The groups of a store. Their directory lives in the first shard."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list_all(self) -> list[Group]:
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

    def get_titles(self) -> dict[str, str]:
        """Slug to title of every group. One round trip."""
        with self._store.commands() as client:
            found: dict[str, str] = client.hgetall(self._store.shards.directory.groups)
        return found

    def get_existing_titles(self, slugs: Sequence[str]) -> dict[str, str]:
        """Each of these slugs to the group it leads to now; without those that lead nowhere. One round trip."""
        if not slugs:
            return {}
        with self._store.pipeline() as pipe:
            self.ask_for(slugs, pipe)
            titles, moved = pipe.execute()
        return self.places(slugs, titles, moved)

    def ask_for(self, slugs: Sequence[str], pipe: Pipeline) -> None:
        """Have a pipeline read what `places` needs to know: two replies."""
        directory = self._store.shards.directory
        pipe.hmget(directory.groups, [*slugs, ""])
        pipe.hmget(directory.merged, [*slugs, ""])

    def places(
        self, slugs: Sequence[str], titles: Sequence[str | None], moved: Sequence[str | None]
    ) -> dict[str, str]:
        """Each of these slugs to the group it leads to, by the replies that `ask_for` asked for."""
        found = {slug: slug for slug, title in zip(slugs, titles, strict=False) if title is not None}
        return {slug: into for slug, into in zip(slugs, moved, strict=False) if into is not None} | found

    def make_places(self, slugs: Sequence[str], places: Mapping[str, str]) -> dict[str, str]:
        """The same of all these slugs: those that lead nowhere become groups. One round trip if there are such."""
        missing = [slug for slug in dict.fromkeys(slugs) if slug not in places]
        if not missing:
            return {slug: places[slug] for slug in slugs}
        replies = self._store.run_many([self._creation(slug, slug, is_implied=True) for slug in missing])
        made = {slug: _place(slug, reply) for slug, reply in zip(missing, replies, strict=True)}
        return {slug: places.get(slug) or made[slug] for slug in slugs}

    def create(self, slug: str, title: str, actor: Actor | None = None) -> None:
        """Create a group; logged when `actor` is given. Raises GroupExists: by slug, with an actor by title."""
        status, *_ = self._store.run(*self._creation(slug, title, actor))
        if status != "ok":
            raise GroupExists(slug)

    def _ensure(self, slug: str) -> str:
        """Where a slug leads: to the group it was merged into, else to itself, which is a group from then on."""
        return _place(slug, self._store.run(*self._creation(slug, slug, is_implied=True)))

    def _creation(self, slug: str, title: str, actor: Actor | None = None, *, is_implied: bool = False) -> Call:
        directory = self._store.shards.directory
        who, now = actor.name if actor else "", exact_time(self._store.now())
        arguments: list[Value] = [slug, title, who, now, directory.prefix, int(is_implied)]
        return Call("groups/create", [directory.groups, directory.merged], arguments)

    def ensure(self, titles: dict[str, str]) -> None:
        """Create those groups of slug → title that do not exist yet. Safe to repeat. Two round trips."""
        missing = titles.keys() - self.get_titles().keys()
        self._store.run_many([self._creation(slug, titles[slug]) for slug in sorted(missing)])

    def rename(self, slug: str, title: str, actor: Actor, reason: str = "") -> None:
        """Give a group another title; its address stays. Raises GroupNotFound, GroupExists."""
        directory = self._store.shards.directory
        arguments = [slug, title, actor.name, exact_time(self._store.now()), reason, directory.prefix]
        self._store.change("groups/rename", slug, [directory.groups], arguments)

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
        slug; a group that was merged leads to the other. Logged when `actor` is given and something changed.
        Raises ArticleNotFound.
        """
        wanted, store = list(dict.fromkeys(add)), self._store
        keys = store.shards.of(article_id)
        with store.pipeline() as pipe:
            pipe.exists(keys.article(article_id))
            self.ask_for(wanted, pipe)
            exists, *replies = pipe.execute()
        if not exists:
            raise ArticleNotFound(article_id)
        to_add = list(dict.fromkeys(self.make_places(wanted, self.places(wanted, *replies)).values()))
        groups = self._assign(article_id, to_add, list(remove), actor, reason)
        return self._assign(article_id, (), (), None, "") if self.follow_merges(to_add) else groups

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
            "groups/assign",
            article_id,
            [keys.article(article_id)],
            [article_id, ",".join(add), ",".join(remove), keys.prefix, who, now, reason, store.rules.hot_size],
        )
        return split_groups(joined)

    def merge(self, slug: str, into: str, actor: Actor, reason: str = "") -> int:
        """Move every article of one group into another and end the first; its address then leads to the other.

        Returns how many articles were moved. One article at a time, so the site goes on meanwhile; when it
        is interrupted, the group still exists and merging again finishes. The directory decides between
        merges at the same time: the articles of the one that is refused follow the other. Raises GroupNotFound.
        """
        titles = self.get_titles()
        for needed in (slug, into):
            if needed not in titles or slug == into:
                raise GroupNotFound(needed)
        moved = self._move(slug, into)
        directory = self._store.shards.directory
        arguments = [slug, into, actor.name, exact_time(self._store.now()), reason, directory.prefix]
        try:
            self._store.change("groups/close", slug, [directory.groups, directory.merged], arguments)
        except GroupNotFound:
            self.follow_merges([into])
            raise
        return moved + self.follow_merges([slug])

    def finish_merges(self) -> int:
        """Move articles out of groups that were merged away; returns how many. Two round trips if there are none.

        Whoever puts an article into a group that is merged meanwhile moves it on, unless its process or its
        answer is lost in between. `merged:` names every such group, so none stays unnoticed.
        """
        with self._store.commands() as client:
            merged = sorted(client.hkeys(self._store.shards.directory.merged))
        with self._store.pipeline() as pipe:
            for keys in self._store.shards.all:
                for slug in merged:
                    pipe.exists(keys.group(slug))
            left = pipe.execute()
        each = merged * self._store.shards.count
        return sum(map(self._settle, {slug for slug, there in zip(each, left, strict=True) if there}))

    def follow_merges(self, slugs: Sequence[str]) -> int:
        """Move what was just put into these groups to groups that exist; returns how many articles moved.

        Articles of a group that was merged away meanwhile follow it; a group that is not there is created.
        One round trip when all of them exist.
        """
        if not slugs:
            return 0
        with self._store.commands() as client:
            titles = client.hmget(self._store.shards.directory.groups, list(slugs))
        return sum(self._settle(slug) for slug, title in zip(slugs, titles, strict=True) if title is None)

    def _settle(self, slug: str) -> int:
        moved = 0
        while (into := self._ensure(slug)) != slug:
            if not (step := self._move(slug, into)):
                break
            moved += step
            self.follow_merges([into])
        return moved

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


def _place(slug: str, reply: Sequence[str]) -> str:
    """Where a slug leads, by the answer of `create_group`."""
    return reply[1] if reply[0] == "merged" else slug
