"""Member ids as the repository stores them, and those with a special meaning."""

UserId = int
UNKNOWN_POSTER: UserId = 0  # poster of an imported article whose source does not name one
DELETED_MEMBER: UserId = -1  # poster of articles by members whose accounts are deleted

DELETED_NAME = "~"  # replaces the name of a deleted account in the moderation log; no member can have this name
PLACEHOLDERS = range(1_000_000_000, 2_000_000_000)
"""User ids of the unnamed voters of imported articles. No account ever has one."""
