"""The ids of accounts in the store, which gives them out.

No account gets an id under which the store has data. The accounts database alone does not know them all: it may be
older than the store, from a backup.
"""

from collections.abc import Iterator

from articles.domain.members import PLACEHOLDERS, UserId
from articles.repository.store import keys as names
from articles.repository.store.connection import OfStore
from articles.repository.store.keys import PartOf, recognise, split_prefix
from articles.repository.store.scan import walk


class AccountIds(OfStore):
    """The account ids that a store knows."""

    def reserve(self, highest: UserId, count: int) -> UserId:
        """Return the first of `count` new ids in a row, above `highest` of the accounts. One round trip."""
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

    def iterate(self) -> Iterator[set[UserId]]:
        """Yield the ids of members with lists in the store, in batches. Reads the names of all keys."""
        for batch in walk(self._store):
            yield members_in(batch)


def members_in(batch: list[str]) -> set[UserId]:
    """Return the ids of the members that these names of keys are about, without placeholders."""
    kinds = zip(batch, recognise(batch), strict=True)
    about = ((kind, name) for name, kind in kinds if kind and kind.part_of is PartOf.MEMBER)
    ids = {int(kind.values(split_prefix(name)[1])[0]) for kind, name in about}
    return {user for user in ids if user not in PLACEHOLDERS}
