"""The site's constants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from articles.domain.errors import LimitReached, NewMemberLimitReached
from articles.domain.limits import FOR_NEW_MEMBERS, Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of the site. Times in seconds.

    Fields without a default are settings, which articles/web/wiring.py fills in; the others are not configurable.
    """

    voting_window: float
    """Voting window of new articles. Each article keeps the one it was posted with: see `Article.closes_at`."""

    votes_per_day: int | None
    """Votes that outweigh one day of age on the front page; None if the site learns them from its articles."""

    per_page: int
    repost_window: int
    edit_window: float

    views_per_network: int  # views that count from a network in `network_window`; beyond them they are suspect
    ring_accounts: int  # new accounts of one network that make a voting ring; 0 if none is looked for
    new_member: float  # age up to which a member is new, for the limits of new members; 0 if age does not matter
    trusted_points: int  # points from other members up to which a member is new; 0 if points do not matter
    flags_to_remove: float
    """Weight of flags with which the site removes an article or a comment; 0 if only moderators do."""

    records_ballots: bool  # whether ballot records are made, before voter sets are dropped
    limits: Mapping[str, Rate] = field(hash=False)  # rate limits by name; an action without one is not limited
    view_repeat: int = 600  # time after which a visitor's next view of an article counts
    new_account: int = 86400  # age up to which an account is new, for voting rings
    ring_window: int = 3600  # period in which the votes of a voting ring count together
    hot_refresh: int = 60  # age at which the hot list is stale
    archive_after: float = 90 * 86400  # time after its last view until an article's counters are archived
    voters_grace: int = 2 * 86400
    """Time by which voter sets outlive the voting window: more than the error of any clock."""

    max_groups_by_poster: int = 5

    max_saved: int = 2000  # articles a member can save
    network_window: int = 600
    """Period in which the views of a network are limited; views beyond the limits are suspect."""

    hot_size: int = 1000  # articles on the hot list

    def refuse(self, limit: str, wait_ms: int) -> NoReturn:
        """Raise LimitReached; for a limit of new members NewMemberLimitReached."""
        if limit in FOR_NEW_MEMBERS:
            uses, seconds = self.limits[limit]
            raise NewMemberLimitReached(
                limit, wait_ms, uses=uses, seconds=seconds, age=self.new_member, points=self.trusted_points
            )
        raise LimitReached(limit, wait_ms)
