"""View counters of articles that nobody looks at: out of the store into the database, and back with the next view.

What an article's hash says is what holds. So a row is written before the counters go and deleted after they are
back; one that is left over in between, by whoever died there, means nothing and is swept up later.
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

_ARTICLES_PER_BATCH = 50
"""Articles whose counters travel together: up to 12 KB each, 24 KB in hex."""

_GRACE = timedelta(hours=1)
"""How long a row may belong to an archiving that is still under way."""

_FIELDS = ("pv", "uv", "sketch", "suspects", "viewed_at")


def put_away(repository: Repository, *, at_most: int, budget: float) -> int:
    """Archive articles that are due, for about `budget` seconds; returns how many. Can be interrupted anywhere."""
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
    if hollow := set(ids).difference(one.article_id for one in counters):
        repository.archive.dismiss(hollow)
    ArchivedViews.objects.bulk_create(
        [_row(one, repository.store.now()) for one in counters],
        update_conflicts=True,
        unique_fields=["article_id"],
        update_fields=[*_FIELDS, "archived_at"],
    )
    return repository.archive.store(counters)


def forget_row(row: ArchivedViews) -> None:
    """Delete a row, unless the article has been archived anew."""
    try:
        ArchivedViews.objects.filter(pk=row.pk, pv=row.pv, archived_at=row.archived_at).delete()
    except DatabaseError as error:
        _log.warning("the counters of article %d stay in the archive for now: %s", row.article_id, error)


def suspects(repository: Repository, article_id: ArticleId) -> dict[str, int]:
    """An article's suspect views of all time by reason, those that are archived too."""
    found = repository.pageviews.get_suspects(article_id)
    row = ArchivedViews.objects.filter(pk=article_id).first()
    if row and repository.archive.is_archived(article_id):
        for reason, number in row.suspects.items():
            found[reason] = found.get(reason, 0) + number
    return found


def sweep(repository: Repository, *, at_most: int) -> int:
    """Delete rows whose counters are back in the store; returns how many.

    Looks at no more than `at_most` rows, from anywhere in the table onwards, so that each has its turn. What is
    not there in the store for certain is kept: it may be the wrong store.
    """
    rows = _some_rows(datetime.fromtimestamp(repository.store.now(), UTC) - _GRACE, at_most)
    here = repository.archive.get_pageviews(row.article_id for row in rows)
    back = [row for row in rows if here.get(row.article_id, -1) >= row.pv]
    for row in back:
        forget_row(row)
    return len(back)


def _some_rows(before: datetime, at_most: int) -> list[ArchivedViews]:
    """Rows without their sketches, the first ones again after the last."""
    rows = ArchivedViews.objects.filter(archived_at__lt=before).only("pv", "archived_at").order_by("pk")
    last = ArchivedViews.objects.order_by("-pk").values_list("pk", flat=True).first()
    if last is None:
        return []
    start = randrange(last + 1)  # noqa: S311
    found = list(rows.filter(pk__gte=start)[:at_most])
    return found + list(rows.filter(pk__lt=start)[: at_most - len(found)])


def _row(counters: Counters, now: float) -> ArchivedViews:
    return ArchivedViews(
        article_id=counters.article_id,
        archived_at=datetime.fromtimestamp(now, UTC),
        **{name: getattr(counters, name) for name in _FIELDS},
    )


def counters_of(row: ArchivedViews) -> Counters:
    return Counters(
        article_id=row.article_id,
        pv=row.pv,
        uv=row.uv,
        sketch=bytes(row.sketch),
        viewed_at=row.viewed_at,
        suspects=row.suspects,
    )
