"""The store for the time of one command, whether or not the site is running."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from articles.errors import StoreUnavailable
from voting_site.embedded import EmbeddedStoreError, open_store


@contextmanager
def opened_store() -> Iterator[None]:
    """Start the embedded store, or attach to the running one; nothing to do for the operator's own.

    Raises StoreUnavailable when it does not start.
    """
    if not settings.STORE_IS_EMBEDDED:
        yield
        return
    try:
        with open_store(Path(settings.DATA_DIR)):
            yield
    except EmbeddedStoreError as error:
        raise StoreUnavailable(str(error)) from error
