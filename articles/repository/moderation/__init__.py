"""Log, flags, merges, removed articles and comments, sweeps, votes left out, voting rings."""

from articles.repository.moderation.flags import Flags
from articles.repository.moderation.left_out import LeftOutVotes
from articles.repository.moderation.log import ModerationLog
from articles.repository.moderation.merges import Merges
from articles.repository.moderation.redactions import Redactions
from articles.repository.moderation.removed import RemovedArticles, RemovedComments, Sweeps
from articles.repository.moderation.suggestions import Suggestions
from articles.repository.moderation.voting_rings import VotingRings
