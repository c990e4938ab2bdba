"""Make the ballot records of a backup of format 1 again in format 2, in which each text has one spelling.

Numbers, ballots, trees and days stay; heads and their hashes are others.
"""

import gzip
import json
from contextlib import suppress

from accounts.models import BallotRecord
from articles.domain.ballots import FIRST, FORMAT, canonical, digest_of

_NUMBERS = (
    "article", "version", "votes", "opposes", "votes_left_out", "opposes_left_out", "unnamed_votes",
    "unnamed_opposes",
)  # fmt: skip
"""What a head of format 1 begins with."""


def remake() -> None:
    """Make all records again. A damaged one stays as it is, and is found."""
    former = dict[int, str]()
    for pk in BallotRecord.objects.order_by("article_id", "version").values_list("pk", flat=True):
        record = BallotRecord.objects.get(pk=pk)
        with suppress(ValueError, OSError, KeyError):
            _remake(record, former.get(record.article_id, FIRST))
        former[record.article_id] = record.digest


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
