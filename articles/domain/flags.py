"""Flags: members report an article or a comment to the moderators, who decide."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from articles.domain.articles import Article
from articles.domain.comments import Comment, CommentId
from articles.domain.members import UserId

SubjectId = CommentId  # what is flagged: the id of a comment, or `root_of` an article

MOST_FLAGS = 200
"""Maximum number of flags on one article or comment, open and decided: with that many, the moderators know."""

FLAGGED_REASON = "Flagged by many members."
"""Reason for a removal by the site itself, which FLAGS_TO_REMOVE permits."""


class FlagReason(StrEnum):
    """What is wrong with what a member flags."""

    SPAM = "spam"
    OFF_TOPIC = "off-topic"
    BROKEN_LINK = "broken-link"
    AGAINST_RULES = "against-rules"
    WITHDRAWAL = "withdrawal"
    """The poster asks to withdraw the article. It says nothing of how good the poster's flags are."""

    @property
    def needs_words(self) -> bool:
        """Whether the member must add which rule it breaks."""
        return self is FlagReason.AGAINST_RULES


_BETWEEN_RULES = " / "


def words_of_rules(names: Iterable[str]) -> str:
    """Return the words of a flag by rules: their names."""
    return _BETWEEN_RULES.join(names)


def rules_named(words: str) -> list[str]:
    """Return the names of the rules that set a flag with these words."""
    return words.split(_BETWEEN_RULES)


class FlagState(StrEnum):
    """Whether moderators have decided on a flag, and how."""

    OPEN = "open"
    REMOVED = "removed"
    KEPT = "kept"


def weight(right: int, wrong: int) -> float:
    """Return the weight of a member's next flag, between 0 and 2: a new member's is 1.

    Twice the share of flags that led to a removal, as Laplace's rule of succession estimates it.
    """
    return 2 * (right + 1) / (right + wrong + 2)


@dataclass(frozen=True, slots=True)
class Flag:
    """A member's flag on one article or comment."""

    subject: SubjectId
    member: UserId  # 0 for a flag by rules of the moderators, whose names are its words; it has no weight
    reason: FlagReason
    words: str
    at: float  # when it was set, in Unix seconds
    weight: float
    state: FlagState = FlagState.OPEN
    kept: str = ""  # why moderators last kept what is flagged; "" if they gave no reason, or have not kept it


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """An article or a comment with open flags. `flags` are the open ones, the heaviest first."""

    subject: SubjectId
    article: Article
    comment: Comment | None  # none if the article itself is flagged
    flags: tuple[Flag, ...]

    @property
    def weight(self) -> float:
        return sum(flag.weight for flag in self.flags)

    @property
    def first_at(self) -> float:
        """Time of the oldest open flag, in Unix seconds."""
        return min(flag.at for flag in self.flags)

    @property
    def author(self) -> UserId:
        return self.article.poster if self.comment is None else self.comment.author

    @property
    def author_name(self) -> str:
        return self.article.poster_name if self.comment is None else self.comment.author_name

    @property
    def reasons(self) -> Mapping[FlagReason, int]:
        """The number of open flags by reason, the most frequent first."""
        return dict(Counter(flag.reason for flag in self.flags).most_common())


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One page of the moderators' queue, the heaviest entries first; of equal weight, the oldest first."""

    entries: tuple[QueueEntry, ...]
    number: int
    has_next: bool
    subjects: tuple[SubjectId, ...] = ()
    """What the entries are about, and what was decided while the page was read."""
