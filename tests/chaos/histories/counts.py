"""Which counts an article can have, given what each of its members may have chosen."""

from collections import Counter
from collections.abc import Iterable

from articles.domain.articles import Choice

Counts = tuple[int, int]  # votes and opposes
COUNTED = {Choice.VOTE.value: (1, 0), Choice.OPPOSE.value: (0, 1)}
"""What a choice adds to them; any other adds nothing."""


def possible_counts(choices: Iterable[frozenset[str]], before: Counts = (0, 0)) -> set[Counts]:
    """Return every sum of one choice of each of these sets, and of what was counted before."""
    sums = {before}
    for options, times in Counter(choices).items():
        steps = {COUNTED.get(choice, (0, 0)) for choice in options}
        if len(steps) == 1:
            ((votes, opposes),) = steps
            sums = {(sum_[0] + votes * times, sum_[1] + opposes * times) for sum_ in sums}
            continue
        for _ in range(times):
            sums = {(sum_[0] + votes, sum_[1] + opposes) for sum_ in sums for votes, opposes in steps}
    return sums
