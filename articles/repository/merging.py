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

from redis.client import Pipeline

from articles.domain import ArticleId, Order, Span
from articles.repository.keys import Keys
from articles.repository.reading import sort_key
from articles.repository.store import Call, Store, exact_time

GROUP_RANKING_LIFE = 60
"""Seconds a group's ranking is kept after it was last read."""

TOP_RANKING_LIFE = 60
"""Seconds a ranking of what was posted lately is kept after it was made: so late does it forget what grew old."""

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
    def is_made(self) -> bool:
        """Whether it is there only while it is read."""
        return bool(self.group) or self.span is not None

    @property
    def life(self) -> int:
        """Seconds it is kept, where it is made."""
        return GROUP_RANKING_LIFE if self.group else TOP_RANKING_LIFE

    def making(self, first: int, last: int) -> Call:
        """Makes it, and reads the entries `first` to `last`, both included."""
        keys = self.keys
        if self.span is None:
            return Call("group_ranking", (self.key, self.group, self.base, keys.ranking), (self.life, first, last))
        return Call(
            "top_ranking",
            (self.key, keys.order(Order.TIME), keys.order(Order.POINTS), keys.ranking),
            (keys.prefix, self.span.value, exact_time(self.posted_since), self.life, first, last),
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
    """What one look at all rankings shows. `states`: version and refresh of each shard, before and after."""

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
    """Entries `start` to `start + size` of the rankings together. No entry is read twice or left out."""
    slack = 0 if len(rankings) == 1 else size + 4 * isqrt(max(0, start))
    while True:
        first = max(0, start // len(rankings) - slack)
        last = min(start + size, (start + size) // len(rankings) + slack) - 1
        found = _read_at_one_moment(store, rankings, first, last, slug)
        entries = cut(found.windows, start, size)
        if entries is not None or (slug is not None and found.title is None):
            ids = [(int(member), value) for value, member in entries or ()]
            return Cut(ids, sum(window.total for window in found.windows), found.title, found.refreshed_at)
        slack *= 4


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
    """The windows `first` to `last`, both included, of all rankings, and the group's title."""
    if rankings[0].since is not None:
        return _read_since(store, rankings, first, last)
    with store.pipeline() as pipe:
        _ask_states(pipe, rankings)
        if slug is not None:
            pipe.hget(store.shards.directory.groups, slug)
        for ranking in rankings:
            pipe.expire(ranking.key, ranking.life) if ranking.group else pipe.exists(ranking.key)
            pipe.zcard(ranking.key)
            pipe.zrevrange(ranking.key, first, last, withscores=True)
        _ask_states(pipe, rankings)
        replies: list[Any] = pipe.execute()
    count = len(rankings)
    states, replies = replies[:count] + replies[-count:], replies[count:-count]
    title: str | None = replies.pop(0) if slug is not None else None
    rows = [replies[at : at + 3] for at in range(0, len(replies), 3)]
    if title is not None or slug is None:
        states += _make_missing(store, rankings, rows, first, last)
    return _Reading(title, [_window(total, entries, first) for _, total, entries in rows], states)


def _read_since(store: Store, rankings: Sequence[Ranking], first: int, last: int) -> _Reading:
    """The same of hot lists, of what is not older than `Ranking.since`."""
    found = store.run_many(
        [
            Call("hot_since", (r.key, r.keys.order(Order.TIME), r.keys.ranking), (r.since or 0, first, last))
            for r in rankings
        ]
    )
    windows = [_window(total, pairs(flat), first) for total, flat, _ in found]
    return _Reading(None, windows, [state for _, _, state in found])


def pairs(flat: Sequence[str]) -> list[tuple[str, float]]:
    """Ids and values of a script's answer, where they follow one another."""
    return list(zip(flat[::2], map(float, flat[1::2]), strict=True))


def _ask_states(pipe: Pipeline, rankings: Sequence[Ranking]) -> None:
    for ranking in rankings:
        pipe.hmget(ranking.keys.ranking, ["version", "refreshed_at"])


def _make_missing(
    store: Store, rankings: Sequence[Ranking], rows: list[list[Any]], first: int, last: int
) -> list[list[Any]]:
    """Make the rankings that were not there, and put what they hold into `rows`; their shards' states."""
    cold = [n for n, (warm, _, _) in enumerate(rows) if rankings[n].is_made and not warm]
    if not cold:
        return []
    made = store.run_many([rankings[n].making(first, last) for n in cold])
    for n, (total, flat, _) in zip(cold, made, strict=True):
        rows[n] = [1, total, pairs(flat)]
    return [state for _, _, state in made]


def _window(total: int, entries: Sequence[tuple[str, float]], first: int) -> Window:
    found = [sort_key(value, member) for member, value in entries]
    return Window(found, skipped=min(first, total), total=total)
