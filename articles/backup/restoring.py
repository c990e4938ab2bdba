"""Restores a backup into an empty site."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import DataError, IntegrityError

from articles import known_store, private_files
from articles.backup import accounts, files
from articles.domain.errors import StoreDamaged, StoreUnfit
from articles.repository import (
    LAYOUT_VERSION,
    OLDEST_LAYOUT,
    OLDEST_VERSION,
    BackupRecord,
    Layout,
    Repository,
    StoreRestore,
)

Progress = Callable[[str, int, int], None]  # receives the name of the step, the amount done, and the total

VERIFYING, WRITING, REBUILDING, CHECKING = "verifying", "writing", "rebuilding lists", "checking"


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored site. `left_out`: how many rows, by the extra that is not here.

    `findings`: what the audit found, one line each.
    """

    manifest: files.Manifest
    accounts: int
    left_out: Mapping[str, int]
    findings: list[str]
    has_secret_key: bool


def check(backup: Path, progress: Callable[[int, int], object] = lambda *_: None) -> files.Manifest:
    """Return the manifest of a whole, readable backup. Raises BackupDamaged. `progress`: bytes read, of total."""
    manifest = files.verify(backup, progress)
    _check_version(backup, manifest)
    return manifest


def restore(repository: Repository, backup: Path, progress: Progress = lambda *_: None) -> Restored:
    """Restore a backup into the site's empty store and accounts database, and check the result.

    `repository` is not prepared yet. Nothing is changed unless the backup is whole, readable by this version, and
    the site is empty. After an interruption no site starts on what is there; the same call begins again. Raises
    BackupError, StoreError, DatabaseError and OSError.
    """
    manifest = check(backup, partial(progress, VERIFYING))
    layout = Layout(manifest.layout, manifest.shards, manifest.site)
    store = StoreRestore(repository.store, manifest.id, layout)
    repository.check_server()
    try:
        if not store.is_interrupted():
            accounts.check_empty()
        store.begin()
    except (StoreUnfit, files.SiteNotEmpty) as error:
        raise files.SiteNotEmpty(
            f"{error} A backup is restored into an empty site: set DATA_DIR to a new directory (and REDIS_URL and "
            "DATABASE_URL, if you use them, to empty databases), or move what is there away."
        ) from error
    lines, total = files.read_lines(backup / files.STORE), manifest.files[files.STORE].lines
    try:
        store.write(map(BackupRecord.from_json, lines), lambda done: progress(WRITING, done, total))
        loaded = accounts.load(files.read_lines(backup / files.ACCOUNTS), manifest.migrations)
    except (files.BackupDamaged, StoreDamaged, IntegrityError, DataError, OverflowError, ValueError) as error:
        accounts.delete_all()
        store.abandon()
        raise files.BackupDamaged(f"{backup} is damaged and was not restored: {error}") from error
    has_secret_key = _restore_secret_key(backup, manifest)
    repository.upgrade()
    findings: list[object] = []
    rebuilt = partial(progress, REBUILDING)
    try:
        repository.repair.rebuild(rebuilt, findings.append)
    except StoreDamaged:  # in the slow way
        repository.repair.run(rebuilt, findings.append)
    store.finish()
    known_store.remember(manifest.site)
    findings += repository.audit.run(partial(progress, CHECKING))
    return Restored(manifest, *loaded, [*map(str, findings), *accounts.missing(repository)], has_secret_key)


def _check_version(backup: Path, manifest: files.Manifest) -> None:
    """Raise BackupDamaged for a backup of a newer version of the site, or of one before `OLDEST_VERSION`."""
    if manifest.layout > LAYOUT_VERSION:
        raise files.BackupDamaged(
            f"{backup} is of a store with layout {manifest.layout}, this version of the site reads layouts up to "
            f"{LAYOUT_VERSION}: restore it with version {manifest.version}, which made it, or a newer one."
        )
    if manifest.layout < OLDEST_LAYOUT or _numbers(manifest.version) < _numbers(OLDEST_VERSION):
        raise files.BackupDamaged(
            f"{backup} was made by version {manifest.version} of the site, this one reads backups of version "
            f"{OLDEST_VERSION} and newer ones: restore it with the version that made it, start version "
            f"{OLDEST_VERSION} on that site, which upgrades it, and make a backup with that."
        )
    accounts.check_migrations(manifest.migrations)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def _restore_secret_key(backup: Path, manifest: files.Manifest) -> bool:
    """Put the secret key into its place; return whether it was in the backup."""
    if files.SECRET_KEY not in manifest.files:
        return False
    private_files.write(Path(settings.SECRET_KEY_FILE), (backup / files.SECRET_KEY).read_bytes())
    return True
