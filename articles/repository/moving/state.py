"""What a site's processes ask about a move: whether one is in progress, and where the store is now."""

from articles.repository.moving import marks
from articles.repository.moving.marks import MoveState, Place
from articles.repository.store.connection import Store


class Moves:
    """The moves of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_state(self) -> MoveState:
        """Return whether the site is being moved from this store, or has been. One round trip."""
        return marks.state_of(self._store)

    def get_new_place(self) -> Place | None:
        """Return the store that the site was moved to from this one; None if it was not. One round trip."""
        return marks.other_place(self._store, marks.MOVED_TO)

    def get_former_place(self) -> Place | None:
        """Return the store that the site was moved here from, until the move is confirmed. One round trip."""
        return marks.other_place(self._store, marks.MOVED_FROM)

    def cancel(self) -> bool:
        """Cancel an unfinished move; return whether there was one. Two round trips. Idempotent."""
        if self.get_state() not in (MoveState.COPYING, MoveState.CLOSED):
            return False
        marks.clear(self._store)
        return True

    def confirm(self) -> None:
        """Stop recording changes for a return to the former store. One round trip. Idempotent."""
        marks.clear(self._store)
