"""What a site's processes ask about a move: whether one is in progress, and where the store is now."""

from articles.repository.moving import marks
from articles.repository.moving.marks import Place
from articles.repository.store.connection import Store
from articles.repository.store.move_state import MoveState, state_of


class Moves:
    """The moves of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_state(self) -> MoveState:
        """Return whether the site is being moved from this store, or has been. One round trip."""
        return state_of(self._store)

    def get_new_place(self) -> Place | None:
        """Return the store that the site was moved to from this one; None if it was not. One round trip."""
        return marks.other_place(self._store, marks.MOVED_TO)

    def get_former_place(self) -> Place | None:
        """Return the store that the site was moved here from, until the move is confirmed. One round trip."""
        return marks.other_place(self._store, marks.MOVED_FROM)

    def complete(self, former: "Moves") -> None:
        """Let the site use this store if the move from the former one was interrupted right before that.

        The former store has led here, so the site is here. Three round trips. Idempotent.
        """
        marks.open_copy(self._store, marks.move_of(former._store, marks.MOVE))

    def cancel(self) -> bool:
        """Cancel an interrupted move or undo; return whether there was one. Four round trips. Idempotent."""
        state = self.get_state()
        if state in (MoveState.NONE, MoveState.NOTING) or self.get_new_place() is not None:
            return False
        if self.get_former_place() is not None:
            marks.reopen(self._store, marks.NOTING)
        else:
            marks.clear(self._store)
        return True

    def confirm(self) -> None:
        """Stop recording changes for a return to the former store. One round trip. Idempotent."""
        marks.clear(self._store)
