"""What members silence: other members, whom they block, and discussions, which they mute."""

from django.db import connection, models, transaction
from django.utils import timezone

from accounts.models.members import Row, User, some_of

MOST_MUTED = 1_000  # discussions that one member can mute: further ones replace the oldest


_SPARED = """
SELECT user_id FROM accounts_block WHERE blocked_id = %s UNION SELECT user_id FROM accounts_mute WHERE article = %s
"""


class Block(Row):
    """A member whom another one blocks: articles are hidden, comments collapsed, and neither causes notices."""

    user = models.ForeignKey(User, models.CASCADE, related_name="blocks")
    blocked = models.ForeignKey(User, models.CASCADE, related_name="blocked_by")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["user", "blocked"], name="block_once"),)


class MuteManager(models.Manager["Mute"]):
    """Mute discussions, and find the members who want no notices."""

    @transaction.atomic
    def mute(self, user: User, article: int) -> None:
        """Mute the discussion of an article. Idempotent."""
        self.get_or_create(user=user, article=article)
        some_of(self.filter(user=user).order_by("-created_at", "-pk"), after=MOST_MUTED).delete()

    def list_muted(self, user: User) -> list[int]:
        """Return the articles whose discussions a member mutes, the last muted first. One query, for most none."""
        if not user.is_muting:
            return []
        return list(self.filter(user=user).order_by("-created_at", "-pk").values_list("article", flat=True))

    def list_spared(self, author: int, article: int | None) -> frozenset[int]:
        """Return the ids of those who want no notice of what a member writes, in a discussion or outside of any.

        One plain query, which every comment waits for: the ORM takes twenty times as long.
        """
        with connection.cursor() as cursor:
            cursor.execute(_SPARED, [author, article])
            return frozenset(user for (user,) in cursor.fetchall())


class Mute(Row):
    """A discussion whose comments cause no notices for a member."""

    user = models.ForeignKey(User, models.CASCADE, related_name="mutes")
    article = models.BigIntegerField(db_index=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = MuteManager()

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["user", "article"], name="mute_once"),)
