"""The site's constants."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The site's constants. Times in seconds.

    Those without a value are settings, which articles/wiring.py fills in; the others are not configurable.
    """

    voting_window: float
    """Of articles posted from now on. Each keeps the one it was posted with: see `Article.closes_at`."""

    votes_per_day: int | None
    """Votes that are worth a day on the front page; None where the site learns that from its own articles."""

    per_page: int
    repost_window: int
    edit_window: float

    view_repeat: int
    """How soon a visitor's next view of an article counts."""

    views_per_network_and_article: int
    views_per_network: int

    hot_refresh: int
    """How old the hot list's scores may become."""

    archive_after: float
    """How long after its last view an article's counters leave the store."""

    voters_grace: int = 2 * 86400
    """How long voter sets outlive the voting window: longer than any clock is wrong."""

    max_groups_by_poster: int = 5

    max_saved: int = 2000
    """Articles a member can save."""

    network_window: int = 600
    """In which a network's views are limited; more of them are suspect."""

    hot_size: int = 1000
    """Articles on the hot list."""
