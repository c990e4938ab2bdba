"""Recording: housekeeping makes the ballot records of articles that have closed.

It cannot wait: voter sets are dropped some days later, and nothing else knows how each member voted. A record is
written into the database before the store notes it. So a process that dies in between leaves a record that is
found again, and noted. The voters of an article are dropped only after that.
"""

import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.dispatch import Signal

from accounts.models import BallotKey, BallotRecord, User
from accounts.models.ballots import new_key
from accounts.models.members import some_of
from articles.domain.articles import ArticleId, Choice
from articles.domain.ballots import (
    BY_MODERATORS,
    ON_PROBATION,
    Ballot,
    Record,
    canonical,
    commitment_of,
    opening_of,
    sorted_ballots,
)
from articles.domain.members import PLACEHOLDERS, UserId
from articles.repository import Cast, Closed, Repository

_log = logging.getLogger(__name__)

recording = Signal()
"""Sent before a record is written: receivers return the first day that it can have."""

_KEYS_PER_QUERY = 500
_DROPPED_AT_ONCE = 200
_ARTICLES_PER_QUERY = 500


def today_of(repository: Repository) -> date:
    """Return the day (UTC) that records are of: by the store's clock or this machine's, whichever is behind."""
    clocks = repository.clock.compare()
    return datetime.fromtimestamp(min(clocks.store, clocks.machine), UTC).date()


def record_closed(repository: Repository, budget: float) -> int:
    """Make the records of closed articles for about `budget` seconds; return how many.

    Idempotent; can be interrupted anywhere. Raises StoreError, DatabaseError.
    """
    today = today_of(repository)
    made, has_more, skipped = 0, settings.BALLOT_DAYS > 0, set[ArticleId]()
    deadline = time.monotonic() + budget
    while has_more and time.monotonic() < deadline:
        has_more = False
        for found in repository.ballots.find_closed(skipped):
            number, is_complete = _record(repository, found, today, deadline, skipped)
            made += number
            has_more = has_more or (is_complete and found.has_more)
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
    opened: list[Any] = recording.send(BallotRecord)
    for _receiver, first in opened:  # a process may have been stopped meanwhile
        record = replace(record, day=max(record.day, first.isoformat()))
    BallotRecord.objects.create(
        article_id=record.article,
        version=record.version,
        day=record.day,
        digest=record.digest,
        head=canonical(record.head),
        ballots=record.packed(),
    )


def _drop_ballots(before: date) -> None:
    """Drop the ballots of some records made before a day; their digests stay."""
    old = BallotRecord.objects.filter(day__lt=before, ballots__isnull=False)
    some_of(old.order_by("day"), _DROPPED_AT_ONCE).update(ballots=None)


def destroy_key(user: UserId, _name: str, _progress: str, _more: Callable[[], bool], _is_last: bool) -> str:
    """Destroy the key of a deleted account: its commitments mean nothing from then on."""
    BallotKey.objects.filter(member=user).delete()
    return ""


def check_counts(repository: Repository) -> Iterator[str]:
    """Yield articles whose counts in the store are not those of their latest record.

    What is wrong is read twice: records may be made meanwhile.
    """
    last = repository.changes.get_last_id()
    for first in range(1, last + 1, _ARTICLES_PER_QUERY):
        found = _wrong_counts(repository, range(first, min(first + _ARTICLES_PER_QUERY, last + 1)))
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
