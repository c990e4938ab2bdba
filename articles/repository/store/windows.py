"""Voting windows: every article keeps the one it was posted with."""

from articles.repository.store.connection import Store


def longest_window(store: Store) -> float:
    """Seconds from posting after which no article is open, whatever is configured now. One round trip."""
    with store.pipeline() as pipe:
        for keys in store.shards.all:
            pipe.hget(keys.ranking, "longest_window")
        found = [float(window) for window in pipe.execute() if window]
    return max(found, default=store.rules.voting_window)
