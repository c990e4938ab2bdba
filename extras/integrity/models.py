"""What the accounts database keeps of the chain: its days, and the reports of months."""

from django.db import models

from accounts.models.members import Row
from extras.integrity.texts import chain_text


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
