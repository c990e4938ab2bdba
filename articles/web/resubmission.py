"""Changes whose form arrives twice: what the member did a moment ago is done, and no error."""

from django.http import HttpRequest

from accounts.web.resubmission import RESUBMISSION_WINDOW
from articles.domain.moderation import Action, LogEntry
from articles.repository import Repository
from articles.web.identity import actor


def just_done(found: Repository, request: HttpRequest, action: Action) -> list[LogEntry]:
    """Return what the moderation log says this member did a moment ago, by the kind of change."""
    oldest, name = found.store.now() - RESUBMISSION_WINDOW.total_seconds(), actor(request).name
    entries = found.moderation_log.get_page().entries
    return [
        entry for entry in entries if entry.at >= oldest and (entry.action, entry.actor_name) == (action, name)
    ]
