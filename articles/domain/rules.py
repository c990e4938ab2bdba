"""The site's constants."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """The site's constants. Times in seconds."""

    voting_window: float = 7 * 86400
    """Of articles posted from now on. Each keeps the one it was posted with: see `Article.closes_at`."""

    votes_per_day: int | None = None
    """Votes that are worth a day on the front page; None where the site learns that from its own articles."""

    per_page: int = 25
    repost_window: int = 48 * 3600
    edit_window: float = 15 * 60
    voters_grace: int = 2 * 86400
    """How long voter sets outlive the voting window: longer than any clock is wrong."""

    max_groups_by_poster: int = 5

    max_saved: int = 2000
    """Articles a member can save."""

    view_repeat: int = 600
    """How soon a visitor's next view of an article counts."""

    views_per_network_and_article: int = 30
    views_per_network: int = 300
    network_window: int = 600
    """In which a network's views are limited; more of them are suspect."""

    hot_refresh: int = 60
    """How old the hot list's scores may become."""

    hot_size: int = 1000
    archive_after: float = 90 * 86400
    """How long after its last view an article's counters leave the store."""
