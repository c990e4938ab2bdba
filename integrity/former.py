"""Make the ballot records of a backup of format 1 again in format 2, in which each text has one spelling.

Numbers, ballots, trees and days stay; hashes of heads, reports and days are others.
"""

import gzip
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from integrity.ballots import FIRST, FORMAT, canonical, day_text, digest_of
from integrity.models import BallotRecord, ChainDay, MonthReport

_NUMBERS = (
    "article", "version", "votes", "opposes", "votes_left_out", "opposes_left_out", "unnamed_votes",
    "unnamed_opposes",
)  # fmt: skip
"""What a head of format 1 begins with."""


def remake(migrations: Mapping[str, str], **_: Any) -> None:
    """Make all records, reports and days again. Receiver of `loaded` of `articles.backup.accounts`."""
    if migrations.get("integrity") != "0001_initial":
        return
    former = dict[int, str]()
    for pk in BallotRecord.objects.order_by("article_id", "version").values_list("pk", flat=True):
        record = BallotRecord.objects.get(pk=pk)
        with suppress(ValueError, OSError, KeyError):  # a damaged record stays as it is, and is found
            _remake(record, former.get(record.article_id, FIRST))
        former[record.article_id] = record.digest
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


def _remake(record: BallotRecord, former: str) -> None:
    *numbers, root, nonce = record.head.split(" ")
    counts = dict(zip(_NUMBERS, map(int, numbers), strict=True))
    unnamed = counts["unnamed_votes"] + counts["unnamed_opposes"]
    head = counts | {
        "ballots": counts["votes"] + counts["opposes"] - unnamed,
        "day": record.day.isoformat(),
        "format": FORMAT,
        "former": former,
        "kind": "record",
        "nonce": nonce,
        "root": root,
    }
    if record.ballots:
        ballots = json.loads(gzip.decompress(bytes(record.ballots)))["ballots"]
        record.ballots = gzip.compress(canonical({"ballots": ballots, "head": head}).encode(), mtime=0)
    record.head = canonical(head)
    record.digest = digest_of(record.head)
    record.save(update_fields=["head", "digest", "ballots"])
