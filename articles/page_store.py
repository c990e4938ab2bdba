"""The store of drawn pages: copies of what readers without an account see, on disk, also while the store is away.

Feeds are the same for everyone, and are served from their copies for a minute in any case. A page that is visited
is saved at most once every `KEEP_EVERY` seconds, an article that has not changed once every `UNCHANGED_FOR`. The
site's workers share one directory. A copy is what a reader without an account and without preferences sees, so it
holds nothing personal.

What a moderator removed, what an edit replaced and the name of a deleted member must not come back from a copy. A
retraction changes a mark beside the copies, by which every process of the machine knows at once, and then deletes
the copies that it concerns. A process keeps a page that it has drawn only if the mark is as it was before it read
the page; it compares and writes under a lock that a retraction waits for, so no copy appears after a deletion.
"""

import fcntl
import json
import logging
import os
import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import NamedTuple

from django.utils.crypto import get_random_string

KEEP_EVERY = 8.0
"""Seconds until a page that is visited is kept again, so that a copy is at most ten seconds behind."""

UNCHANGED_FOR = 600.0
"""The same for the page of an article that shows the same, except for views and times in words."""

LIFETIME = 86400.0  # seconds until a copy is deleted if its page is not visited again
MOST_PAGES = 5_000
MOST_BYTES = 64_000_000
SHELF = 200  # places on a shelf: copies of more addresses replace each other
_COMPRESSION = 1
_SHELVED = "shelf-"
_DRAFT = ".draft"
_MARK = ".retracted"
_LOCK = ".lock"

_log = logging.getLogger(__name__)


class Address(NamedTuple):
    """The key of a copy. `site` is scheme and host; `language` a code such as "zh-hans"."""

    site: str
    path: str
    query: str
    language: str
    article: int | None = None  # the article whose page it is
    shelf: str = ""  # where its copy shares a limited number of places with others; "" for a place of its own


class KeptPage(NamedTuple):
    """A copy. `at` is in Unix seconds; `headers` are those that the content determines."""

    address: Address
    headers: Mapping[str, str]
    at: float
    packed: bytes
    state: str = ""  # a token for what the page of an article shows to every reader; "" if it has none

    @property
    def content(self) -> bytes:
        return zlib.decompress(self.packed)


def pack(address: Address, headers: Mapping[str, str], at: float, content: bytes, state: str = "") -> KeptPage:
    return KeptPage(address, headers, at, zlib.compress(content, _COMPRESSION), state)


class PageStore:
    """A directory of copies, which several processes can use at the same time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._mark = directory / _MARK

    def retract(self, articles: Collection[int] | None) -> None:
        """Delete the pages of these articles, None for all articles, and every page that is not an article's.

        If the mark cannot be changed, as on a full disk, all copies are deleted.
        """
        kinds = ["article-"] if articles is None else [_kind_of(article) for article in articles]
        try:
            with self._locked(fcntl.LOCK_EX):
                self._mark.touch(mode=0o600)
                now = time.time_ns()
                os.utime(self._mark, ns=(now, now))
        except OSError as error:
            _log.warning("all copies of pages are deleted: %s", error.strerror)
            kinds = [""]
        for kind in (_kind_of(None), *kinds):
            with suppress(OSError):
                for path in self._directory.glob(f"{kind}*" if kind else "[!.]*"):
                    path.unlink(missing_ok=True)

    def latest_retraction(self) -> str:
        """Return a token that changes with every retraction."""
        try:
            return str(os.stat(self._mark).st_mtime_ns)
        except OSError:
            return ""

    def age(self, address: Address) -> float:
        """Return the age of the copy in seconds; infinite without one, or if the clock has been set back since."""
        try:
            made_at = self._path(address).stat().st_mtime
        except OSError:
            return inf
        age = time.time() - made_at
        return inf if age < 0 or (address.shelf and self.get(address) is None) else age

    def get(self, address: Address) -> KeptPage | None:
        """Return the copy; None without one, or for a damaged one."""
        try:
            head, packed = self._path(address).read_bytes().split(b"\n", 1)
            fields = json.loads(head)
            if fields.pop("checksum") != zlib.crc32(packed):
                raise ValueError("its checksum is wrong")
            if fields.pop("address") == address._asdict():
                return KeptPage(address, packed=packed, **fields)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError) as error:
            _log.warning("the kept copy of %s cannot be read: %s", address.path, error)
        return None

    def keep(self, page: KeptPage, as_of: str | None = None) -> None:
        """Write the copy. Without permission or space, no copy is made; the page itself is served anyway.

        `as_of` is the latest retraction before the page was read: no copy is made if another one followed.
        """
        path = self._path(page.address)
        draft = path.with_name(f"{path.name}-{get_random_string(8)}{_DRAFT}")
        head = {
            "address": page.address._asdict(),
            "headers": dict(page.headers),
            "at": page.at,
            "state": page.state,
            "checksum": zlib.crc32(page.packed),
        }
        try:
            with self._locked(fcntl.LOCK_SH):
                if as_of in (None, self.latest_retraction()):
                    draft.write_bytes(json.dumps(head).encode() + b"\n" + page.packed)
                    draft.replace(path)
        except OSError as error:
            _log.warning("the page %s is not kept: %s", page.address.path, error.strerror)
            with suppress(OSError):
                draft.unlink()

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Hold the lock of the directory: shared to write a copy, alone to retract. It ends with the process."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._directory / _LOCK).open("a") as lock:
            fcntl.flock(lock, how)
            yield

    def forget(self, address: Address) -> None:
        with suppress(OSError):
            self._path(address).unlink()

    def trim(self) -> int:
        """Delete copies that are too old, then the oldest beyond the limits, shelves first; return how many."""
        kept_bytes, deleted, oldest, files = 0, 0, time.time() - LIFETIME, list[tuple[Path, os.stat_result]]()
        for path in self._directory.glob("[!.]*"):  # neither the refresher's lock nor the mark
            with suppress(OSError):
                files.append((path, path.stat()))
        last_to_go = sorted(files, key=lambda file: (_SHELVED in file[0].name, -file[1].st_mtime))
        for number, (path, facts) in enumerate(last_to_go):
            kept_bytes += facts.st_size
            if number >= MOST_PAGES or kept_bytes > MOST_BYTES or facts.st_mtime < oldest:
                with suppress(OSError):
                    path.unlink()
                    deleted += 1
        return deleted

    def _path(self, address: Address) -> Path:
        kind, facts = _kind_of(address.article), json.dumps(address._asdict())
        if address.shelf:
            kind, facts = f"{kind}{_SHELVED}", f"{address.shelf} {int(_digest(facts), 16) % SHELF}"
        return self._directory / (kind + _digest(facts))


def _kind_of(article: int | None) -> str:
    """Return how the names of copies begin: of the page of an article, or, for None, of any other page."""
    return "page-" if article is None else f"article-{article}-"


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
