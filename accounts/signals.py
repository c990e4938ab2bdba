"""Signals about accounts. Receivers run in the sender's transaction: one that fails undoes the act."""

from django.dispatch import Signal

banned = Signal()
"""A ban from the whole site begins: the sender is the account's model, `member` the account."""

deletion_begun = Signal()
"""An account is being deleted: the sender is its model, `member` the account. Its rows elsewhere have to go."""
