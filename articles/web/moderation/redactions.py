"""Redact texts: in the log, in what is removed, and in what the accounts know of the same act."""

from collections.abc import Collection

from django.db import transaction

from accounts.models import Ban, Sweep
from articles.domain.articles import ArticleId
from articles.domain.errors import OwnMatter
from articles.domain.moderation.log import REDACTED, Action, Actor, LogEntry
from articles.models import BlockedHost
from articles.web.moderation.conflicts import check_not_own
from articles.wiring import repository


def redact_article(article_id: ArticleId, texts: Collection[str], reason: str, moderator: Actor) -> int:
    """Redact texts about an article; return in how many places. Idempotent.

    Raises ArticleNotFound, OwnMatter, StoreError.
    """
    repo = repository()
    poster = repo.articles.get(article_id).poster
    check_not_own(poster, moderator.id)
    with transaction.atomic():
        Sweep.objects.filter(member=poster, reason__in=texts).update(reason=REDACTED)
        return repo.redactions.redact_article(article_id, texts, moderator, reason)


def redact_entries(at: float, texts: Collection[str], reason: str, moderator: Actor) -> int:
    """Redact texts of the entries about no article that were logged at a moment; return in how many places.

    Idempotent. Raises OwnMatter, StoreError.
    """
    repo = repository()
    entries = repo.redactions.list_entries(at)
    check_entries(entries, moderator)
    with transaction.atomic():
        for entry in entries:
            if entry.action is Action.BAN:
                Ban.objects.filter(member__username=entry.title, reason__in=texts).update(reason=REDACTED)
            if entry.action is Action.BLOCK_HOST:
                BlockedHost.objects.filter(host=entry.title, reason__in=texts).update(reason=REDACTED)
        return repo.redactions.redact_entries(at, texts, moderator, reason)


def check_entries(entries: Collection[LogEntry], moderator: Actor) -> None:
    """Raise OwnMatter for entries about the moderator."""
    if any(entry.title == moderator.name for entry in entries if entry.names_member):
        raise OwnMatter
