"""Retractions: moments after which older copies of public pages must no longer be shown.

What a moderator removed, what an edit replaced and the name of a deleted member must not come back from a copy.
Each retraction changes marks, files beside the copies, so that every process of the machine knows at once. A copy
bears the marks as they were when its page was read. A retraction changes them, so the copy is no longer found,
even if another process writes it later. Copies of pages that a retraction does not concern stay.
"""

import logging
import os
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_EVERY, _LISTS = "every", "lists"

_log = logging.getLogger(__name__)


def kind_of(article: int | None) -> str:
    """Return how the names of copies begin: of the page of an article, or, for None, of any other page."""
    return "page-" if article is None else f"article-{article}-"


class Retractions:
    """The retractions of a directory of copies."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._marks = directory / ".retracted"
        self._latest = self._marks / _LISTS

    def add(self, articles: Collection[int] | None) -> None:
        """Retract the pages of these articles, None for all articles, and every page that is not an article's.

        If no mark can be changed, as on a full disk, all copies are deleted.
        """
        concerned = [_EVERY] if articles is None else [_mark_of(article) for article in articles]
        kinds = ["article-"] if articles is None else [kind_of(article) for article in articles]
        try:
            self._marks.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in (_LISTS, *concerned):  # in this order: see KeptPages.keep
                mark, now = self._marks / name, time.time_ns()
                mark.touch(mode=0o600)
                os.utime(mark, ns=(now, now))
        except OSError as error:
            _log.warning("all copies of pages are deleted: %s", error.strerror)
            kinds = [""]
        for kind in (kind_of(None), *kinds):
            self._delete(f"{kind}*")

    def _delete(self, pattern: str) -> None:
        """Delete copies that are no longer found, so that nothing retracted stays on the disk."""
        with suppress(OSError):
            for path in self._directory.glob(pattern):
                with suppress(OSError):
                    path.unlink()

    def latest(self) -> str:
        """Return a token that changes with every retraction."""
        return _token(self._latest)

    def state_of(self, article: int | None) -> str:
        """Return a token that changes with retractions of an article's page; for None, of the other pages."""
        return self.latest() if article is None else f"{self._token(_EVERY)}-{self._token(_mark_of(article))}"

    def _token(self, name: str) -> str:
        return _token(self._marks / name)

    def trim(self, oldest: float) -> None:
        """Delete the marks of articles from before `oldest`, in Unix seconds; copies of then must be deleted."""
        for mark in self._marks.glob("article-*"):
            with suppress(OSError):
                if mark.stat().st_mtime < oldest:
                    mark.unlink()


def _mark_of(article: int) -> str:
    return f"article-{article}"


def _token(mark: Path) -> str:
    try:
        return str(os.stat(mark).st_mtime_ns)
    except OSError:
        return ""
