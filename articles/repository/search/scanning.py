"""Scans of all shards for one query, step by step, until the best matches are known."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from articles.repository.lists.reading import sort_key
from articles.repository.store.connection import Call, Store
from articles.repository.store.keys import Keys
from articles.searching import Term

MOST_FOUND = 1000
"""Articles, or comments, that can be paged through: a reader who needs more should refine the query."""

FEW = 2000
"""Matches up to which a script reads and sorts all."""

STEPS = (("walk", 2000), ("meet", 4000), ("walk", 4000), ("walk", 4000), ("sample", 1))
"""Modes of the script to try in turn until the best matches are known, each with the number of articles to walk
past in a ranking. After the last one the result is marked incomplete, so that rare queries do not hold up the
store."""

Match = tuple[float, bytes]
Ranking = Callable[[Keys], str]


def run(store: Store, scans: "Sequence[Scan]") -> None:
    """Run the scans in parallel, a round trip for each step, until all know the best matches."""
    for step in STEPS:
        calls = [call for scan in scans for call in scan.calls(*step)]
        if not calls:
            return
        replies = iter(store.run_many(calls))
        for scan in scans:
            scan.take(replies)
    for scan in scans:
        scan.end()


def as_json(terms: Iterable[Term], hidden: Sequence[str], slug: str | None) -> str:
    """Return a query for the script. `hidden`: groups to leave out; never the group `slug`, which is searched."""
    rows = [{"words": term.words, "beginning": term.beginning, "groups": term.groups} for term in terms]
    left_out = [name for name in hidden if name != slug]
    return json.dumps({"terms": rows, "hidden": left_out, "group": slug or ""}, ensure_ascii=False)


class Results:
    """The matches of one or more scans: all of the first scan come before the others of the next."""

    def __init__(self, scans: "Sequence[Scan]") -> None:
        self.best = list({match[1]: match for scan in scans for match in scan.best}.values())
        self.total = scans[-1].total
        self.complete = all(scan.complete for scan in scans)


class Scan:
    """The search for one query in all shards, step by step, until the best matches are known."""

    def __init__(self, store: Store, query: str, ranking: Ranking, size: int, kind: str = "article") -> None:
        """`query`: as JSON, for the script; `ranking` returns the key of a shard by which matches are ordered."""
        self._query, self._ranking, self._size, self._kind = query, ranking, size, kind
        self._matches: dict[Keys, dict[str, float]] = {keys: {} for keys in store.shards.all}
        """Each shard's matches with their values in the ranking, as last read: they may change between steps."""

        self._ranks = dict.fromkeys(store.shards.all, 0)
        """Ranks from which to continue in the shards that are not done."""

        self._totals: dict[Keys, int] = {}
        self.complete = True
        """Whether the best matches are certainly known."""

    def calls(self, mode: str, walked: int) -> list[Call]:
        """Return the calls of the next step, one for each shard that is not done."""
        return [
            Call(
                "search/find",
                (self._ranking(keys),),
                (keys.prefix, self._query, self._size, rank, mode, FEW, walked, self._kind),
            )
            for keys, rank in self._ranks.items()
        ]

    def take(self, replies: Iterator[list[str]]) -> None:
        """Take one reply for each of the calls."""
        for keys in list(self._ranks):
            reply = next(replies)
            if self._is_enough(keys, reply):
                del self._ranks[keys]
            else:
                self._ranks[keys] = int(reply[1])

    def end(self) -> None:
        """End the scan after the last step; it is incomplete if any shard is not done."""
        self.complete = not self._ranks

    def find_nothing(self) -> None:
        """End a search without terms: no article matches."""
        self._totals = dict.fromkeys(self._matches, 0)

    def _is_enough(self, keys: Keys, reply: list[str]) -> bool:
        """Record a shard's matches; return whether the shard is done."""
        status, number, *flat = reply
        matches = {member: float(value) for member, value in zip(flat[::2], flat[1::2], strict=True)}
        if status == "all":
            self._matches[keys], self._totals[keys] = matches, int(number)
            return True
        self._matches[keys] |= matches
        return int(number) < 0 or len(self._matches[keys]) >= self._size

    @property
    def best(self) -> list[Match]:
        """All matches so far, best first."""
        entries = (entry for matches in self._matches.values() for entry in matches.items())
        return sorted((sort_key(value, member) for member, value in entries), reverse=True)

    @property
    def total(self) -> int | None:
        """Number of matches; None if unknown."""
        return sum(self._totals.values()) if len(self._totals) == len(self._matches) else None
