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

from articles.domain import ArticleId
from articles.repository.reading import sort_key
from articles.repository.store import Call, Store

GROUP_RANKING_LIFE = 60
"""Seconds a group's ranking is kept after it was last read."""

Entry = tuple[float, bytes]


@dataclass(frozen=True, slots=True)
class Ranking:
    """One shard's ranking. A group's is made from `group` and `base` when it is not there."""

    key: str
    group: str = ""
    base: str = ""


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
    """A page's ids, the length of the whole list, and the group's title if there is such a group."""

    ids: list[ArticleId]
    total: int
    group_title: str | None


def merge_page(
    store: Store, rankings: Sequence[Ranking], start: int, size: int, *, slug: str | None = None
) -> Cut:
    """Entries `start` to `start + size` of the rankings together. No entry is read twice or left out."""
    slack = 0 if len(rankings) == 1 else size + 4 * isqrt(max(0, start))
    while True:
        first = max(0, start // len(rankings) - slack)
        last = min(start + size, (start + size) // len(rankings) + slack) - 1
        title, windows = _read(store, rankings, first, last, slug)
        entries = cut(windows, start, size)
        if entries is not None or (slug is not None and title is None):
            ids = [int(member) for _, member in entries or ()]
            return Cut(ids, sum(window.total for window in windows), title)
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


def _read(
    store: Store, rankings: Sequence[Ranking], first: int, last: int, slug: str | None
) -> tuple[str | None, list[Window]]:
    """The windows `first` to `last`, both included, of all rankings, and the group's title."""
    title: str | None = None
    with store.pipeline() as pipe:
        if slug is not None:
            pipe.hget(store.shards.directory.groups, slug)
        for ranking in rankings:
            pipe.expire(ranking.key, GROUP_RANKING_LIFE) if slug is not None else pipe.exists(ranking.key)
            pipe.zcard(ranking.key)
            pipe.zrevrange(ranking.key, first, last, withscores=True)
        replies: list[Any] = pipe.execute()
    if slug is not None:
        title, *replies = replies
    rows = [replies[at : at + 3] for at in range(0, len(replies), 3)]
    if title is not None:
        _make_missing(store, rankings, rows, first, last)
    return title, [_window(total, entries, first) for _, total, entries in rows]


def _make_missing(store: Store, rankings: Sequence[Ranking], rows: list[list[Any]], first: int, last: int) -> None:
    """Make the group rankings that were not there, and put what they hold into `rows`."""
    cold = [n for n, (warm, _, _) in enumerate(rows) if not warm]
    if not cold:
        return
    limits = (GROUP_RANKING_LIFE, first, last)
    made = store.run_many(
        [Call("group_ranking", (rankings[n].key, rankings[n].group, rankings[n].base), limits) for n in cold]
    )
    for n, (total, flat) in zip(cold, made, strict=True):
        entries = zip(flat[::2], map(float, flat[1::2]), strict=True)
        rows[n] = [1, total, list(entries)]


def _window(total: int, entries: Sequence[tuple[str, float]], first: int) -> Window:
    found = [sort_key(value, member) for member, value in entries]
    return Window(found, skipped=min(first, total), total=total)
