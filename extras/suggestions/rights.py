"""Who decides on suggestions, and who undoes one that was applied."""

from collections.abc import Collection

from django.http import HttpRequest

from accounts.moderators import ASSIGN_GROUPS, EDIT_ANY_ARTICLE
from articles.domain.articles import Article
from articles.domain.moderation_log import REDACTED, SITE, Action, LogEntry
from articles.web.rights import may
from extras.suggestions.suggestions import SuggestionKind


def may_decide(request: HttpRequest, article: Article, kind: SuggestionKind) -> bool:
    """Return whether the reader decides on suggestions of this kind for an article: its poster, and moderators."""
    user = request.user
    return user.is_authenticated and (article.poster == user.pk or may(user, permission_for(kind)))


def permission_for(kind: SuggestionKind) -> str:
    """Return the permission with which moderators decide on suggestions of this kind."""
    return EDIT_ANY_ARTICLE if kind is SuggestionKind.TITLE else ASSIGN_GROUPS


def find_undoable(request: HttpRequest, article: Article, entries: Collection[LogEntry]) -> list[LogEntry]:
    """Return those of the newest entries of an article's log that the reader can undo, newest first.

    These are suggestions that were applied, and that nothing has changed since. A poster does not undo what a
    moderator accepted.
    """
    found, later = list[LogEntry](), set[str]()
    for entry in entries:
        old, added, removed = entry.details.get("old_title"), entry.slugs("added"), entry.slugs("removed")
        kind = SuggestionKind.TITLE if old else SuggestionKind.GROUPS
        changed = {*added, *removed} | ({_TITLE} if old else set())
        groups = {*article.groups}
        is_there = article.title == entry.title if old else groups.issuperset(added) and groups.isdisjoint(removed)
        is_last, later = later.isdisjoint(changed) and is_there and old != REDACTED, later | changed
        if entry.action is Action.APPLY_SUGGESTION and is_last and _may_undo(request, article, kind, entry):
            found.append(entry)
    return found


_TITLE = "title "  # stands for the title among slugs, which have no blank


def _may_undo(request: HttpRequest, article: Article, kind: SuggestionKind, entry: LogEntry) -> bool:
    is_of_poster = entry.actor_name in (SITE.name, article.poster_name)
    return may_decide(request, article, kind) and (is_of_poster or may(request.user, permission_for(kind)))
