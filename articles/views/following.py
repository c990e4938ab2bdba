"""The page of a member's followed groups, their feeds, and the forms that change both."""

import secrets
from urllib.parse import urlencode

from django.contrib.auth import get_user_model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.encoding import escape_uri_path
from django.utils.http import content_disposition_header, http_date
from django.utils.translation import gettext as _, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web import sent_forms
from accounts.web.form_pages import members_only, private_form, private_page, show_next
from articles.configuration.choices import chosen, closed_groups, site_address
from articles.domain.lists import admit_reader
from articles.repository import FeedFilter
from articles.views.lists.feeds import feed_of
from articles.views.lists.rows import hidden_note
from articles.web import error_pages, hiding
from articles.web.caching import FEED_SECONDS, unlisted
from articles.web.feeds import answer, article_item, clean, facts_of
from articles.web.form_answers import Done, form_or_script, login_first, way_back
from articles.web.identity import actor, reader_id
from articles.web.paging import numbered_pager, page_number
from articles.web.preferences import current_groups, hiding_of, preferences_of, set_followed, slugs_from
from articles.web.wiring import group_title, group_titles, repository

_TARGETS = {"follow": True, "unfollow": False}


@private_page(members_only())
def page(request: HttpRequest) -> HttpResponse:
    """Show the articles of the followed groups, each group with its share. Three round trips."""
    repo, number, preferences = repository(), page_number(request), preferences_of(request)
    followed = current_groups(preferences.followed_groups)
    applied = hiding.applied(request, followed, read=True)
    found = repo.following.get_page(followed, number, reader=reader_id(request), hidden=applied.hidden)
    context = {
        "followed": followed,
        "articles": found.articles,
        "first_rank": found.first_rank,
        "pager": numbered_pager(number, has_next=found.has_next, query=urlencode(applied.query)),
        "applied": applied,
        "hidden_note": hidden_note(applied, found.hidden, {"page": number}),
        "now": repo.store.now(),
    }
    return unlisted(render(request, "lists/following.html", context))


def _page_of_form(request: HttpRequest, slug: str) -> str:
    page = way_back(request)
    fragment = f"#group-{slug}" if page.partition("?")[0] == reverse("articles:groups") else ""
    return f"{page}{fragment}" if page else reverse("articles:group", args=[slug])


def _button(request: HttpRequest, slug: str) -> str:
    is_followed = _TARGETS.get(sent_forms.sent(request).get("follow", ""))
    return (_("Follow “%(name)s”") if is_followed else _("Unfollow “%(name)s”")) % {"name": group_title(slug)}


@never_cache
@form_or_script(page=_page_of_form, button=_button)
def follow(request: HttpRequest, slug: str) -> Done | HttpResponse:
    """Follow a group, or unfollow it: the form sends a target state. Others are sent to the login page."""
    if not request.user.is_authenticated:
        return login_first(request, _("Log in to follow groups."), next=_page_of_form(request, slug))
    wanted = _TARGETS.get(request.POST.get("follow", ""))
    if wanted is None:
        return error_pages.page(request, 400)
    set_followed(actor(request).id, slug, wanted=wanted)
    text = _("You now follow the group “%(name)s”.") if wanted else _("You no longer follow the group “%(name)s”.")
    return Done({"told": ""}, text % {"name": group_title(slug)})


@private_form(members_only())
def change_feed(request: HttpRequest) -> HttpResponse:
    """Show the member's private feed; give it a new address, which replaces the former one, or turn it off."""
    if request.method != "POST":
        sent_forms.refill(request)
        return render(request, "lists/private_feed.html")
    wanted = request.POST.get("feed")
    if wanted not in ("new", "none"):
        return error_pages.page(request, 400)
    key = secrets.token_urlsafe(16) if wanted == "new" else ""
    get_user_model().objects.filter(pk=actor(request).id).update(feed_key=key)
    text = _("Your private feed has a new address.") if key else _("Your private feed is turned off.")
    return show_next(request, text, "articles:change_feed")


@private_page(members_only())
def opml(request: HttpRequest) -> HttpResponse:
    """Return the feeds of the groups that the member follows, as a file for feed readers (http://opml.org/spec2.opml).

    Their public addresses: such files are passed on, and the private feed has the same articles. Groups for
    members only have none. On a site for members they are private too; a member without a private feed is led to
    its page.
    """
    key = request.user.feed_token if chosen.is_for_members else ""  # type: ignore[union-attr]
    if chosen.is_for_members and not key:
        return redirect("articles:change_feed")
    site, titles = site_address(request), group_titles()
    followed, closed = current_groups(preferences_of(request).followed_groups), closed_groups()
    title = _("%(list)s – %(site)s") % {"list": _("Followed groups"), "site": chosen.SITE_NAME}
    now = http_date(repository().store.now())
    groups = [(clean(titles.get(slug, slug)), slug) for slug in followed if slug not in closed]
    context = {"title": clean(title), "site": site, "groups": groups, "key": key, "date": now}
    response = render(request, "lists/groups.opml", context, content_type="text/x-opml; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename="groups.opml")
    return response


@require_safe
def feed(request: HttpRequest, token: str, kind: str) -> HttpResponse:
    """Return the newest articles of a member's followed groups to anyone who has the address."""
    member = get_user_model().objects.find_by_feed_token(token)
    if member is None:
        raise Http404("no such feed")
    admit_reader()
    followed = current_groups(slugs_from(member.followed_groups))
    feed_filter = FeedFilter(hidden=hiding_of(member))
    _titles, articles = repository().feeds.list_groups(followed, feed_filter)
    with override(chosen.language):
        address, path = reverse("articles:following"), escape_uri_path(request.path)
        written = feed_of(
            request, _("Followed groups"), _("The newest articles of the groups you follow."), address, path
        )
        items = (article_item(written, article) for article in articles)
        response = answer(request, written, facts_of(articles), items, kind, repository().store.now())
    patch_cache_control(response, private=True, max_age=FEED_SECONDS)
    return unlisted(response)
