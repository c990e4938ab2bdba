"""Audit and repair of flags: the moderators' queue, and the members' lists."""

from collections.abc import Iterable, Iterator

from articles.domain.moderation.flags import SubjectId
from articles.repository.store.attempts import Finding
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import Contents, portions, ranked_members

_CHECKS_PER_STEP = 20
"""Number of articles and comments whose flags one script reads."""


class FlagUpkeep:
    """The audit and the repair of a store's flags."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def check(self, keys: Keys, contents: Contents) -> Iterator[Finding]:
        """Yield what is wrong with the flags of a shard. In batches. Raises StoreError."""
        for batch in portions(self._checks(keys, contents), _CHECKS_PER_STEP):
            flat = self._store.run("audit/flags", [keys.flagged], [keys.prefix, *_flat(batch)])
            for number, problem in zip(flat[::2], flat[1::2], strict=True):
                subject, member = batch[number]
                yield Finding(keys.flags_by(int(member)) if member else keys.flags(int(subject)), problem)

    def repair(self, keys: Keys, contents: Contents) -> None:
        """Rebuild the queue and the members' lists of a shard from the flags. In batches. Raises StoreError."""
        self._repair(keys, self._checks(keys, contents))

    def settle(self, subjects: Iterable[SubjectId]) -> None:
        """Update the queue and the members' lists for flags that were just written or dropped.

        One round trip for each batch of each shard.
        """
        for keys, ids in self._store.shards.split_comments(subjects).items():
            self._repair(keys, ((str(subject), "") for subject in ids))

    def _repair(self, keys: Keys, checks: Iterable[tuple[str, str]]) -> None:
        for batch in portions(checks, _CHECKS_PER_STEP):
            self._store.run("repair/flags", [keys.flagged], [keys.prefix, *_flat(batch)])

    def _checks(self, keys: Keys, contents: Contents) -> Iterator[tuple[str, str]]:
        """Yield what to check: each subject with "", and each entry of a member's list with the member."""
        queued = ranked_members(self._store, keys.flagged)
        for subject in {*map(str, contents.flagged), *queued}:
            yield subject, ""
        for member in sorted(contents.flaggers):
            for subject in ranked_members(self._store, keys.flags_by(member)):
                yield subject, str(member)


def _flat(batch: Iterable[tuple[str, str]]) -> Iterator[str]:
    for pair in batch:
        yield from pair
