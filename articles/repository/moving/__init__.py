"""Moving a site to another store, with other servers or another number of shards, while it is in use."""

from articles.repository.moving.marks import Moves, Place
from articles.repository.moving.move import Move, MoveFailed
from articles.repository.store.move_state import MoveState

__all__ = ["Move", "MoveFailed", "MoveState", "Moves", "Place"]
