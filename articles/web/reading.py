"""Who reads the site: everyone, or members alone (READING). What is open to everyone in any case is in `OPEN`.

On a site for members, all other addresses ask for a login before their view runs, whether or not the article, the
member or the group exists. Feeds are read by a member's key, which is in the addresses on the member's pages.
"""

from contextlib import suppress

from django.contrib.auth import get_user_model
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from accounts.web import sent_forms
from accounts.web.form_pages import View, is_for_members
from articles.configuration.choices import chosen
from articles.domain import extras
from articles.web.caching import FEEDS
from articles.web.form_answers import login_first, way_back

OPEN = frozenset(
    (
        "accounts:login", "accounts:logout", "accounts:signup", "articles:first_administrator",
        "accounts:login_link", "accounts:second_step", "accounts:passkey_login", "accounts:passkey_options",
        "accounts:password_reset", "accounts:password_reset_sent", "accounts:password_reset_confirm",
        # Links in mails.
        "accounts:verify", "accounts:unsubscribe",
        # They lead to the login, and keep the vote.
        "articles:vote", "articles:comment_vote",
        # The site's own texts; without an account, the first shows only those that laws demand.
        "articles:about", "articles:rules",
        # Everyone can report content, and follow the report.
        "articles:new_notice", "articles:notice",
        # Theme and language.
        "articles:preferences",
        # Files.
        "articles:accent", "articles:favicon", "articles:manifest", "articles:robots",
        "articles:security_txt", "articles:worker",
        # For directories of sites, which it tells nothing, and apps.
        "articles:nodeinfo_links", "articles:nodeinfo",
        # It leads to the login, or on from there.
        "articles:change_password",
        # Up or down, and figures for the machine itself or a token.
        "articles:healthz", "articles:readyz", "articles:metrics",
        # Its address is private.
        "articles:following_feed",
        *(view.name for view in extras.views() if view.is_open),
    )
)  # fmt: skip
"""Names of the views that need no account on a site for members. They show no content of the site."""

KEY = "key"  # the parameter of a feed's address that has the member's key: the token of the private feed
_FOR_PROGRAMS = ("articles:sitemap", "articles:sitemap_lists", "articles:sitemap_articles")


def is_closed_to(request: HttpRequest) -> bool:
    """Return whether the reader has to log in to read the site."""
    return chosen.is_for_members and not (hasattr(request, "user") and request.user.is_authenticated)


def refuse(request: HttpRequest, view: View) -> HttpResponse | None:
    """Ask for a login on a site for members; return None if the request may be answered.

    Of forms, those that `members_only` guards go on: its login keeps what was typed.
    """
    name = request.resolver_match.view_name if request.resolver_match else ""
    if name in OPEN:
        return None
    if name in FEEDS or name in _FOR_PROGRAMS:
        return None if _has_key(request, name) else _no_feed()
    is_form = request.method == "POST" or sent_forms.is_stale(request)
    if not is_closed_to(request) or (is_form and is_for_members(view)):
        return None
    return to_login(request)


def to_login(request: HttpRequest) -> HttpResponse:
    """Lead to the login, and from there to the address, or to the page that the form is on."""
    is_read = request.method in ("GET", "HEAD")
    page = request.get_full_path() if is_read else way_back(request) or reverse("articles:front")
    response = login_first(request, _("This site is for members. Log in to read it."), next=page)
    add_never_cache_headers(response)
    return response


def _no_feed() -> HttpResponse:
    """Return the same 404 for every feed, sitemap and picture that the request may not read."""
    sentence = _("This site is for members. Its pages show them the private addresses of feeds.")
    response = HttpResponse(f"{sentence}\n", status=404, content_type="text/plain; charset=utf-8")
    add_never_cache_headers(response)
    return response


def knows_key(request: HttpRequest, view: str) -> bool:
    """Return whether a request for a feed has an active member's key; False if the accounts are unavailable."""
    with suppress(OperationalError, InterfaceError):
        return _has_key(request, view)
    return False


def _has_key(request: HttpRequest, view: str) -> bool:
    """Return whether a request for a feed has an active member's key. One query."""
    found: str | None = vars(request).get("feed_key")
    if found is None:
        key = request.GET.get(KEY, "") if view in FEEDS else ""
        found = key if key and get_user_model().objects.find_by_feed_token(key) else ""
        vars(request)["feed_key"] = found
    return found != ""
