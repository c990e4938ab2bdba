"""Pages of lists: where a page begins and ends, and which pages do not exist."""

from collections.abc import Iterable, Iterator, Sequence, Sized
from heapq import merge
from itertools import islice
from typing import NamedTuple

from articles.domain.errors import PageNotFound, PageTooDeep
from articles.domain.lists import Position
from articles.repository.lists.reading import sort_key
from articles.repository.store.connection import Store


class PageWindow(NamedTuple):
    """The entries of page `number`, counted from 1, in a list whose first `most` entries can be paged through."""

    number: int
    size: int
    most: int

    @property
    def start(self) -> int:
        """Number of entries before the page."""
        return (self.number - 1) * self.size

    @property
    def end(self) -> int:
        """Number of entries up to the end of the page."""
        return self.start + self.size

    def check_entries(self, entries: Sized) -> None:
        """Raise PageNotFound if there are no entries from `start` on, unless this is the first page."""
        if self.number > 1 and not entries:
            raise PageNotFound(self.number)

    def has_next(self, read: int) -> bool:
        """Return whether there is a next page, given how many entries were read from `start` on."""
        return read > self.size and self.end < self.most


def page_window(number: int, size: int, most: int, after: Position | None = None) -> PageWindow:
    """Return the place of a page; that of a first one for a page `after` a position, whatever the number.

    Raises PageNotFound before the first, and PageTooDeep beyond `most` entries.
    """
    window = PageWindow(number if after is None else 1, size, most)
    if window.number < 1:
        raise PageNotFound(number)
    if window.start >= most:
        raise PageTooDeep(number)
    return window


def read_window(
    store: Store, names: Sequence[str], window: PageWindow, after: Position | None
) -> list[tuple[str, float]]:
    """Return the entries of a page of lists by time, newest first, each with its time, and the next one.

    `after`: if given, those that follow this position instead, wherever it is. One round trip; more if many
    entries have the time of the position.
    """
    if after is not None:
        return _read_after(store, names, after, window.size + 1)
    first = window.start if len(names) == 1 else 0  # of several, the number of entries before it is unknown
    with store.pipeline() as pipe:
        for name in names:
            pipe.zrevrange(name, first, window.end, withscores=True)
        entries = newest_first(pipe.execute())
    return list(islice(entries, window.start - first, window.end - first + 1))


def _read_after(store: Store, names: Sequence[str], after: Position, most: int) -> list[tuple[str, float]]:
    position, wanted = sort_key(*after), most
    while True:
        with store.pipeline() as pipe:
            for name in names:
                pipe.zrevrangebyscore(name, repr(after[0]), "-inf", start=0, num=wanted, withscores=True)
            replies = pipe.execute()
        following = [[one for one in entries if sort_key(one[1], one[0]) < position] for entries in replies]
        if all(len(all_) < wanted or len(found) >= most for all_, found in zip(replies, following, strict=True)):
            return list(islice(newest_first(following), most))
        wanted *= 4


def newest_first(lists: Iterable[Iterable[tuple[str, float]]]) -> Iterator[tuple[str, float]]:
    """Merge lists by time that are each ordered newest first."""
    return merge(*lists, key=lambda entry: sort_key(entry[1], entry[0]), reverse=True)


def position_of(entries: Sequence[tuple[str, float]]) -> Position | None:
    """Return the position of the last of these entries; None without any."""
    return (entries[-1][1], entries[-1][0]) if entries else None
