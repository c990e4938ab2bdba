"""Makes a backup of a site that is in use."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import connection

from articles.backup import accounts, folders
from articles.backup.files import (
    ACCOUNTS,
    SECRET_KEY,
    STORE,
    BackupRunning,
    File,
    Manifest,
    new_lines,
    new_small_file,
    write_manifest,
)
from articles.repository import BackupReader, BackupRecord, Repository, read_layout

Progress = Callable[[int, int], object]  # receives the number of articles read, and of all articles

_LEASE_SECONDS = 10.0  # seconds after which the housekeeping lease is renewed; it expires after 30
_PATIENCE_SECONDS = 60.0  # seconds to wait for a round of housekeeping that another process runs


@dataclass
class _Making:
    repository: Repository
    progress: Progress
    renew: Callable[[], bool]
    renewed_at: float = field(default_factory=time.monotonic)
    counts: dict[str, int] = field(default_factory=lambda: {"articles": 0, "keys": 0})
    unreadable: list[str] = field(default_factory=list)

    def keep_lease(self) -> None:
        """Keep housekeeping from running: it moves counters from the store into the database."""
        if time.monotonic() - self.renewed_at >= _LEASE_SECONDS:
            self.renew()
            self.renewed_at = time.monotonic()

    def count(self, records: Iterable[BackupRecord]) -> Iterator[list[Any]]:
        for record in records:
            self.keep_lease()
            self.counts["keys"] += len(record.entries)
            self.counts["articles"] += record.is_article
            yield record.as_json()


def make(repository: Repository, folder: Path, *, keep: int = 0, progress: Progress = lambda *_: None) -> Path:
    """Make a backup into a folder of its own in `folder`; return its path. It appears when it is complete.

    `keep`: number of this site's backups to keep there, the new one included; 0 for all. Members can keep voting:
    votes acknowledged before are in the backup, and those acknowledged meanwhile may be. Waits for a round of
    housekeeping to end, and prevents another. Raises BackupError, StoreError, DatabaseError and OSError.
    """
    began = datetime.now(UTC)
    with folders.locked(folder), _lease(repository) as renew, folders.new_folder(folder, began) as partial:
        making = _Making(repository, progress, renew)
        manifest = _write(making, partial, began)
        write_manifest(partial, manifest)
        _sync(partial)
        final = folders.complete(partial)
        _sync(folder)
        if keep:
            folders.prune(folder, keep, manifest.site)
    return final


def _write(making: _Making, partial: Path, began: datetime) -> Manifest:
    repository, files = making.repository, dict[str, File]()
    with new_lines(partial / STORE, files) as store:
        reader = BackupReader(repository.store, making.unreadable.append)
        layout = read_layout(repository.store)
        for line in making.count(reader.iterate_lists()):
            store.write(line)
        for line in making.count(reader.iterate_articles(making.progress)):
            store.write(line)
        with accounts.snapshot(partial) as alias, new_lines(partial / ACCOUNTS, files) as rows:
            for line in accounts.iterate(alias):
                making.keep_lease()
                rows.write(line)
                making.counts[line[0]] = making.counts.get(line[0], 0) + 1
        for line in making.count(reader.iterate_site()):
            store.write(line)
    if settings.SECRET_KEY_IS_IN_FILE:  # not if it is set in the environment
        new_small_file(partial / SECRET_KEY, settings.SECRET_KEY.encode("ascii"), files)
    overview = repository.inspection.get_overview()
    return Manifest(
        id=str(uuid4()),
        site=layout.site,
        made_at=began.isoformat(timespec="seconds"),
        version=settings.VERSION,
        layout=layout.version,
        shards=layout.shards,
        server=f"{overview.server.name} {overview.server.version}" if overview else "",
        database=connection.vendor,
        migrations=accounts.last_migrations(),
        counts=making.counts | {"foreign": reader.foreign},
        files=files,
        unreadable=sorted(set(making.unreadable)),
    )


@contextmanager
def _lease(repository: Repository) -> Iterator[Callable[[], bool]]:
    """Hold the housekeeping lease, unless the caller does; yield what renews it. Raises BackupRunning."""
    if held := repository.lease.held:
        yield held.renew
        return
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with repository.lease.acquire() as lease:
            if lease is not None:
                yield lease.renew
                return
        if time.monotonic() >= deadline:
            raise BackupRunning("Another process runs housekeeping, or makes a backup. Try again in a minute.")
        time.sleep(0.2)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
