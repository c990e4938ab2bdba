"""Recording: housekeeping makes the ballot records of articles that have closed, and continues the chain.

A record is written into the database before the store notes it. So a process that dies in between leaves a record
that is found again, and noted. The voters of an article are dropped only after that.
"""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.models import User
from accounts.models.members import some_of
from articles.domain.articles import ArticleId, Choice
from articles.domain.members import PLACEHOLDERS, UserId
from articles.repository import Cast, Closed, Repository
from integrity.ballots import (
    BY_MODERATORS,
    FIRST,
    ON_PROBATION,
    Ballot,
    Record,
    canonical,
    commitment_of,
    day_text,
    digest_of,
    opening_of,
    sorted_ballots,
)
from integrity.models import BallotKey, BallotRecord, ChainDay, MonthReport, new_key
from integrity.months import complete_months, following

_log = logging.getLogger(__name__)

_CHAINED = (BallotRecord, MonthReport)
_KEYS_PER_QUERY = 500
_DROPPED_AT_ONCE = 200


def record_closed(repository: Repository, budget: float) -> int:
    """Make the records of closed articles for about `budget` seconds, and complete months before and days after.

    So each day, or an earlier one, has the reports of all months before it. Returns how many records were made.
    Idempotent; can be interrupted anywhere. Raises StoreError, DatabaseError.
    """
    clocks = repository.clock.compare()
    today = datetime.fromtimestamp(min(clocks.store, clocks.machine), UTC).date()
    made, has_more, skipped = 0, settings.BALLOT_DAYS > 0, set[ArticleId]()
    deadline = time.monotonic() + budget
    complete_months(repository, max(today, _first_open_day()))
    while has_more and time.monotonic() < deadline:
        has_more = False
        for found in repository.ballots.find_closed(skipped):
            number, is_complete = _record(repository, found, today, deadline, skipped)
            made += number
            has_more = has_more or (is_complete and found.has_more)
    complete_days(today)
    if settings.BALLOT_DAYS:
        _drop_ballots(today - timedelta(days=settings.BALLOT_DAYS))
    return made


def _record(
    repository: Repository, found: Closed, today: date, deadline: float, skipped: set[ArticleId]
) -> tuple[int, bool]:
    """Make a shard's records; return how many, and whether of all. Articles without join `skipped`."""
    former = _latest(found.ids)
    made, noted, is_complete = 0, dict[ArticleId, tuple[int, Cast]](), True
    for article in found.ids:
        if time.monotonic() > deadline and noted:
            is_complete = False
            break
        cast = repository.ballots.read(article)
        if cast is None:
            is_complete = False
            continue
        before = former.get(article)
        is_dropped = article in former and before is None
        record = None if is_dropped else _made(article, today, cast, before)
        if record is None:
            skipped.add(article)
            continue
        if before and record.ballots == before.ballots:
            record = before
        else:
            _write(record)
            made += 1
        noted[article] = (record.version, cast)
    return made, repository.ballots.note(found, noted) and is_complete


def _latest(articles: Collection[ArticleId]) -> Mapping[ArticleId, Record | None]:
    """Return the latest records of articles; None for one whose ballots were dropped."""
    rows = BallotRecord.objects.filter(article_id__in=articles).order_by("version")
    return {row.article_id: Record.unpacked(bytes(row.ballots)) if row.ballots else None for row in rows}


def _next_day() -> date:
    """Return the day after the last of the chain."""
    last = ChainDay.objects.order_by("-day").values_list("day", flat=True).first()
    return last + timedelta(days=1) if last else date.min


def _first_open_day() -> date:
    """Return the first day that can have more records: neither the chain nor the report of a month has it."""
    reported = MonthReport.objects.order_by("-month").values_list("month", flat=True).first()
    return max(_next_day(), following(reported) if reported else date.min)


def _made(article: ArticleId, day: date, cast: Cast, before: Record | None) -> Record | None:
    """Return the record of the votes on an article; None if it has none, and its voters are not known.

    A later version keeps the ballots that were cast on the article.
    """
    if before is None:
        if cast.voters is None:
            return None
        placeholders = Counter(choice for user, choice in cast.voters.items() if user in PLACEHOLDERS)
        unnamed = (placeholders[Choice.VOTE], placeholders[Choice.OPPOSE])
        own = _ballots(article, cast, [user for user in cast.voters if user not in PLACEHOLDERS])
        return Record(article, 1, day.isoformat(), unnamed, secrets.token_hex(16), sorted_ballots(own))
    kept = [one for one in before.ballots if not one.origin]
    if cast.voters is None:
        kept += [one for one in before.ballots if one.origin in cast.merged]
    else:
        kept += _ballots(article, cast, cast.origins)
    record = replace(
        before,
        version=before.version + 1,
        day=max(day.isoformat(), before.day),
        nonce=secrets.token_hex(16),
        ballots=sorted_ballots(kept),
        former=before.digest,
    )
    if (record.votes, record.opposes) != (cast.votes, cast.opposes):
        _log.error("the votes of article %d are not those of its ballot record", article)
        return before
    return record


def _ballots(article: ArticleId, cast: Cast, users: Collection[UserId]) -> list[Ballot]:
    voters = cast.voters or {}
    keys = _keys_of(users)
    return [
        Ballot(
            commitment_of(article, user, opening_of(keys[user], article)),
            voters[user],
            "" if user not in cast.left_out else ON_PROBATION if user in cast.waiting else BY_MODERATORS,
            cast.origins.get(user, 0),
        )
        for user in users
        if user in voters
    ]


def _keys_of(users: Collection[UserId]) -> Mapping[UserId, bytes]:
    """Return the members' keys, made where they have none; of a deleted account, one that is kept nowhere."""
    keys = dict[UserId, bytes]()
    for part in _parts(list(users)):
        members = set(User.objects.filter(pk__in=part, left_at=None).values_list("pk", flat=True))
        with_key = set(BallotKey.objects.filter(member__in=members).values_list("member", flat=True))
        BallotKey.objects.bulk_create(
            [BallotKey(member_id=member) for member in sorted(members - with_key)], ignore_conflicts=True
        )
        keys |= {row.member_id: bytes(row.key) for row in BallotKey.objects.filter(member__in=members)}
    return {user: keys.get(user) or new_key() for user in users}


def _parts(users: list[UserId]) -> Iterator[list[UserId]]:
    return (users[at : at + _KEYS_PER_QUERY] for at in range(0, len(users), _KEYS_PER_QUERY))


@transaction.atomic
def _write(record: Record) -> None:
    day = max(date.fromisoformat(record.day), _first_open_day())  # a process may have been stopped meanwhile
    record = replace(record, day=day.isoformat())
    BallotRecord.objects.create(
        article_id=record.article,
        version=record.version,
        day=record.day,
        digest=record.digest,
        head=canonical(record.head),
        ballots=record.packed(),
    )


def complete_days(today: date) -> None:
    """Add the days before `today` that have records to the chain. One query if there are none."""
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


def _drop_ballots(before: date) -> None:
    """Drop the ballots of some records made before a day; their digests stay."""
    old = BallotRecord.objects.filter(day__lt=before, ballots__isnull=False)
    some_of(old.order_by("day"), _DROPPED_AT_ONCE).update(ballots=None)
