"""Record a view of an article, whether or not its counters are archived."""

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
    """Count a view as `views.record` does, of articles whose counters are archived too.

    Raises ArticleNotFound, ArticleRemoved, and StoreUnavailable also for a database that does not answer.
    """
    row: ArchivedViews | None = None
    for _ in range(_ATTEMPTS):
        try:
            count = repository.pageviews.record(article_id, visit)
        except ViewsArchived:
            row = _bring_back(repository, article_id)
            continue
        if row:
            forget_row(row)
        return count
    raise StoreUnavailable(f"the counters of article {article_id} are archived again and again")


def _bring_back(repository: Repository, article_id: ArticleId) -> ArchivedViews | None:
    """Put the counters back into the store; returns the row they were in, which is not needed any more."""
    try:
        row = ArchivedViews.objects.filter(pk=article_id).first()
    except DatabaseError as error:
        raise StoreUnavailable(f"the database with the archived counters: {error}") from error
    if not repository.archive.restore(article_id, counters_of(row) if row else None):
        _log.warning(
            "the archive does not know the visitors of article %d as they were last: its numbers go on, but old "
            "visitors count once more",
            article_id,
        )
    return row
