"""Member ids as the repository stores them, and those with a special meaning."""

UserId = int
UNKNOWN_POSTER: UserId = 0  # poster of an imported article whose source does not name one
DELETED_MEMBER: UserId = -1  # poster of articles by members whose accounts are deleted


def shown_poster(user: UserId, name: str) -> tuple[UserId, UserId | None]:
    """Return the poster or author that readers may compare, and the number of a deleted account, for moderators.

    For some time, what a deleted account posted keeps its number, without a name: for everyone but moderators it
    belongs to DELETED_MEMBER at once.
    """
    return (DELETED_MEMBER, user) if user > 0 and not name else (user, None)


DELETED_NAME = "~"  # replaces the name of a deleted account in the moderation log; no member can have this name
PLACEHOLDERS = range(1_000_000_000, 2_000_000_000)
"""User ids of the unnamed voters of imported articles. No account ever has one."""
