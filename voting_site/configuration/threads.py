"""How many threads of a worker process may hash passwords."""


def hashes_at_once(configured: int, threads: int) -> int:
    """Return how many hash at once: fewer than there are threads for pages, but at least one."""
    return max(1, min(configured, threads - 1))
