"""Recording a view of an article, whether or not its counters are archived."""

import logging

from django.db import DatabaseError

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreUnavailable, ViewsArchived
from articles.domain.readership import ViewCount, Visit
from articles.models import ArchivedViews
from articles.readership.archive import counters_of, forget_row
from articles.repository import Repository

_log = logging.getLogger(__name__)

_ATTEMPTS = 3


def record_view(repository: Repository, article_id: ArticleId, visit: Visit) -> ViewCount:
    """Record a view like `Pageviews.record`, after restoring the counters of the article if they are archived.

    Raises ArticleNotFound, ArticleRemoved, and StoreUnavailable, also if the database is unavailable.
    """
    row: ArchivedViews | None = None
    for _ in range(_ATTEMPTS):
        try:
            count = repository.pageviews.record(article_id, visit)
        except ViewsArchived:
            row = _restore(repository, article_id)
            continue
        if row:
            forget_row(row)
        return count
    raise StoreUnavailable(
        f"the counters of article {article_id} were archived again at each of {_ATTEMPTS} attempts"
    )


def _restore(repository: Repository, article_id: ArticleId) -> ArchivedViews | None:
    """Restore the counters to the store; return their row, which is then no longer needed."""
    try:
        row = ArchivedViews.objects.filter(pk=article_id).first()
    except DatabaseError as error:
        raise StoreUnavailable(f"the database of the archived counters is unavailable: {error}") from error
    if not repository.archive.restore(article_id, counters_of(row) if row else None):
        _log.warning(
            "the archive has no current visitors of article %d: its numbers continue, but former visitors count "
            "once more",
            article_id,
        )
    return row
