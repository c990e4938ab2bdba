"""Moderation: its public log, the flags on which it decides, and the voting rings that it checks."""

from articles.repository.moderation.flags import Flags
from articles.repository.moderation.log import ModerationLog
from articles.repository.moderation.voting_rings import VotingRings

__all__ = ["Flags", "ModerationLog", "VotingRings"]
