"""Accounts that each process remembers, and the sessions that say whether they are still current.

Each account that makes requests has a stamp, a random number, in the cache of sessions; a change of the account
deletes it. A process remembers a row with the stamp that it saw before it read the row, and uses it only while the
cache has the same stamp, which comes with the session, in one exchange. So no row that was read before a change is
used after it, whichever process read it, and whenever it began to remember it.
"""

import logging
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import cached_db
from django.core.cache import caches
from django.db import transaction
from django.db.models.signals import m2m_changed, post_delete, post_save

LONGEST_SECONDS = 60
"""Time for which a row is used at most: after it, even a change shows that the cache could not be told of."""

_STAMP_SECONDS = 86_400
_MOST_ROWS = 2_000
_MOST_SESSIONS = 20_000

_log = logging.getLogger(__name__)


class Row(NamedTuple):
    """The values of an account's row, in the order of the backend's query."""

    stamp: int
    read_at: float  # by the monotonic clock
    values: list[Any]


_rows: dict[int, Row] = {}
_read_from: list[object] = [None]  # what `forget_all_of_others` was last called with

_members: dict[str, int] = {}  # whose sessions these are; a session's key never changes its member


def _cache() -> Any:
    return caches[settings.SESSION_CACHE_ALIAS]


class SessionStore(cached_db.SessionStore):
    """Django's sessions. Those that a process knows bring the stamp of their member's account along."""

    _asked: int | None = None  # the member whose stamp came with the session
    _stamp: int | None = None

    def load(self) -> Any:
        """Return the session's content, as Django does; what is in the cache takes one exchange."""
        key = self.session_key or ""
        member = _members.get(key)
        names = [self.cache_key] if member is None else [self.cache_key, _name(member)]
        try:
            found = _cache().get_many(names)
        except Exception:  # as in Django's method
            found = {}
        data = found.get(self.cache_key)
        if data is None:
            return self._load_from_database()
        if member is not None:
            self._asked, self._stamp = member, found.get(names[1])
        _know(key, data)
        return data

    def _load_from_database(self) -> Any:
        """Return the session's content, {} if there is none, and let the cache keep it."""
        if not (row := self._get_session_from_db()):  # type: ignore[attr-defined]
            return {}
        data = self.decode(row.session_data)
        _cache().set(self.cache_key, data, self.get_expiry_age(expiry=row.expire_date))
        return data

    def row_of(self, member: int, read: Callable[[int], list[Any] | None]) -> list[Any] | None:
        """Return the member's row: the one that is remembered, if it is current, or else what `read` returns."""
        known = _rows.get(member)
        if known and known.stamp == self._stamp and time.monotonic() < known.read_at + LONGEST_SECONDS:
            return known.values
        stamp = self._stamp_of(member)  # before the row is read
        values = read(member)
        if values and stamp is not None:
            if len(_rows) >= _MOST_ROWS:
                _rows.clear()
            _rows[member] = Row(stamp, time.monotonic(), values)
        return values

    def _stamp_of(self, member: int) -> int | None:
        """Return the stamp under which a row can be remembered that is read from now on; None for not at all."""
        if member != self._asked:
            return None
        if self._stamp is None and _cache().add(_name(member), stamp := secrets.randbits(62), _STAMP_SECONDS):
            self._stamp = stamp
        return self._stamp


def _know(key: str, data: Any) -> None:
    if key and key not in _members and (member := data.get(SESSION_KEY)):
        if len(_members) >= _MOST_SESSIONS:
            _members.clear()
        _members[key] = int(member)


def _name(member: int) -> str:
    return f"account-{member}"


def forget(*members: int) -> None:
    """Let no process use the rows that it remembers of these members. Call it after each change of them.

    Within a transaction also after its end, since until then others read the former row.
    """
    _delete_stamps(members)
    if transaction.get_connection().in_atomic_block:
        transaction.on_commit(partial(_delete_stamps, members))


def forget_all_of_others(database: object) -> None:
    """Forget all rows that this process remembers if it read them from another database than this."""
    if database != _read_from[0]:
        _rows.clear()
        _read_from[0] = database


def _delete_stamps(members: tuple[int, ...]) -> None:
    try:
        _cache().delete_many([_name(member) for member in members])
    except Exception:  # the change itself has been made
        _log.exception("Some processes may use former rows of accounts for %s s", LONGEST_SECONDS)


def _forget_changed(instance: Any, **_signal: Any) -> None:
    forget(getattr(instance, "user_id", instance.pk))


def _forget_permitted(
    instance: Any, action: str, *, reverse: bool, pk_set: set[int] | None, **_signal: Any
) -> None:
    if not reverse:
        forget(instance.pk)
    elif pk_set is not None:
        forget(*pk_set)
    elif action == "pre_clear":  # the transaction that clears has begun
        forget(*instance.user_set.values_list("pk", flat=True))


for _signal in (post_save, post_delete):
    for _changed in ("accounts.User", "accounts.Block", "accounts.Mute"):
        _signal.connect(_forget_changed, _changed)
for _relation in ("accounts.User_groups", "accounts.User_user_permissions"):
    m2m_changed.connect(_forget_permitted, _relation)
