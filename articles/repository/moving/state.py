"""What a site's processes ask about a move: whether one is going on, and where the store is now."""

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
        """Return where the site was moved to from this store; None if it was not. One round trip."""
        return marks.other_place(self._store, marks.MOVED_TO)

    def get_former_place(self) -> Place | None:
        """Return from where the site was moved to this store, until the move is confirmed. One round trip."""
        return marks.other_place(self._store, marks.MOVED_FROM)

    def cancel(self) -> bool:
        """Give up a move that was not finished; return whether there was one. Two round trips. Idempotent."""
        if self.get_state() not in (MoveState.COPYING, MoveState.CLOSED):
            return False
        marks.clear(self._store)
        return True

    def confirm(self) -> None:
        """Stop noting changes for a return to the former store. One round trip. Idempotent."""
        marks.clear(self._store)
