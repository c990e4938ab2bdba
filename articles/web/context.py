"""The context processor: template variables beyond those that a view passes."""

from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple
from urllib.parse import quote

from django.contrib.auth.models import AnonymousUser
from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.urls import ResolverMatch, reverse
from django.utils.encoding import escape_uri_path
from django.utils.functional import SimpleLazyObject
from django.utils.text import Truncator
from markupsafe import Markup

from accounts.models import BanScope
from accounts.moderators import ASSIGN_GROUPS, REMOVE_ARTICLES, SEE_VIEWS, TUNE_RANKING
from accounts.web.login_intent import LOGIN_PAGES, LoginIntent
from accounts.web.sent_forms import form_token_input, page_of
from articles.configuration.choices import chosen
from articles.domain.articles import Article
from articles.domain.errors import ArticleNotFound, StoreDamaged, StoreUnavailable
from articles.domain.lists import Group
from articles.formatting.kept import drawn
from articles.site import texts_of_frame
from articles.text.markdown import plain
from articles.web import reading
from articles.web.caching import RULES
from articles.web.identity import is_free, may_moderate
from articles.web.preferences import preferences_of
from articles.web.rights import ModeratorLinks, count_waiting, may, may_in_groups
from articles.web.wiring import html_of_site_text, repository

_LONGEST_DESCRIPTION = 160  # characters of the description of a page; search engines show no more


def variables(request: HttpRequest) -> dict[str, Any]:
    """Provide what templates see beside what a view passes. All but `moderator_links` are read on first use.

    `form_token`: the hidden input of the token, identical in all forms of a page, so that they compress to one; a
    page without forms sets no cookie, and can be cached. `frame`: the parts around the page, with the reader's own
    in `hole`. `all_groups`: sorted by title; none while the store is unavailable. `pending_article`: the one on
    which a vote waits for the login, so that the page can name it.
    """
    read = {
        "form_token": form_token_input,
        "preferences": preferences_of,
        "frame": frame_of,
        "hole": frame_holes,
        "all_groups": _groups,
        "pending_article": _pending_article,
    }
    found = {name: SimpleLazyObject(partial(function, request)) for name, function in read.items()}
    return found | {"moderator_links": ModeratorLinks(request)}


def _groups(_request: HttpRequest) -> list[Group]:
    with suppress(StoreUnavailable, StoreDamaged):
        return sorted(repository().groups.list_all(), key=lambda group: group.title.casefold())
    return []


def _pending_article(request: HttpRequest) -> Article | None:
    if reading.is_closed_to(request):
        return None
    intent = LoginIntent.from_request(request)
    with suppress(StoreUnavailable, StoreDamaged, ArticleNotFound):
        return repository().articles.get(int(intent.article)) if intent.article else None
    return None


class Frame(NamedTuple):
    """What shapes the parts around a page, which `templates/base.html` draws; the rest is in holes."""

    is_member: bool
    may_vote: bool  # whether no ban forbids it, see `is_free`
    may_post: bool
    is_own_page: bool  # whether the page is the member's own
    unread: int | None  # the number of the member's new notices, news of a ban included; None if it is not known
    sees_moderation: bool
    waiting: int  # how much waits for this moderator; some seconds old
    sees_operation: bool
    is_staff: bool
    theme: str
    keyboard: bool
    view: str  # name of the view that answers
    returns: bool  # whether login and log-out return to the page: not to account pages
    has_sign_up: bool
    """Whether readers can become members, if only with an invitation: the sign-up page says who gives them."""

    has_rules: bool
    has_imprint: bool
    has_contact: bool
    description: str  # what the site is, in a line for search engines: its welcome, or the default

    is_closed: bool  # whether the reader has to log in to read the site
    has_privacy: bool  # whether the footer leads such a reader to the site's text about privacy
    feeds: str
    """The reader's addresses of feeds: "public" ones; on a site for members "private" ones, or "none" yet."""

    @property
    def is_public(self) -> bool:
        """Whether the page shows what all readers of the site can see."""
        return self.view in RULES


def frame_of(request: HttpRequest) -> Frame:
    """Return what shapes the parts around the page."""
    user = getattr(request, "user", None) or AnonymousUser()  # missing if the request fails before authentication
    preferences, match, unread = preferences_of(request), request.resolver_match, vars(request).get("unread")
    is_for_members, has_sign_up = chosen.is_for_members, chosen.SIGN_UP != "closed"
    moderates, may_vote, may_post = (
        may_moderate(user),
        is_free(user, BanScope.VOTING),
        is_free(user, BanScope.POSTING),
    )
    written, welcome = texts_of_frame()
    is_closed = is_for_members and not user.is_authenticated
    return Frame(
        is_member=user.is_authenticated,
        may_vote=may_vote,
        may_post=may_post,
        is_own_page=user.is_authenticated and escape_uri_path(request.path) == _profile(user.get_username()),
        unread=_unread(user, unread and unread.count),
        sees_moderation=moderates and may_in_groups(user, SEE_VIEWS, TUNE_RANKING, ASSIGN_GROUPS, REMOVE_ARTICLES),
        waiting=count_waiting(user, now=bool(match and match.url_name == "queue")) if moderates else 0,
        sees_operation=user.is_staff and may(user, "articles.see_operation"),
        is_staff=user.is_staff,
        theme=preferences.theme,
        keyboard=preferences.keyboard,
        view=match.view_name if match else "",
        returns=_returns(match),
        has_sign_up=has_sign_up,
        has_rules="rules" in written,
        has_imprint="imprint" in written,
        has_contact="contact" in written,
        description="" if is_closed else in_brief(welcome.text),
        is_closed=is_closed,
        has_privacy=is_closed and "privacy" in written,
        feeds=_feeds(user) if is_for_members else "public",
    )


def _returns(match: ResolverMatch | None) -> bool:
    """Return whether login and logout lead back to a page: not to those about accounts."""
    return not (match and (match.app_name == "accounts" or match.view_name in LOGIN_PAGES))


def _feeds(user: Any) -> str:
    return "private" if user.is_authenticated and user.feed_key else "none"


def frame_holes(request: HttpRequest) -> dict[str, object]:
    """Return the reader's own parts of the frame; empty where there is nothing to show.

    `address`: path and query of the request; `back`: the page to which forms return; `return_path`: the page to
    which login and log-out return, and `login_query` the query of the login's address with it; `form_token`: the
    hidden input of the member's forms; `messages`: the messages for the reader, drawn; `feed_key`: the key in the
    addresses of feeds on a site for members.
    """
    user, match, here = getattr(request, "user", None), request.resolver_match, page_of(request)
    name = user.get_username() if user and user.is_authenticated else ""
    return_path = here if _returns(match) else ""
    return {
        "member": name,
        "member_id": user.pk if name and user else 0,
        "member_address": _profile(name) if name else "",
        "address": request.get_full_path(),
        "return_path": return_path,
        "login_query": f"?next={quote(return_path)}" if return_path else "",
        "back": here.partition("#")[0],
        "form_token": form_token_input(request) if name else "",
        "messages": _messages(request, form_token_input(request) if name else "", here),
        "feed_key": user.feed_token if name and user and chosen.is_for_members else "",
    }


def _unread(user: Any, notices: int | None) -> int | None:
    return notices if notices is None or not user.is_authenticated else notices + user.news


@lru_cache(500)
def in_brief(text: str) -> str:
    """Return the beginning of one of the site's texts, or a group's description, without marks."""
    return Truncator(plain(html_of_site_text(text))).chars(_LONGEST_DESCRIPTION)


@lru_cache(1_000)
def _profile(name: str) -> str:
    return reverse("articles:profile", args=[name])


def _messages(request: HttpRequest, token: object, here: str) -> Markup:
    """Draw the messages. Without any, they are not even iterated over: that would send a header."""
    messages = get_messages(request)
    context = {"messages": messages, "form_token": token, "back": here.partition("#")[0]}
    return drawn("messages.html", context) if len(messages) else Markup()
