"""Members, as the repository knows them: by id."""

UserId = int
UNKNOWN_POSTER: UserId = 0
"""Poster of an imported article whose source names none."""

DELETED_MEMBER: UserId = -1
"""Poster of an article whose poster's account is deleted."""

DELETED_NAME = "~"
"""Stands in the moderation log for a member whose account is deleted. No member's name is like it."""

PLACEHOLDERS = range(1_000_000_000, 2_000_000_000)
"""User ids that stand for the unnamed voters of imported articles. No account ever gets one."""
