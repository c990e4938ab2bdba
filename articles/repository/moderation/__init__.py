"""Moderation: its public log, the queue of flags, the removed articles, sweeps, and the voting rings."""

from articles.repository.moderation.flags import Flags
from articles.repository.moderation.log import ModerationLog
from articles.repository.moderation.removed import RemovedArticles
from articles.repository.moderation.sweeps import Sweeps
from articles.repository.moderation.voting_rings import VotingRings

__all__ = ["Flags", "ModerationLog", "RemovedArticles", "Sweeps", "VotingRings"]
