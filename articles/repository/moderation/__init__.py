"""Moderation: its public log, and the voting rings that it checks."""

from articles.repository.moderation.log import ModerationLog
from articles.repository.moderation.voting_rings import VotingRings

__all__ = ["ModerationLog", "VotingRings"]
