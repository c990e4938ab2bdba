"""One page out of several shards' rankings.

With one shard a page is one range. With more, its place in each shard is only roughly known: ids are dealt
out evenly, so the article at rank r stands near r/N in each of N shards. A window around that place is read
from each, and the page is taken only if the windows prove it; else they are widened, at last to everything
above the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.lists import Order, Span
from articles.repository.lists.reading import sort_key
from articles.repository.store.connection import Call, Store, Value, exact_time
from articles.repository.store.keys import Keys

GROUP_RANKING_LIFE = 60
"""Seconds a group's ranking is kept after it was last read."""

TOP_RANKING_LIFE = 60
"""Seconds a ranking of what was posted lately is kept after it was made: so late does it forget what grew old."""

FEW = 10_000
"""Articles of a group or a span whose ranking is made, in some milliseconds, when any part of it is read."""

WALKED = 10_000
"""Entries of the ranking of all articles that are looked at for a page of a group or a span that holds more; only
for a page that lies deeper is its ranking made."""

_LEAST_SLACK = 32
"""Entries by which a window is longer than its share on both sides, beside four times the root of that share."""

_MOST_WIDENINGS = 14
"""Each four times the one before: by then a window reaches from the top of its ranking to the end of the page."""

Entry = tuple[float, bytes]


MOST_READINGS = 10
"""How often a page is read again because its rankings were scored anew meanwhile, before it is taken as it is."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One shard's ranking.

    Where it is not there, a group's is made from `group` and `base`, a span's of what was posted since then.
    """

    keys: Keys
    key: str
    group: str = ""
    base: str = ""
    since: float | None = None
    """Only articles posted then or later, in Unix seconds; for hot lists."""

    span: Span | None = None
    posted_since: float = 0
    """Where a span that is made now begins, in Unix seconds."""

    @property
    def made_from(self) -> tuple[str, str]:
        """The group and the ranking of all articles; its own key for both where it is no group's."""
        return self.group or self.key, self.base or self.key

    @property
    def making(self) -> tuple[Value, ...]:
        """What the scripts that read it are told for the case that it is not there."""
        span = ("", "") if self.span is None else (self.span.value, exact_time(self.posted_since))
        return (*span, GROUP_RANKING_LIFE if self.group else TOP_RANKING_LIFE, FEW, WALKED)

    def part(self, first: int, last: int) -> Call:
        """Read the entries `first` to `last`, both included."""
        keys = self.keys
        if self.since is not None:
            return Call(
                "lists/read_hot_since", (self.key, keys.order(Order.TIME), keys.ranking), (self.since, first, last)
            )
        return Call(
            "lists/read", (self.key, keys.ranking, *self.made_from), (keys.prefix, first, last, *self.making)
        )


@dataclass(frozen=True, slots=True)
class Window:
    """Part of one ranking, best first: `skipped` entries stand before it, `total` there are in all."""

    entries: Sequence[Entry]
    skipped: int
    total: int

    @property
    def hides_after(self) -> bool:
        return self.skipped + len(self.entries) < self.total


class Cut(NamedTuple):
    """A page's ids and values, the length of the whole list, the group's title if there is such a group.

    `refreshed_at`: the moment for which hot lists are scored, in Unix seconds.
    """

    entries: list[tuple[ArticleId, float]]
    total: int
    group_title: str | None
    refreshed_at: float

    @property
    def ids(self) -> list[ArticleId]:
        return [article_id for article_id, _ in self.entries]


class _Reading(NamedTuple):
    """What one look at all rankings shows. `states`: each shard's version and refresh, as its part was read."""

    title: str | None
    windows: list[Window]
    states: list[list[Any]]

    @property
    def is_of_one_moment(self) -> bool:
        return all(state == self.states[0] for state in self.states)

    @property
    def refreshed_at(self) -> float:
        return float(self.states[0][1] or 0)


def site_rankings(store: Store, order: Order, span: Span = Span.ALL, since: float | None = None) -> list[Ranking]:
    """Every shard's, of the whole site. `span` for points, `since` in Unix seconds for the hot list alone."""
    begins = span.since(store.now())
    if order is Order.POINTS and begins is not None:
        return [Ranking(keys, keys.top(span), span=span, posted_since=begins) for keys in store.shards.all]
    return [Ranking(keys, keys.order(order), since=since) for keys in store.shards.all]


def group_rankings(store: Store, order: Order, slugs: Sequence[str]) -> list[Ranking]:
    """Every shard's, of each group."""
    return [
        Ranking(keys, keys.group_order(order, slug), keys.group(slug), keys.order(order))
        for keys in store.shards.all
        for slug in slugs
    ]


def merge_page(
    store: Store, rankings: Sequence[Ranking], start: int, size: int, *, slug: str | None = None
) -> Cut:
    """Entries `start` to `start + size` of the rankings together. No entry is read twice or left out.

    An empty page where the rankings prove none however far they are read, because they are damaged.
    """
    slack = 0 if len(rankings) == 1 else _LEAST_SLACK + 4 * isqrt((start + size) // len(rankings))
    for _ in range(_MOST_WIDENINGS):
        first = max(0, start // len(rankings) - slack)
        last = min(start + size, (start + size) // len(rankings) + slack) - 1
        found = _read_at_one_moment(store, rankings, first, last, slug)
        entries = cut(found.windows, start, size)
        if entries is not None or (slug is not None and found.title is None):
            break
        slack *= 4
    ids = [(int(member), value) for value, member in entries or ()]
    return Cut(ids, sum(window.total for window in found.windows), found.title, found.refreshed_at)


def cut(windows: Sequence[Window], start: int, size: int) -> list[Entry] | None:
    """Entries `start` to `start + size` of what the windows show, or None if they do not prove them."""
    if start >= sum(window.total for window in windows):
        return []
    merged = sorted((entry for window in windows for entry in window.entries), reverse=True)
    at = start - sum(window.skipped for window in windows)
    page = merged[at : at + size] if at >= 0 else []
    if not page:
        return None
    for window in windows:
        if window.skipped and not (window.entries and window.entries[0] >= page[0]):
            return None
        reaches = len(page) == size and window.entries and window.entries[-1] <= page[-1]
        if window.hides_after and not reaches:
            return None
    return page


def _read_at_one_moment(
    store: Store, rankings: Sequence[Ranking], first: int, last: int, slug: str | None
) -> _Reading:
    """The windows, all scored by the same parameters for the same moment."""
    for _ in range(MOST_READINGS):
        found = _read(store, rankings, first, last, slug)
        if found.is_of_one_moment:
            break
    return found


def _read(store: Store, rankings: Sequence[Ranking], first: int, last: int, slug: str | None) -> _Reading:
    """The windows `first` to `last`, both included, of all rankings, and the group's title. One round trip."""
    calls = [ranking.part(first, last) for ranking in rankings]
    if slug is not None:  # the first shard's script tells it, for the groups are in its shard
        script, keys, args = calls[0]
        calls[0] = Call(script, (*keys, store.shards.directory.groups), (*args, slug))
    replies = store.run_many(calls)
    windows = [_window(total, pairs(flat), first) for total, flat, *_ in replies]
    title = replies[0][3] if slug is not None else None
    return _Reading(title, windows, [state for _, _, state, *_ in replies])


def pairs(flat: Sequence[str]) -> list[tuple[str, float]]:
    """Ids and values of a script's answer, where they follow one another."""
    return list(zip(flat[::2], map(float, flat[1::2]), strict=True))


def _window(total: int, entries: Sequence[tuple[str, float]], first: int) -> Window:
    found = [sort_key(value, member) for member, value in entries]
    return Window(found, skipped=min(first, total), total=total)
