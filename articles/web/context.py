"""Context processors: template variables beyond those that a view passes."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from markupsafe import Markup

from accounts.moderators import ASSIGN_GROUPS, REMOVE_ARTICLES, SEE_VIEWS, TUNE_RANKING
from accounts.web.form_pages import page_of
from accounts.web.login_intent import LoginIntent
from accounts.web.middleware import form_token_input
from articles.domain.articles import Article
from articles.domain.errors import ArticleNotFound, StoreDamaged, StoreUnavailable
from articles.domain.lists import Group
from articles.formatting.kept_pieces import drawn, gap
from articles.site import site_text
from articles.web.preferences import preferences_of
from articles.wiring import is_about_to_move, repository
from moderation.rights import QueueLink, VotingRingsLink


def form_token(request: HttpRequest) -> dict[str, Any]:
    """Provide the hidden input of the token, identical in all forms of a page, so that they compress to one.

    Created on first use: a page without forms sets no cookie, and can be cached.
    """
    return {"form_token": SimpleLazyObject(lambda: form_token_input(request))}


def groups(_request: HttpRequest) -> dict[str, Any]:
    """Provide all groups, sorted by title; none while the store is unavailable. Read on first use, in one call."""
    return {"all_groups": SimpleLazyObject(_groups)}


def _groups() -> list[Group]:
    with suppress(StoreUnavailable, StoreDamaged):
        return sorted(repository().groups.list_all(), key=lambda group: group.title.casefold())
    return []


def pending_article(request: HttpRequest) -> dict[str, Any]:
    """Provide the article on which a vote waits for the login, so that the page can name it. Read on first use."""
    return {"pending_article": SimpleLazyObject(lambda: _pending_article(request))}


def _pending_article(request: HttpRequest) -> Article | None:
    intent = LoginIntent.from_request(request)
    with suppress(StoreUnavailable, StoreDamaged, ArticleNotFound):
        return repository().articles.get(int(intent.article)) if intent.article else None
    return None


def moderation(request: HttpRequest) -> dict[str, Any]:
    """Provide the moderators' links to voting rings and to what members flag."""
    return {"voting_rings_link": VotingRingsLink(request), "queue_link": QueueLink(request)}


def preferences(request: HttpRequest) -> dict[str, Any]:
    """Provide the reader's preferences, such as `preferences.theme`."""
    return {"preferences": SimpleLazyObject(lambda: preferences_of(request))}


class Frame(NamedTuple):
    """All that `templates/base.html` draws around a page. Texts are empty where there is nothing to show."""

    is_member: bool
    member: str
    """The reader's name."""

    member_id: int | Markup
    member_address: str
    unread: int | None
    """The number of the member's new notices, news of a ban included; None if it is not known."""

    sees_moderation: bool
    sees_operation: bool
    is_staff: bool
    theme: str
    keyboard: bool
    path: str
    view: str
    """Name of the view that answers."""

    address: str
    """Path and query of the request."""

    return_path: str
    """Where login and log-out return to: not to account pages."""

    login_query: str
    """Query of the login's address, with the return path."""

    back: str
    """The page to which forms of the frame return."""

    form_token: object
    """Hidden input of the member's forms."""

    messages: Markup
    """The messages for the reader, drawn."""

    has_sign_up: bool
    """Whether readers can become members, if only with an invitation: the sign-up page says who gives them."""

    has_rules: bool
    has_imprint: bool
    is_moving: bool
    """Whether the site is about to move to another store."""

    def with_gaps(self) -> tuple["Frame", Mapping[str, object]]:
        """Return the frame with gaps where readers differ, and the content of the gaps.

        For a page whose address returns to itself: the paths to return to are the address.
        """
        fillings: dict[str, object] = {name: getattr(self, name) for name in _GAPS if getattr(self, name)}
        gaps: dict[str, Any] = {name: gap(name) for name in fillings} | dict.fromkeys(_RETURNS, gap("address"))
        return self._replace(**gaps), fillings


_GAPS = ("member", "member_id", "member_address", "address", "login_query", "form_token", "messages")
_RETURNS = ("return_path", "back")


def frame(request: HttpRequest) -> dict[str, Any]:
    """Provide the parts around the page, as `frame`. Read on first use."""
    return {"frame": SimpleLazyObject(lambda: frame_of(request))}


def frame_of(request: HttpRequest) -> Frame:
    """Return the parts around the page."""
    user = getattr(request, "user", None) or AnonymousUser()  # missing if the request fails before authentication
    preferences, match = preferences_of(request), request.resolver_match
    here, name, unread = page_of(request), "", vars(request).get("unread")
    return_path = "" if match and match.app_name == "accounts" else here
    if user.is_authenticated:
        name = user.get_username()
    return Frame(
        is_member=bool(name),
        member=name,
        member_id=user.pk or 0,
        member_address=_profile(name) if name else "",
        unread=_unread(user, unread and unread.count),
        sees_moderation=any(map(user.has_perm, (SEE_VIEWS, TUNE_RANKING, ASSIGN_GROUPS, REMOVE_ARTICLES))),
        sees_operation=user.is_staff and user.has_perm("articles.see_operation"),
        is_staff=user.is_staff,
        theme=preferences.theme,
        keyboard=preferences.keyboard,
        path=request.path,
        view=match.view_name if match else "",
        address=request.get_full_path(),
        return_path=return_path,
        login_query=f"?next={quote(return_path)}" if return_path else "",
        back=here.partition("#")[0],
        form_token=form_token_input(request) if name else "",
        messages=_messages(request),
        has_sign_up=settings.SIGN_UP != "closed",
        has_rules=site_text("rules") is not None,
        has_imprint=site_text("imprint") is not None,
        is_moving=is_about_to_move(),
    )


def _unread(user: Any, notices: int | None) -> int | None:
    return notices if notices is None or not user.is_authenticated else notices + user.has_news_of_ban


@lru_cache(1_000)
def _profile(name: str) -> str:
    return reverse("articles:profile", args=[name])


def _messages(request: HttpRequest) -> Markup:
    """Draw the messages. Without any, they are not even iterated over: that would send a header."""
    messages = get_messages(request)
    return drawn("messages.html", {"messages": messages}) if len(messages) else Markup()
