"""The store during one command, whether or not the site is running."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from articles.domain.errors import StoreUnavailable
from voting_site.embedded import EmbeddedStoreError, StorePaths, open_store
from voting_site.embedded.append_only import verify


@contextmanager
def opened_store() -> Iterator[None]:
    """Start or attach to the embedded store, unless REDIS_URL is set. Raises StoreUnavailable."""
    if not settings.STORE_IS_EMBEDDED:
        yield
        return
    try:
        with open_store(Path(settings.DATA_DIR), binary=settings.STORE_SERVER):
            yield
    except EmbeddedStoreError as error:
        raise StoreUnavailable(str(error)) from error


def verify_store(now: float) -> tuple[str, str]:
    """Continue to verify the embedded store's files: see `append_only.verify`. Raises StoreUnavailable."""
    if not settings.STORE_IS_EMBEDDED:
        return "", ""
    try:
        return verify(StorePaths(Path(settings.DATA_DIR)), now)
    except EmbeddedStoreError as error:
        raise StoreUnavailable(str(error)) from error
