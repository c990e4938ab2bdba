"""The longest voting window in use: every article keeps the one it was posted with."""

from articles.repository.store.connection import Store


def longest_window(store: Store) -> float:
    """Return the longest voting window, in seconds, of any article, whatever is configured now. One round trip."""
    with store.pipeline() as pipe:
        for keys in store.shards.all:
            pipe.hget(keys.ranking, "longest_window")
        windows = [float(window) for window in pipe.execute() if window]
    return max(windows, default=store.rules.voting_window)
