"""Account ids: given out by the store, so that no account gets an id under which the store has data.

The accounts database alone does not know them all: it may be older than the store, from a backup.
"""

from collections.abc import Iterator
from itertools import chain

from articles.domain.members import PLACEHOLDERS, UserId
from articles.repository.store import keys as names
from articles.repository.store.connection import Store
from articles.repository.store.key_table import Owner, recognise, split_prefix
from articles.repository.store.scan import set_members, walk


class AccountIds:
    """The account ids that a store knows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def reserve(self, highest: UserId, count: int) -> UserId:
        """Return the first of `count` ids that follow one another and have never been given out.

        `highest` is the highest id of the accounts database. One round trip.
        """
        (first,) = self._store.change("accounts/reserve", count, [names.ACCOUNTS], [highest, count])
        return int(first)

    def note(self, user: UserId) -> UserId:
        """Record that the account exists; return the highest id recorded so far. One round trip."""
        (highest,) = self._store.change("accounts/note", user, [names.ACCOUNTS], [user])
        return int(highest)

    def get_highest(self) -> UserId:
        """Return the highest id recorded so far; 0 if none is. One round trip."""
        with self._store.commands() as client:
            return int(client.hget(names.ACCOUNTS, "created") or 0)

    def collect(self) -> None:
        """Record the ids that an older store knows. Reads the names of all keys. Can be repeated."""
        store, gone = self._store, [keys.deleted_members for keys in self._store.shards.all]
        deleted = ({int(user) for user in set_members(store, key)} for key in gone)
        self.note(max((max(batch) for batch in chain(self.iterate(), deleted) if batch), default=0))

    def iterate(self) -> Iterator[set[UserId]]:
        """Yield the ids of members with lists in the store, in batches. Reads the names of all keys."""
        for batch in walk(self._store):
            yield members_in(batch)


def members_in(batch: list[str]) -> set[UserId]:
    """Return the ids of the members that these names of keys are about, without placeholders."""
    kinds = zip(batch, recognise(batch), strict=True)
    about = ((kind, name) for name, kind in kinds if kind and kind.owner is Owner.MEMBER)
    ids = {int(kind.values(split_prefix(name)[1])[0]) for kind, name in about}
    return {user for user in ids if user not in PLACEHOLDERS}
