"""What the store does for accounts: it gives out their ids, and removes the names of deleted ones.

Also checks whether the accounts are older than the store.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from accounts import member_ids
from articles import known_store
from articles.domain.errors import StoreError
from articles.domain.members import UserId
from articles.repository import Repository
from articles.web.wiring import patient_repository, repository


def reserve(count: int = 1) -> UserId:
    """Reserve ids in the site's store, and return the first. Raises StoreError, also for another site's store."""
    store = _store()
    store.check_site(known_store.known_site())
    return store.account_ids.reserve(member_ids.highest(), count)


def note(user: UserId) -> None:
    """Record an account in the site's store; housekeeping repeats it."""
    with suppress(StoreError):
        _store().account_ids.note(user)


_is_patient: ContextVar[bool] = ContextVar("is_patient", default=False)


@contextmanager
def patience() -> Iterator[None]:
    """Let accounts that are created in the block wait for a busy store as long as commands do, not pages."""
    token = _is_patient.set(True)
    try:
        yield
    finally:
        _is_patient.reset(token)


def _store() -> Repository:
    return patient_repository() if _is_patient.get() else repository()


def age_problem(repo: Repository, *, notes: bool = True) -> str:
    """Return a sentence if the accounts are older than the store. One round trip. `notes`: whether to record."""
    known = member_ids.highest()
    created = repo.account_ids.note(known) if notes else repo.account_ids.get_highest()
    if created <= known:
        return ""
    return (
        f"The accounts are older than the store: it has seen account {created:,}, the database has none above "
        f"{known:,}. Restore both from the same time; see docs/operation.md."
    )


def anonymise(user: int, name: str, progress: str, more: Callable[[], bool], is_last: bool) -> str:
    """Anonymise articles and votes from `progress` on, as an `account_deletion.Step`. Raises StoreError."""
    return repository().account_deletion.advance(user, name, progress, more, is_last=is_last)
