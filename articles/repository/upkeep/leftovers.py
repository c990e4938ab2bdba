"""What extras whose folders were deleted have left in the store: keys, and fields of articles."""

from collections.abc import Collection, Iterable

from articles.repository.store.connection import OfStore
from articles.repository.store.keys import Keys, among, recognise
from articles.repository.store.scan import walk
from articles.repository.upkeep.audit import Progress, quiet


class Leftovers(OfStore):
    def remove(self, keys: Iterable[str], fields: Collection[str], progress: Progress = quiet) -> None:
        """Delete keys of these kinds, unless the site has such keys, and these fields of all articles.

        Reads the names of all keys, in batches. Idempotent. Raises StoreError.
        """
        is_left, done = among(keys), 0
        with self._store.commands():
            total = sum(server.dbsize() for server in self._store.servers())
        for batch in walk(self._store):
            with self._store.pipeline() as pipe:
                for name, kind in zip(batch, recognise(batch), strict=True):
                    if kind is None and is_left(name):
                        pipe.unlink(name)
                    elif kind is Keys.article and fields:
                        pipe.hdel(name, *fields)
                pipe.execute()
            done += len(batch)
            progress(min(done, total), total)
