"""Make the chain of a backup of format 1 again in format 2, in which each text has one spelling. Days stay."""

import json
from collections.abc import Mapping
from typing import Any

from accounts.models import BallotRecord
from articles.domain.ballots import FIRST, FORMAT, canonical, digest_of
from extras.integrity.models import ChainDay, MonthReport
from extras.integrity.texts import day_text


def remake(migrations: Mapping[str, str], **_: Any) -> None:
    """Make all reports and days again, after the records. Receiver of `loaded` of `articles.backup.accounts`."""
    if migrations.get("integrity") != "0001_initial":
        return
    for report in MonthReport.objects.all():
        report.text = canonical(json.loads(report.text) | {"format": FORMAT, "kind": "month"})
        report.digest = digest_of(report.text)
        report.save(update_fields=["text", "digest"])
    previous = FIRST
    for day in ChainDay.objects.order_by("day"):
        records = list(BallotRecord.objects.filter(day=day.day).values_list("article_id", "version", "digest"))
        reports = MonthReport.objects.filter(day=day.day).values_list("month", "digest")
        months = [(f"{month:%Y-%m}", digest) for month, digest in reports]
        day.text = day_text(previous, day.day.isoformat(), records, months)
        day.number = len(records) + len(months)
        previous = day.hash = digest_of(day.text)
        day.save(update_fields=["text", "number", "hash"])
