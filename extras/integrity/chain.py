"""The chain: housekeeping reports months that have ended, and adds days that have records or reports.

Both follow from what was recorded. So the chain catches up after this folder was away for a while.
"""

from datetime import date, timedelta
from typing import Any

from django.db import transaction

from accounts.models import BallotRecord
from articles.domain.ballots import FIRST, digest_of
from articles.repository import Repository
from articles.web.ballots import today_of
from extras.integrity.models import ChainDay, MonthReport
from extras.integrity.months import complete_months
from extras.integrity.texts import day_text

_CHAINED = (BallotRecord, MonthReport)


def complete(repository: Repository, _seconds: float) -> int:
    """Complete months, and then days; return how many days. Idempotent; can be interrupted anywhere.

    So each day, or an earlier one, has the reports of all months before it. Raises StoreError, DatabaseError.
    """
    today = today_of(repository)
    complete_months(repository, max(today, first_open_day()), _next_day())
    return complete_days(today)


def _next_day() -> date:
    """Return the day after the last of the chain."""
    last = ChainDay.objects.order_by("-day").values_list("day", flat=True).first()
    return last + timedelta(days=1) if last else date.min


def first_open_day(*_: object, **_signal: Any) -> date:
    """Return the first day that can have more records: not in the chain, nor before the report of a month."""
    reported = MonthReport.objects.order_by("-month").values_list("day", flat=True).first()
    return max(_next_day(), reported or date.min)


def complete_days(today: date) -> int:
    """Add the days before `today` that have records to the chain; return how many."""
    after = _next_day()
    days = {
        day
        for model in _CHAINED
        for day in model.objects.filter(day__gte=after, day__lt=today).values_list("day", flat=True)
    }
    for day in sorted(days):
        with transaction.atomic():
            last = ChainDay.objects.order_by("-day").first()
            records = BallotRecord.objects.filter(day=day).values_list("article_id", "version", "digest")
            months = MonthReport.objects.filter(day=day).values_list("month", "digest")
            reports = [(f"{month:%Y-%m}", digest) for month, digest in months]
            text = day_text(last.hash if last else FIRST, day.isoformat(), records, reports)
            number = len(records) + len(reports)
            ChainDay.objects.create(day=day, hash=digest_of(text), number=number, text=text)
    return len(days)
