"""How many threads of a worker process may do expensive work at once."""


def leaving_one_free(most: int, threads: int) -> int:
    """Return up to `most`, but fewer than the process has threads for pages, and at least one."""
    return max(1, min(most, threads - 1))
