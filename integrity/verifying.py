"""Verifying: whether records are what the chain says, and what the store counts. Reads only."""

import json
from collections.abc import Callable, Iterable, Iterator

from articles.repository import Repository
from integrity.ballots import FIRST, Record, canonical, day_text, digest_of
from integrity.models import BallotRecord, ChainDay, MonthReport

Progress = Callable[[int, int], None]
"""Receives the number of records done so far, and of all."""

_ROWS, _ARTICLES = 100, 500


def verify(repository: Repository, progress: Progress) -> Iterator[str]:
    """Yield what is wrong with records and their chain. Raises StoreError, DatabaseError."""
    yield from _check_chain()
    total, done, before = BallotRecord.objects.count(), 0, None
    for row in BallotRecord.objects.order_by("article_id", "version").iterator(chunk_size=_ROWS):
        same = before if before and before.article == row.article_id else None
        record = _unpacked(row)
        if record is not None:
            yield from _check_record(row, record, same)
        before, done = record, done + 1
        progress(done, total)
    yield from check_counts(repository)


def _unpacked(row: BallotRecord) -> Record | None:
    """Return a record; None if its ballots were dropped."""
    return Record.unpacked(bytes(row.ballots)) if row.ballots else None


def _check_record(row: BallotRecord, record: Record, before: Record | None) -> Iterator[str]:
    name = f"ballots of article {row.article_id}, version {row.version}"
    commitments = [ballot.commitment for ballot in record.ballots]
    if commitments != sorted(set(commitments)):
        yield f"{name}: twice the same ballot, or not sorted"
    facts = (record.article, record.version, record.day, record.digest, canonical(record.head))
    if facts != (row.article_id, row.version, row.day.isoformat(), row.digest, row.head):
        yield f"{name}: the file does not fit its digest"
    own = [{ballot for ballot in one.ballots if not ballot.origin} for one in (before or record, record)]
    if own[0] != own[1]:
        yield f"{name}: votes on the article itself have changed"


def _check_chain() -> Iterator[str]:
    previous, chained, last = FIRST, set[str](), None
    for day in ChainDay.objects.order_by("day"):
        last, name, found = day.day, day.day.isoformat(), json.loads(day.text)
        if found["previous"] != previous:
            yield f"day {name} of the chain does not follow the one before"
        records, reports = map(tuple, found["records"]), map(tuple, found["reports"])
        if digest_of(day.text) != day.hash or day_text(previous, name, records, reports) != day.text:
            yield f"day {name} of the chain does not fit its hash"
        previous = day.hash
        chained.update(one[-1] for one in (*found["records"], *found["reports"]))
    rows = BallotRecord.objects.values_list("article_id", "version", "digest", "day")
    for article, version, digest, made_on in rows.iterator(chunk_size=_ROWS):
        if digest not in chained and last is not None and made_on <= last:
            yield f"ballots of article {article}, version {version}: not in the chain"
        chained.discard(digest)
    for month, digest, text in MonthReport.objects.values_list("month", "digest", "text"):
        if digest_of(text) != digest:
            yield f"the report of {month:%Y-%m} does not fit its digest"
        chained.discard(digest)
    for digest in sorted(chained):
        yield f"the record {digest} of the chain is missing"


def check_counts(repository: Repository) -> Iterator[str]:
    """Yield articles whose counts in the store are not those of their latest record.

    What is wrong is read twice: records may be made meanwhile.
    """
    last = repository.changes.get_last_id()
    for first in range(1, last + 1, _ARTICLES):
        found = _wrong_counts(repository, range(first, min(first + _ARTICLES, last + 1)))
        yield from (_wrong_counts(repository, found) if found else found).values()


def _wrong_counts(repository: Repository, articles: Iterable[int]) -> dict[int, str]:
    """Return those of the articles that differ from their records, and how. One query, one round trip."""
    noted = {article: facts for article, facts in repository.ballots.get_counts([*articles]).items() if facts[0]}
    rows = BallotRecord.objects.filter(article_id__in=noted).order_by("version")
    heads = {article: json.loads(head) for article, head in rows.values_list("article_id", "head")}
    wrong = dict[int, str]()
    for article, facts in noted.items():
        if article not in heads:
            wrong[article] = f"article {article}: its ballot record is missing"
        elif tuple(heads[article][name] for name in ("version", "votes", "opposes")) != facts:
            wrong[article] = f"article {article}: its votes are not those of its ballot record"
    return wrong
