"""What came from other sites: their ids of things, and the accounts that wait for their owners."""

from enum import StrEnum

from django.db import models
from django.utils import timezone

from accounts.models.members import Row, User

OLD_ID_LIMIT = 200  # characters


class Kind(StrEnum):
    """What an old id is of, and what its `new_id` is."""

    ARTICLE = "article"  # an article's id
    COMMENT = "comment"  # a comment's id
    MEMBER = "member"  # an account's id
    GROUP = "group"  # a group's slug
    PATH = "path"  # a path with its query, of a source whose addresses follow no pattern: "article 12"


class Source(Row):
    """A site that moved in, by the name that its operator gave it here."""

    name = models.CharField(max_length=60, unique=True)
    format = models.CharField(max_length=20)
    """A name of `sources.FORMATS`: it says how its addresses are read."""

    host = models.CharField(max_length=253, blank=True)
    """Where it was, such as `old.example`; empty if addresses of it do not lead here."""

    begun_at = models.DateTimeField(default=timezone.now)
    completed_at = models.DateTimeField(null=True)
    undo_begun_at = models.DateTimeField(null=True)
    """While what it brought is taken out: nothing comes meanwhile."""

    log_entries = models.JSONField(default=list)
    """With how many of its entries each part of the moderation log begins."""

    entering = models.JSONField(null=True)
    """The highest id of an article, and the moment, before the first import that is not completed."""

    @property
    def place(self) -> str:
        """What readers know it by."""
        return self.host or self.name


class Arrival(Row):
    """Something that came from a source: the id that it had there, and the one that it has here."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="arrivals")
    kind = models.CharField(max_length=7)
    old_id = models.CharField(max_length=OLD_ID_LIMIT)
    new_id = models.CharField(max_length=60)
    is_made = models.BooleanField(default=True)
    """Whether the import made it, and not an earlier old id of it: an undo leaves what was here before."""

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["source", "kind", "old_id"], name="arrive_once"),)


class MovedAccount(Row):
    """An account that an import made, until its owner claims it. Its name is reserved meanwhile."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="moved")
    source = models.ForeignKey(Source, models.CASCADE, related_name="accounts")
    address = models.CharField(max_length=254, blank=True)
    """The owner's address there, if MOVING_IN_ADDRESSES lets it be kept: it proves whose the account is."""

    claimed_at = models.DateTimeField(null=True)


class FollowedFeed(Row):
    """A feed whose new entries housekeeping holds for the moderators, as posts of a member."""

    address = models.CharField(max_length=2048, unique=True)
    member = models.ForeignKey(User, models.CASCADE, related_name="followed_feeds")
    group = models.CharField(max_length=60, blank=True)
    known = models.JSONField(default=list, help_text="Digests of the ids of entries, the newest first.")
    etag = models.CharField(max_length=200, blank=True)
    modified = models.CharField(max_length=200, blank=True)
    next_at = models.DateTimeField(default=timezone.now)
    failures = models.PositiveIntegerField(default=0, help_text="Since it was last read.")
    problem = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        told = f": {self.problem}" if self.problem else ""
        return f"{self.address} (as {self.member.username}, group {self.group or 'none'}){told}"
