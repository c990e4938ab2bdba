"""Pages for the member alone: voted, opposed and saved articles, and the export of the member's data."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web import sent_forms
from accounts.web.form_pages import members_only, private_page
from articles.configuration.choices import chosen
from articles.domain.lists import MemberPage
from articles.domain.members import UserId
from articles.repository import Repository
from articles.text.refusals import until_trusted
from articles.views.lists import member_export
from articles.views.votes import row_of
from articles.web import error_pages
from articles.web.caching import unlisted
from articles.web.form_answers import Done, form_or_script, login_first
from articles.web.identity import actor, may_be_untrusted
from articles.web.paging import numbered_pager, page_number
from articles.web.wiring import repository

List = Callable[[UserId, int], MemberPage]


def _my_list(tab: str, get_list: Callable[[Repository], List]) -> Callable[[HttpRequest], HttpResponse]:
    """Return the page of one of the member's lists."""

    @never_cache
    @require_safe
    @members_only()
    def view(request: HttpRequest) -> HttpResponse:
        number, repo = page_number(request), repository()
        page = get_list(repo)(actor(request).id, number)
        heading, empty = _texts(tab)
        context = {
            "member": request.user,
            "heading": heading,
            "empty": empty,
            "articles": page.articles,
            "pager": numbered_pager(page.number, has_next=page.has_next),
            "now": repo.store.now(),
            "waits_until": "" if tab == "saved" else _waits_until(request.user),
            "can_be_vouched_for": chosen.VOUCHES > 0,
        }
        return unlisted(render(request, "lists/my_lists.html", context))

    return view


def _waits_until(member: Any) -> str:
    """Return until when the member is new if their votes wait, else "". No round trip for most, else one."""
    if not (chosen.PROBATION and may_be_untrusted(member)):
        return ""
    repo = repository()
    waits = repo.left_out.get_state(member.pk).waits
    return until_trusted(repo.rules.new_member, repo.rules.trusted_points) if waits else ""


def _texts(tab: str) -> tuple[str, str]:
    """Return the heading of a list, and its text without articles."""
    return {
        "voted": (_("Articles you voted for"), _("You haven’t voted for anything yet.")),
        "opposed": (_("Articles you opposed"), _("You haven’t opposed anything yet.")),
        "saved": (
            _("Articles you saved"),
            _("You haven’t saved anything yet. “Save” in the menu of an article (⋯) keeps it for later."),
        ),
    }[tab]


voted = _my_list("voted", lambda repo: repo.members.get_voted)
opposed = _my_list("opposed", lambda repo: repo.members.get_opposed)
saved = _my_list("saved", lambda repo: repo.members.get_saved)


@private_page(members_only(proof=True))
def data(request: HttpRequest) -> HttpResponseBase:
    """Return everything the site stores about the member, as a file. It may be long, so it is streamed."""
    repo = repository()
    name = f"{request.user.get_username()}-{datetime.now(UTC):%Y-%m-%d}.json"
    response = StreamingHttpResponse(
        member_export.lines(request.user, repo),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": content_disposition_header(as_attachment=True, filename=name)},
    )
    return unlisted(response)


_TARGETS = {"save": True, "forget": False}


def _button_label(request: HttpRequest, article_id: int) -> str:
    title = repository().articles.get(article_id).title
    is_saved = _TARGETS.get(sent_forms.sent(request).get("saved", ""))
    label = _("Save “%(title)s” for later") if is_saved else _("Remove “%(title)s” from your saved articles")
    return label % {"title": title}


@form_or_script(page=row_of, button=_button_label)
def save(request: HttpRequest, article_id: int) -> Done | HttpResponse:
    """Save an article or forget it. Readers without an account are sent to the login page."""
    if not request.user.is_authenticated:
        sentence = _("You are logged out. Log in to save articles.")
        return login_first(request, sentence, next=row_of(request, article_id))
    is_saved = _TARGETS.get(request.POST.get("saved", ""))
    if is_saved is None:
        return error_pages.page(request, 400)
    repository().members.save(actor(request).id, article_id, wanted=is_saved)
    return Done({"told": _("Saved for later.") if is_saved else _("No longer saved.")})
