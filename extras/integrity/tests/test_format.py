"""The format has one reading: the example of README.md, and records of the former version."""

import gzip
import json
from pathlib import Path

import pytest

from accounts.models import BallotRecord
from articles.backup import former_ballots
from articles.domain.articles import Choice
from articles.domain.ballots import (
    FIRST,
    Ballot,
    Record,
    canonical,
    commitment_of,
    digest_of,
    opening_of,
    sorted_ballots,
)
from extras.integrity import former
from extras.integrity.models import ChainDay, MonthReport
from extras.integrity.texts import chain_text, day_text, month_text

KEYS = {member: bytes(member for _ in range(32)) for member in (7, 8, 9)}


def ballot(article, member, choice, *facts):
    return Ballot(commitment_of(article, member, opening_of(KEYS[member], article)), choice, *facts)


def example():
    """Return the files of a site with two articles: 41 was merged into 42 when both had closed."""
    merged = Record(41, 1, "2026-11-27", (0, 0), "41" * 16, (ballot(41, 9, Choice.VOTE),))
    own = [ballot(42, 7, Choice.VOTE), ballot(42, 8, Choice.OPPOSE, "probation")]
    first = Record(42, 1, "2026-11-27", (3, 1), "42" * 16, sorted_ballots(own))
    both = sorted_ballots([*own, ballot(42, 9, Choice.VOTE, "", 41)])
    second = Record(42, 2, "2026-12-01", (3, 1), "43" * 16, both, first.digest)
    figures = {"articles_closed": "<5", "opposes": "<5", "opposes_left_out": "<5", "votes": 5, "votes_left_out": 0}
    month = month_text("2026-11", figures)
    records = [(one.article, one.version, one.digest) for one in (first, merged)]
    november = day_text(FIRST, "2026-11-27", records, [])
    december = day_text(
        digest_of(november), "2026-12-01", [(42, 2, second.digest)], [("2026-11", digest_of(month))]
    )
    chain = chain_text([("2026-11-27", digest_of(november)), ("2026-12-01", digest_of(december))])
    place = second.find(own[0].commitment)
    proof = {
        "ballot": own[0].line,
        "format": 2,
        "head": second.head,
        "index": place,
        "kind": "proof",
        "member": 7,
        "opening": opening_of(KEYS[7], 42).hex(),
        "path": second.path(place),
    }
    return {
        "/articles/41/ballots.json": merged.text,
        "/articles/42/ballots.json?version=1": first.text,
        "/articles/42/ballots.json": second.text,
        "/integrity/2026-11.json": month,
        "/integrity/2026-11-27.json": november,
        "/integrity/2026-12-01.json": december,
        "/integrity/chain.json": chain,
        "/articles/42/ballots/proof.json": canonical(proof),
        "digests": [merged.digest, first.digest, second.digest, digest_of(month)],
    }


def test_the_example_of_the_specification_is_what_the_site_makes():
    text = Path(former.__file__).with_name("README.md").read_text()
    *files, (_, digests) = example().items()
    for address, file in files:
        assert f"\n{address}\n{file}\n" in text
    assert [digest for digest in digests if text.count(digest) < 2] == []


def head_of_format_1(record):
    numbers = (record.article, record.version, record.votes, record.opposes, *record.left_out, *record.unnamed)
    return " ".join([*map(str, numbers), record.root, record.nonce])


@pytest.mark.django_db
def test_records_of_the_former_format_are_made_again():
    """Numbers, ballots, trees and days stay; the chain begins again, and follows from its files."""
    files = example()
    own = [ballot(42, 7, Choice.VOTE), ballot(42, 8, Choice.OPPOSE, "probation")]
    both = sorted_ballots([*own, ballot(42, 9, Choice.VOTE, "", 41)])
    records = [
        Record(41, 1, "2026-11-27", (0, 0), "41" * 16, (ballot(41, 9, Choice.VOTE),)),
        Record(42, 1, "2026-11-27", (3, 1), "42" * 16, sorted_ballots(own)),
        Record(42, 2, "2026-12-01", (3, 1), "43" * 16, both),
    ]
    for one in records:
        lines = canonical({"ballots": [ballot.line for ballot in one.ballots]})
        packed = None if one.version == 2 else gzip.compress(lines.encode())
        head, key = head_of_format_1(one), {"article_id": one.article, "version": one.version}
        BallotRecord.objects.create(**key, day=one.day, digest="0" * 64, head=head, ballots=packed)
    damaged = {"digest": "0" * 64, "head": "damaged", "ballots": b"?"}
    BallotRecord.objects.create(article_id=43, version=1, day="2026-12-02", **damaged)
    figures = json.loads(files["/integrity/2026-11.json"])["figures"]
    text = canonical({"month": "2026-11", "figures": figures})
    MonthReport.objects.create(month="2026-11-01", day="2026-12-01", digest="0" * 64, text=text)
    for day in ("2026-11-27", "2026-12-01"):
        ChainDay.objects.create(day=day, hash=day, number=0, text="")

    former_ballots.remake()
    former.remake({"integrity": "0001_initial"})

    made = {(row.article_id, row.version): row for row in BallotRecord.objects.all()}
    assert gzip.decompress(made[41, 1].ballots).decode() == files["/articles/41/ballots.json"]
    assert gzip.decompress(made[42, 1].ballots).decode() == files["/articles/42/ballots.json?version=1"]
    assert json.loads(made[42, 2].head) == json.loads(files["/articles/42/ballots.json"])["head"]
    assert made[42, 2].ballots is None
    assert made[43, 1].head == "damaged"
    assert MonthReport.objects.get().text == files["/integrity/2026-11.json"]
    assert {f"/integrity/{day.day}.json": (day.text, day.number) for day in ChainDay.objects.all()} == {
        "/integrity/2026-11-27.json": (files["/integrity/2026-11-27.json"], 2),
        "/integrity/2026-12-01.json": (files["/integrity/2026-12-01.json"], 2),
    }
