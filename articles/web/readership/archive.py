"""Archiving: moves the view counters of unread articles from the store to the database, and back at the next view.

The article's hash decides where its counters are. So a row is written before the counters leave the store, and
deleted after they are back. A process that dies in between leaves a row without effect, which `sweep` deletes.
"""

import logging
import time
from datetime import UTC, datetime, timedelta
from random import randrange

from django.db import DatabaseError

from articles.domain.articles import ArticleId
from articles.models import ArchivedViews
from articles.repository import Counters, Repository

_log = logging.getLogger(__name__)

_ARTICLES_PER_BATCH = 50  # articles archived in one batch: up to 12 KB each, 24 KB in hex
_GRACE = timedelta(hours=1)  # age up to which a row may belong to a batch that is still being archived

_FIELDS = ("pv", "uv", "sketch", "suspects", "viewed_at")


def put_away(repository: Repository, *, at_most: int, budget: float) -> int:
    """Archive due articles for about `budget` seconds; return how many. Can be interrupted safely."""
    deadline, archived = time.monotonic() + budget, 0
    waiting = repository.archive.list_due(at_most)
    while waiting:
        batch, waiting = waiting[:_ARTICLES_PER_BATCH], waiting[_ARTICLES_PER_BATCH:]
        archived += _put_away(repository, batch)
        if time.monotonic() >= deadline:
            break
    return archived


def _put_away(repository: Repository, ids: list[ArticleId]) -> int:
    counters = repository.archive.get_counters(ids)
    if empty := set(ids).difference(entry.article_id for entry in counters):
        repository.archive.dismiss(empty)
    ArchivedViews.objects.bulk_create(
        [_row(entry, repository.store.now()) for entry in counters],
        update_conflicts=True,
        unique_fields=["article_id"],
        update_fields=[*_FIELDS, "archived_at"],
    )
    return repository.archive.store(counters)


def forget_row(row: ArchivedViews) -> None:
    """Delete a row, unless the article has been archived again. A failing database is only logged."""
    try:
        ArchivedViews.objects.filter(pk=row.pk, pv=row.pv, archived_at=row.archived_at).delete()
    except DatabaseError as error:
        _log.warning("the counters of article %d stay in the archive for now: %s", row.article_id, error)


def suspects(repository: Repository, article_id: ArticleId) -> dict[str, int]:
    """Return the article's suspect views of all time by reason, archived ones included. Raises StoreError."""
    counts = repository.pageviews.get_suspects(article_id)
    row = ArchivedViews.objects.filter(pk=article_id).first()
    if row and repository.archive.is_archived(article_id):
        for reason, number in row.suspects.items():
            counts[reason] = counts.get(reason, 0) + number
    return counts


def sweep(repository: Repository, *, at_most: int) -> int:
    """Delete rows whose counters are back in the store; return how many.

    Checks at most `at_most` rows from a random start, so that every row gets checked in time. Keeps each row
    unless the store certainly has its counters: this may be the wrong store.
    """
    rows = _some_rows(datetime.fromtimestamp(repository.store.now(), UTC) - _GRACE, at_most)
    pageviews = repository.archive.get_pageviews(row.article_id for row in rows)
    restored = [row for row in rows if pageviews.get(row.article_id, -1) >= row.pv]
    for row in restored:
        forget_row(row)
    return len(restored)


def _some_rows(before: datetime, at_most: int) -> list[ArchivedViews]:
    """Return rows without their sketches from a random start, wrapping around at the end of the table."""
    rows = ArchivedViews.objects.filter(archived_at__lt=before).only("pv", "archived_at").order_by("pk")
    last = ArchivedViews.objects.order_by("-pk").values_list("pk", flat=True).first()
    if last is None:
        return []
    start = randrange(last + 1)  # nosec B311 # noqa: S311 - no secret
    selection = list(rows.filter(pk__gte=start)[:at_most])
    return selection + list(rows.filter(pk__lt=start)[: at_most - len(selection)])


def _row(counters: Counters, now: float) -> ArchivedViews:
    return ArchivedViews(
        article_id=counters.article_id,
        archived_at=datetime.fromtimestamp(now, UTC),
        **{name: getattr(counters, name) for name in _FIELDS},
    )


def counters_of(row: ArchivedViews) -> Counters:
    """Return the row's counters as the repository restores them."""
    return Counters(row.article_id, **{name: getattr(row, name) for name in _FIELDS})
