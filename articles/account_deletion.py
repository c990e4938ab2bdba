"""What is done here for a member whose account is deleted."""

from collections.abc import Callable

from articles.wiring import repository


def anonymise(user: int, name: str, progress: str, more: Callable[[], bool]) -> str:
    """Keep the articles and the votes of a former member, and nothing that leads to the member.

    As `accounts.account_deletion.Work`. Raises StoreError.
    """
    return repository().account_deletion.advance(user, name, progress, more)
