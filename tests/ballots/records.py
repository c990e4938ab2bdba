"""Ballot records that a site made, and what is wrong with them."""

from accounts.models import BallotRecord
from articles.domain.ballots import Record
from articles.repository import Repository
from articles.web.ballots import check_counts
from tests import extras


def record_of(article: int, version: int | None = None) -> Record:
    """Return the record of an article, the latest version or this one."""
    rows = BallotRecord.objects.filter(article_id=article).order_by("-version")
    row = rows.get(version=version) if version else rows[0]
    return Record.unpacked(bytes(row.ballots))


def wrong(repository: Repository) -> list[str]:
    """Return what the audit finds wrong with records, and extras that read them."""
    found = [*check_counts(repository)]
    return found + [one for find in extras.all_of("find_wrong") for one in find(repository)]
