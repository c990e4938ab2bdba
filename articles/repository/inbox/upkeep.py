"""The audit and the repair of inboxes."""

from collections.abc import Iterator

from articles.domain.members import UserId
from articles.repository.store.attempts import Finding
from articles.repository.store.batches import ENTRIES_PER_CHECK
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys


def check_inbox(store: Store, keys: Keys, user: UserId) -> Iterator[Finding]:
    """Yield what is wrong with a member's inbox in one shard, each problem once. One round trip for each batch."""
    inbox, problems, done, length = keys.inbox(user), dict[str, None](), 0, 1
    while done < length:
        length, found = store.run("inbox/audit", [inbox], [user, keys.prefix, done, ENTRIES_PER_CHECK])
        problems.update(dict.fromkeys(found))
        done += ENTRIES_PER_CHECK
    yield from (Finding(inbox, problem) for problem in problems)


def repair_inbox(store: Store, keys: Keys, user: UserId) -> None:
    """Remove what does not belong in a member's inbox in one shard. One round trip."""
    store.run("inbox/repair", [keys.inbox(user)], [user, keys.prefix])
