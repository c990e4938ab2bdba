"""What the stores of a move say about it: whether changes are noted or refused, and where the site has gone.

`Moves` answers what a site's processes ask about it.
"""

import json
from typing import NamedTuple
from uuid import uuid4

from articles.repository.store import keys as names
from articles.repository.store.connection import Call, OfStore, Store
from articles.repository.store.move_state import MoveState, state_of
from articles.repository.store.schema import RESTORING

MOVED_TO, MOVED_FROM = "moved_to", "moved_from"
"""Fields of the stamp that name the other store."""

MOVE, COPY = "move", "copy"
"""Fields of the two stamps that hold a move's random name: in the store that is moved, from the beginning; in the
other one, from when everything has been copied once until the site may use it."""

COPYING, NOTING = "copying", "noting"
"""Marks of a store that is copied, and of one that the site was moved to and may return from."""


class Place(NamedTuple):
    """Where a store is."""

    url: str
    shards: int

    @classmethod
    def parse(cls, text: str | None) -> "Place | None":
        """Return the place in a field of the stamp; None for no text."""
        return cls(*json.loads(text)) if text else None

    def as_text(self) -> str:
        return json.dumps(list(self))


def name_move(store: Store) -> None:
    """Begin another move from this store: no copy made by an earlier one is continued. One round trip."""
    with store.commands() as client:
        client.hset(names.SCHEMA, MOVE, uuid4().hex)


def move_of(store: Store, field: str) -> str | None:
    """Return the name of the move in a field of the stamp. One round trip."""
    with store.commands() as client:
        name: str | None = client.hget(names.SCHEMA, field)
    return name


def note_changes(store: Store, mark: str = COPYING) -> None:
    """Let every change record what it changes. One round trip. Idempotent."""
    store.in_shards(lambda pipe, keys: (pipe.set(keys.moving, mark), pipe.unlink(keys.closed)))


def refuse_changes(store: Store, seconds: int) -> None:
    """Let every shard refuse changes for some seconds. One round trip."""
    store.in_shards(lambda pipe, keys: pipe.set(keys.closed, 1, ex=seconds))


def take_changed(store: Store) -> dict[str, list[str]]:
    """Return the names of changed keys by their shard's prefix; the same again, and more, until `forget_taken`."""
    return {
        keys.prefix: store.run("moving/take_changed", [keys.changed, keys.taken], []) for keys in store.shards.all
    }


def forget_taken(store: Store) -> None:
    """Forget which changed keys were taken. One round trip."""
    store.in_shards(lambda pipe, keys: pipe.unlink(keys.taken))


def count_changed(store: Store) -> int:
    """Return how many keys have changed since they were taken. One round trip."""
    return sum(store.in_shards(lambda pipe, keys: pipe.scard(keys.changed)))


def finish(store: Store) -> bool:
    """Refuse all further changes. Returns False if it is too late: changes were made again in a shard."""
    calls = [Call("moving/finish", [keys.moving, keys.closed], []) for keys in store.shards.all]
    return all(reply == ["ok"] for reply in store.run_together(calls))


def reopen(store: Store, mark: str) -> None:
    """Accept and record changes again, after a move that could not be finished. Two round trips."""
    with store.commands() as client:
        client.hdel(names.SCHEMA, MOVED_TO)
    note_changes(store, mark)


def close_copy(store: Store, restored: str, move: str) -> None:
    """Let no site start on a store: it is a copy that a move will continue. Two round trips. Idempotent.

    Processes that the store leads to where the site is are still led there.
    """
    with store.commands() as client:
        client.hset(names.SCHEMA, mapping={RESTORING: restored, COPY: move})
    clear(store, MOVED_FROM, MOVE)


def open_copy(store: Store, move: str | None) -> None:
    """Let the site use the store that a move, given by its name, has led to. Two round trips. Idempotent."""
    if move is not None and move_of(store, COPY) == move:
        with store.commands() as client:
            client.hdel(names.SCHEMA, RESTORING, COPY, MOVED_TO)


def clear(store: Store, *fields: str) -> None:
    """Forget the move: changes are neither recorded nor refused. One round trip. Idempotent.

    `fields`: what the stamp forgets; all by default.
    """
    with store.pipeline() as pipe:
        pipe.hdel(names.SCHEMA, *(fields or (MOVED_TO, MOVED_FROM, MOVE)))
        for keys in store.shards.all:
            for key in (keys.moving, keys.closed, keys.changed, keys.taken):
                pipe.unlink(key)
        pipe.execute()


def other_place(store: Store, field: str) -> Place | None:
    """Return the store that a field of the stamp names. One round trip."""
    with store.commands() as client:
        return Place.parse(client.hget(names.SCHEMA, field))


def name_place(store: Store, field: str, place: Place) -> None:
    """Name another store in a field of the stamp. One round trip."""
    with store.commands() as client:
        client.hset(names.SCHEMA, field, place.as_text())


class Moves(OfStore):
    """The moves of a store."""

    def get_state(self) -> MoveState:
        """Return whether the site is being moved from this store, or has been. One round trip."""
        return state_of(self._store)

    def get_new_place(self) -> Place | None:
        """Return the store that the site was moved to from this one; None if it was not. One round trip."""
        return other_place(self._store, MOVED_TO)

    def get_former_place(self) -> Place | None:
        """Return the store that the site was moved here from, until the move is confirmed. One round trip."""
        return other_place(self._store, MOVED_FROM)

    def complete(self, former: "Moves") -> None:
        """Let the site use this store if the move from the former one was interrupted right before that.

        The former store has led here, so the site is here. Three round trips. Idempotent.
        """
        open_copy(self._store, move_of(former._store, MOVE))

    def cancel(self) -> bool:
        """Cancel an interrupted move or undo; return whether there was one. Four round trips. Idempotent."""
        state = self.get_state()
        if state in (MoveState.NONE, MoveState.NOTING) or self.get_new_place() is not None:
            return False
        if self.get_former_place() is not None:
            reopen(self._store, NOTING)
        else:
            clear(self._store)
        return True

    def confirm(self) -> None:
        """Stop recording changes for a return to the former store. One round trip. Idempotent."""
        clear(self._store)
