"""The part of account deletion that concerns articles, votes and the moderation log."""

from collections.abc import Callable

from articles.wiring import repository


def anonymise(user: int, name: str, progress: str, more: Callable[[], bool], is_last: bool) -> str:
    """Anonymise a former member's articles and votes from `progress` on; return the new progress, '' when done.

    An `accounts.account_deletion.Step`. Raises StoreError.
    """
    return repository().account_deletion.advance(user, name, progress, more, is_last=is_last)
