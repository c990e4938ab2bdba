"""Closed articles whose votes are to be recorded, and how each member voted, until the voter sets are dropped."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from articles.domain.articles import ArticleId, Choice
from articles.domain.lists import Order
from articles.domain.members import UserId
from articles.repository.lists.reading import merges_from
from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_READ
from articles.repository.store.connection import OfStore, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions, ranked, set_members
from articles.repository.store.values import count_from


@dataclass(frozen=True, slots=True)
class Closed:
    """Some closed articles of one shard that have no ballot record as they are."""

    keys: Keys
    has_more: bool  # whether there may be more once these have records
    ids: tuple[ArticleId, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """The votes on a closed article."""

    votes: int
    opposes: int
    merges: str  # what is merged into it, and which votes have been moved, as the store has it
    voters: Mapping[UserId, Choice] | None  # None if the voters are no longer known
    left_out: frozenset[UserId] = frozenset()
    waiting: frozenset[UserId] = frozenset()
    """Those of them whose choices waited, and never ranked: nothing else leaves them out."""

    origins: Mapping[UserId, ArticleId] = field(default_factory=dict)  # the article with which a vote came

    @property
    def merged(self) -> tuple[ArticleId, ...]:
        """Articles whose votes came with them."""
        return tuple(merge.article for merge in merges_from(self.merges))


class Ballots(OfStore):
    """What ballot records are made of."""

    def find_closed(self, skipped: Collection[ArticleId] = ()) -> Iterator[Closed]:
        """Yield closed articles without a record, of each shard once, but for those that get none.

        The others keep their voters until they are noted. One round trip each. Raises StoreError.
        """
        without = self._store.shards.split(skipped)
        for keys in self._store.shards.all:
            more, *ids = self._store.run(
                "ballots/find_closed",
                [keys.ranking, keys.order(Order.TIME), keys.removed],
                [keys.prefix, exact_time(self._store.now()), ARTICLES_PER_CHECK, *without.get(keys, ())],
            )
            yield Closed(keys, bool(more), tuple(map(int, ids)))

    def read(self, article_id: ArticleId) -> Cast | None:
        """Return a closed article's votes; None while they move, or if damaged. A round trip a batch of voters."""
        keys = self._store.shards.of(article_id)
        before, voters = self._facts(keys, article_id), dict[UserId, Choice]()
        for key, choice in ((keys.voted, Choice.VOTE), (keys.oppose, Choice.OPPOSE)):
            voters |= {int(user): choice for user in set_members(self._store, key(article_id)) if user.isdigit()}
        left_out = {int(user) for user in set_members(self._store, keys.left_out_on(article_id))}
        waiting = {user for part in portions(left_out, ENTRIES_PER_READ) for user in self._waiting(keys, part)}
        brought = ranked(self._store, keys.brought(article_id))
        origins = {int(user): abs(int(article)) for user, article in brought if user.isdigit()}
        votes, opposes, merges = before
        if votes is None or opposes is None or self._facts(keys, article_id) != before:
            return None
        cast = int(votes), int(opposes), merges or ""
        numbers = [*voters.values()]
        if (numbers.count(Choice.VOTE), numbers.count(Choice.OPPOSE)) != cast[:2]:
            return Cast(*cast, voters=None)
        return Cast(*cast, voters, frozenset(left_out), frozenset(waiting), origins)

    def _waiting(self, keys: Keys, left_out: list[UserId]) -> Iterator[UserId]:
        """Yield those who are on probation, or were until a moment ago."""
        with self._store.pipeline() as pipe:
            pipe.smismember(keys.left_out, list(map(str, left_out)))
            pipe.smismember(keys.probation, list(map(str, left_out)))
            out, on_probation = pipe.execute()
        yield from (user for user, *why in zip(left_out, out, on_probation, strict=True) if why != [1, 0])

    def _facts(self, keys: Keys, article_id: ArticleId) -> Any:
        with self._store.commands() as client:
            votes, opposes, merges = client.hmget(keys.article(article_id), "votes", "opposes", "merges")
        is_whole = all(text and text.isdecimal() for text in (votes, opposes))
        return (votes, opposes, merges) if is_whole else (None, None, None)

    def note(self, found: Closed, made: Mapping[ArticleId, tuple[int, Cast]]) -> bool:
        """Note the versions of records of what was found, each made of these votes.

        Returns whether all articles still have these votes; if not, they are found again. At most one round trip.
        """
        if not made:
            return True
        facts = [one for number, cast in made.values() for one in (number, cast.votes, cast.opposes, cast.merges)]
        (differing,) = self._store.run("ballots/note", [found.keys.article(one) for one in made], facts)
        return not differing

    def get_counts(self, ids: list[ArticleId]) -> dict[ArticleId, tuple[int, int, int]]:
        """Return the version of the record, the votes and the opposes of each article. One round trip."""
        with self._store.pipeline() as pipe:
            for number in ids:
                pipe.hmget(self._store.shards.of(number).article(number), "ballots", "votes", "opposes")
            rows = pipe.execute()
        found = zip(ids, rows, strict=True)
        return {
            number: (count_from(row[0]), count_from(row[1]), count_from(row[2])) for number, row in found if row[1]
        }
