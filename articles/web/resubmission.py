"""Moderation forms that arrive twice: a change that the member has just made is a success, not an error."""

from django.http import HttpRequest

from accounts.web.resubmission import RESUBMISSION_WINDOW
from articles.domain.moderation import Action, LogEntry
from articles.repository import Repository
from articles.web.identity import actor


def just_done(repository: Repository, request: HttpRequest, action: Action) -> list[LogEntry]:
    """Return this member's log entries of this action within `RESUBMISSION_WINDOW`. Reads the log's first page."""
    oldest, name = repository.store.now() - RESUBMISSION_WINDOW.total_seconds(), actor(request).name
    entries = repository.moderation_log.get_page().entries
    return [
        entry for entry in entries if entry.at >= oldest and (entry.action, entry.actor_name) == (action, name)
    ]
