"""What the core's tests have of integrity."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import BallotKey, BallotRecord, User
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.ballots import Ballot, Record, canonical, commitment_of, opening_of
from articles.repository import Repository
from articles.web.wiring import patient_repository
from extras.integrity.chain import complete_days
from extras.integrity.models import ChainDay, MonthReport
from extras.integrity.months import SECTIONS
from extras.integrity.verifying import verify
from tests.clock import DAY
from tests.store_state import change_article

PAGES = (
    ("ballot record", "/articles/{closed}/ballots/"),
    ("ballot record of a member", "/articles/{closed}/ballots/", "member"),
    ("ballot record, still open", "/articles/{own}/ballots/"),
    ("integrity", "/integrity/"),
    ("report of a month", "/integrity/2026-01/"),
    ("integrity of an empty site", "/integrity/", "", 200, None, "empty"),
)
WITHOUT_PAGE = {
    "a feed": "articles:chain_feed",
    "a file": """
        articles:ballot_proof articles:ballots articles:chain articles:chain_day articles:month_json
        articles:months_csv articles:verifier
    """,
}
CRAWLED = {
    "integrity", "chain", "chain_day", "chain_feed", "integrity_month", "month_json", "months_csv", "verifier",
}  # fmt: skip
FEEDS = ("/integrity/days",)
CHECK = "verify_ballots"
REMADE = ("MonthReport", "ChainDay")


def _record(article: int, voter: User, repository: Repository) -> date:
    """Record the ballots of a closed article yesterday: one of this member's, the others imported."""
    yesterday = timezone.now().date() - timedelta(days=1)
    opening = opening_of(bytes(BallotKey.objects.create(member=voter).key), article)
    ballot = Ballot(commitment_of(article, voter.pk, opening), Choice.VOTE)
    record = Record(article, 1, yesterday.isoformat(), (8, 2), "0" * 32, (ballot,))
    facts = {"digest": record.digest, "head": canonical(record.head), "ballots": record.packed()}
    BallotRecord.objects.create(article_id=article, version=1, day=yesterday, **facts)
    change_article(repository, article, {"ballots": 1})
    return yesterday


def stage(told: Mapping[str, Any], repository: Repository) -> None:
    """Record the ballots of the closed article, with a report."""
    yesterday = _record(told["closed"], User.objects.get(username="mia"), repository)
    figures = {name: number for number, name in enumerate(name for _, part in SECTIONS.values() for name in part)}
    text = canonical({"month": "2026-01", "figures": figures | {"bans": "<5"}})
    MonthReport.objects.create(month=date(2026, 1, 1), day=yesterday, digest="0" * 64, text=text)
    complete_days(timezone.now().date())


def fill(_member: User) -> None:
    month = date(2026, 11, 1)
    MonthReport.objects.create(month=month, day=date(2026, 12, 1), digest="r", text='{"figures": {}}')
    ChainDay.objects.create(day=month, hash="1", number=1, text="{}")


def use(member: User) -> None:
    """Record the ballots of an article that has closed."""
    repository = patient_repository()
    at = repository.store.now() - 9 * DAY
    closed = ImportedArticle("Closed", "https://example.org/closed", member.pk, member.username, at, 9, 2)
    repository.imports.add([closed])
    _record(repository.changes.get_last_id(), member, repository)


def find_wrong(repository: Repository) -> list[str]:
    """Return what is wrong with the records, the chain and the reports of the site."""
    return list(verify(repository, lambda *_: None, waits=()))
