"""What the accounts database keeps of ballots: members' keys, records of closed articles, and the chain."""

import gzip
import secrets

from django.db import models

from accounts.models import User
from accounts.models.members import Row
from integrity.ballots import chain_text


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
    day = models.DateField(help_text="Day of the chain.")
    digest = models.CharField(max_length=64)
    head = models.TextField(help_text="JSON, of which the digest is the hash.")
    ballots = models.BinaryField(null=True, help_text="The public file, compressed; none once they are dropped.")

    class Meta(Row.Meta):
        ordering = ["article_id", "version"]
        constraints = (models.UniqueConstraint(fields=["article_id", "version"], name="ballot_version"),)
        indexes = (models.Index(fields=["day"], name="ballots_by_day"),)

    def packed_file(self) -> bytes:
        """Return the public file, compressed: without ballots if they were dropped."""
        return bytes(self.ballots or gzip.compress(f'{{"head":{self.head}}}'.encode(), mtime=0))


class MonthReport(Row):
    """The report of a month, as it was published. Rows are only added."""

    month = models.DateField(primary_key=True, help_text="Its first day.")
    day = models.DateField(help_text="Day of the chain.")
    digest = models.CharField(max_length=64)
    text = models.TextField(help_text="JSON, of which the digest is the hash.")

    class Meta(Row.Meta):
        ordering = ["month"]


class ChainDay(Row):
    """A day of the chain with all that was recorded on it. Rows are only added."""

    day = models.DateField(primary_key=True)
    hash = models.CharField(max_length=64)
    number = models.PositiveIntegerField(help_text="How many records and reports it has.")
    text = models.TextField(help_text="JSON, of which the hash is taken.")

    class Meta(Row.Meta):
        ordering = ["day"]


def chain_file() -> str:
    """Return the public file of the chain: all days, the oldest first, without what was recorded on them."""
    days = ChainDay.objects.order_by("day").values_list("day", "hash")
    return chain_text((day.isoformat(), hashed) for day, hashed in days)
