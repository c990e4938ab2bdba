"""What audit and repair begin with: all keys of the store, those of another type, and the ids in rankings."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.repository.store.connection import Store
from articles.repository.store.findings import Finding
from articles.repository.store.keys import InBackup, Key, Keys
from articles.repository.store.scan import (
    Contents,
    Named,
    ranked_members,
    rankings_of_articles,
    survey,
    walk_kinds,
)


class Mistyped(NamedTuple):
    """A key of another type than the site writes."""

    name: str
    kind: Key
    type: str

    @property
    def finding(self) -> Finding:
        return Finding(self.name, f"is a {self.type}, but should be a {self.kind.type}")

    @property
    def is_derived(self) -> bool:
        """Whether the repair, or the next use, makes the key again, so that it may be dropped."""
        return self.kind.in_backup is not InBackup.COPIED


@dataclass
class Found:
    """What a store holds."""

    shards: dict[Keys, Contents]
    foreign: list[str]  # keys that no part of the site writes in their place
    mistyped: list[Mistyped]
    strays: list[tuple[str, str]] = field(default_factory=list)  # rankings, each with a member that is no id
    ids: dict[Keys, set[ArticleId]] = field(default_factory=dict)
    """The articles of each shard, and whatever keys and rankings mention as one."""


def find_all(store: Store) -> Found:
    """Return what the store holds; without ids where a key is of another type. Reads all keys, in batches."""
    mistyped = list[Mistyped]()

    def checked() -> Iterator[list[Named]]:
        for batch in walk_kinds(store):
            mistyped.extend(_mistyped(store, batch))
            yield batch

    shards, foreign = survey(store, checked())
    return Found(shards, foreign, mistyped)


def note_ids(store: Store, found: Found) -> None:
    """Read the ids in the rankings of each shard. In batches."""
    for keys, contents in found.shards.items():
        found.ids[keys] = contents.articles | contents.mentioned
        for ranking in rankings_of_articles(keys):
            for member in ranked_members(store, ranking):
                if member.isdecimal() and int(member):
                    found.ids[keys].add(int(member))
                else:
                    found.strays.append((ranking, member))
        voted = ranked_members(store, keys.comment_voters)
        found.strays += [(keys.comment_voters, member) for member in voted if not member.isdecimal()]


def _mistyped(store: Store, batch: list[Named]) -> Iterator[Mistyped]:
    known = [(name, kind) for name, kind in batch if kind]
    with store.pipeline() as pipe:
        for name, _ in known:
            pipe.type(name)
        types = pipe.execute()
    for (name, kind), found in zip(known, types, strict=True):
        if found not in (kind.type, "none"):  # a key can expire meanwhile
            yield Mistyped(name, kind, found)
