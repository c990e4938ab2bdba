"""The step of an account's deletion that concerns articles."""

from collections.abc import Callable

from articles.wiring import repository


def anonymise(user: int, name: str, progress: str, more: Callable[[], bool]) -> str:
    """Remove a deleted member's name from articles and moderation log; articles and votes stay.

    An `accounts.account_deletion.Step`. Raises StoreError.
    """
    return repository().account_deletion.advance(user, name, progress, more)
