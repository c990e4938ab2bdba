"""A backup of the store: what is read for it, and how it is written into an empty store."""

from collections.abc import Callable

from articles.repository.backup.reading import BackupReader, read_layout
from articles.repository.backup.records import BackupRecord, Entry, Layout
from articles.repository.backup.restoring import StoreRestore
from articles.repository.store.connection import OfStore


class Backups(OfStore):
    """The backups of a store."""

    def read(self, report: Callable[[str], object]) -> BackupReader:
        """Begin a backup: read the names of all keys. `report` receives the name of each that cannot be read."""
        return BackupReader(self._store, report)

    def get_layout(self) -> Layout:
        """Return the layout of the store. One round trip. Raises StoreDamaged for a store without one."""
        return read_layout(self._store)

    def restore(self, backup: str, layout: Layout) -> StoreRestore:
        """Return the restore of a backup, given by its id and the layout of its store. No round trip."""
        return StoreRestore(self._store, backup, layout)
