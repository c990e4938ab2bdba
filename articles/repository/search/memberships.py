"""Counts the sets that articles are in, so that sets of the expected size need not be read."""

from collections import Counter
from collections.abc import Iterable

from articles.repository.lists.reading import split_groups


class Memberships:
    """The words and groups that sound articles of one shard name: each such article is in each of these sets.

    A set with as many members as such articles name it holds exactly these. While articles change, the count of a
    sound set may differ; then it is read.
    """

    def __init__(self) -> None:
        self.words = Counter[str]()
        self.groups = Counter[str]()

    def add(self, articles: Iterable[tuple[str, str]]) -> None:
        """Count the words, separated by spaces, and the groups, separated by commas, of articles."""
        for words, groups in articles:
            self.words.update(words.split())
            self.groups.update(set(split_groups(groups)))
