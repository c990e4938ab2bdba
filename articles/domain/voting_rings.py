"""Voting rings: many new accounts of one network that chose on one article within a short time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VotingRing:
    """A voting ring that no moderator has checked. Times in Unix seconds."""

    accounts: int
    """The highest number of new accounts of one network, since the last check."""

    first_at: float
    last_at: float
