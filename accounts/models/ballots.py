"""What the accounts database keeps of ballots: members' keys, and the records of closed articles."""

import gzip
import secrets

from django.db import models

from accounts.models.members import Row, User


def new_key() -> bytes:
    """Return a random key."""
    return secrets.token_bytes(32)


class BallotKey(Row):
    """A member's secret key of all their ballots. Deletion of the account destroys it."""

    member = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="ballot_key")
    key = models.BinaryField(default=new_key)


class BallotRecord(Row):
    """One version of the record of a closed article. Rows are added, and only lose their ballots."""

    article_id = models.BigIntegerField()
    version = models.PositiveSmallIntegerField()
    day = models.DateField(help_text="When it was made.")
    digest = models.CharField(max_length=64)
    head = models.TextField(help_text="JSON, of which the digest is the hash.")
    ballots = models.BinaryField(null=True, help_text="Head and ballots, compressed; none once they are dropped.")

    class Meta(Row.Meta):
        ordering = ["article_id", "version"]
        constraints = (models.UniqueConstraint(fields=["article_id", "version"], name="ballot_version"),)
        indexes = (models.Index(fields=["day"], name="ballots_by_day"),)

    def packed_file(self) -> bytes:
        """Return head and ballots, compressed: without ballots if they were dropped."""
        return bytes(self.ballots or gzip.compress(f'{{"head":{self.head}}}'.encode(), mtime=0))
