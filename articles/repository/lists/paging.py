"""Pages of lists: where a page begins and ends, and which pages do not exist."""

from collections.abc import Sized
from typing import NamedTuple

from articles.domain.errors import PageNotFound, PageTooDeep


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


def page_window(number: int, size: int, most: int) -> PageWindow:
    """Return the place of a page. Raises PageNotFound before the first, and PageTooDeep beyond `most` entries."""
    window = PageWindow(number, size, most)
    if number < 1:
        raise PageNotFound(number)
    if window.start >= most:
        raise PageTooDeep(number)
    return window
