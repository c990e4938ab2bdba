"""Context processors: template variables beyond those that a view passes."""

from contextlib import suppress
from typing import Any

from django.http import HttpRequest
from django.template.backends.utils import csrf_input
from django.utils.functional import SimpleLazyObject

from accounts.web.login_intent import LoginIntent
from articles.domain.articles import Article
from articles.domain.errors import ArticleNotFound, StoreDamaged, StoreUnavailable
from articles.domain.lists import Group
from articles.web.moderation import QueueLink, VotingRingsLink
from articles.web.preferences import preferences_of
from articles.wiring import repository


def form_token(request: HttpRequest) -> dict[str, Any]:
    """Provide the hidden input of `csrf_input`, identical in all forms of a page, so that they compress to one.

    Created on first use: a page without forms sets no cookie, and can be cached.
    """
    return {"form_token": SimpleLazyObject(lambda: csrf_input(request))}


def groups(_request: HttpRequest) -> dict[str, Any]:
    """Provide all groups, sorted by title; none while the store is unavailable. Read on first use, in one call."""
    return {"all_groups": SimpleLazyObject(_groups)}


def _groups() -> list[Group]:
    with suppress(StoreUnavailable, StoreDamaged):
        return sorted(repository().groups.list_all(), key=lambda group: group.title.casefold())
    return []


def pending_article(request: HttpRequest) -> dict[str, Any]:
    """Provide the article whose vote waits for a login, so that its reader sees which it is. Read on first use."""
    return {"pending_article": SimpleLazyObject(lambda: _pending_article(request))}


def _pending_article(request: HttpRequest) -> Article | None:
    intent = LoginIntent.from_request(request)
    with suppress(StoreUnavailable, StoreDamaged, ArticleNotFound):
        return repository().articles.get(int(intent.article)) if intent.article else None
    return None


def moderation(request: HttpRequest) -> dict[str, Any]:
    """Provide the moderators' links to voting rings and to what members flag."""
    return {"voting_rings_link": VotingRingsLink(request), "queue_link": QueueLink(request)}


def inbox(request: HttpRequest) -> dict[str, Any]:
    """Provide the number of the member's new notices; None if it is not known."""
    unread = vars(request).get("unread")
    return {"new_notices": lambda: unread and unread.count}


def preferences(request: HttpRequest) -> dict[str, Any]:
    """Provide the reader's preferences, such as `preferences.theme`."""
    return {"preferences": SimpleLazyObject(lambda: preferences_of(request))}
