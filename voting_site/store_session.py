"""The store for the time of one command, whether or not the site is running; or one to try things in."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from articles.domain.errors import StoreUnavailable
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


@contextmanager
def scratch_store() -> Iterator[str]:
    """URL of an empty store that nobody else uses and nothing is left of, whatever store the site has.

    Raises StoreUnavailable when it does not start.
    """
    quick = {"appendonly": "no"}
    with tempfile.TemporaryDirectory(prefix="voting-site-scratch-") as folder:
        try:
            with open_store(Path(folder), config=quick) as url:
                yield url
        except EmbeddedStoreError as error:
            raise StoreUnavailable(str(error)) from error
