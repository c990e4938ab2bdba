"""The pages of a member: articles and comments, and the form for what members write about themselves."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.models import BanScope, User
from accounts.web.form_pages import MemberRequest, members_only, private_form, show_form, show_next
from articles.domain.errors import ActionRefused
from articles.text.lines import InvalidInput
from articles.text.refusals import action_sentence, input_sentence
from articles.web import profiles
from articles.web.addresses import moved
from articles.web.identity import is_free, member_named, reader_id
from articles.web.paging import numbered_pager, page_number
from articles.web.wiring import repository

_INVITED_SHOWN = 10  # invited members that a profile names


@require_safe
def profile(request: HttpRequest, name: str) -> HttpResponse:
    """Show what the member posted. Two round trips for a member with few articles, otherwise four."""
    member = member_named(name)
    if member.get_username() != name:
        return moved(reverse("articles:profile", args=[member.get_username()]), request.GET.urlencode())
    number, repo = page_number(request), repository()
    page = repo.members.get_posted(member.pk, number, reader_id(request))
    is_whole = number == 1 and not page.has_next
    context = _head(request, member) | {
        "points": page.points if is_whole else repo.members.get_points(member.pk),
        "articles": page.articles,
        "removed": repo.removed_articles.describe([one.id for one in page.removed], with_html=True),
        "pager": numbered_pager(page.number, has_next=page.has_next),
        "now": repo.store.now(),
    }
    return render(request, "lists/profile.html", context)


@require_safe
def comments(request: HttpRequest, name: str) -> HttpResponse:
    """Show the member's comments, newest first; to the member also removed ones. At most seven round trips."""
    member = member_named(name)
    if member.get_username() != name:
        return moved(reverse("articles:member_comments", args=[member.get_username()]), request.GET.urlencode())
    number, repo = page_number(request), repository()
    latest, has_next = repo.comments.get_page_by(member.pk, number)
    articles = {article.id: article for article in repo.articles.get_many(sorted({one.article for one in latest}))}
    is_own = reader_id(request) == member.pk
    removals = {one.comment.id: one.removal for one in repo.removed_comments.describe(latest)} if is_own else {}
    shown = [
        (comment, article, removals.get(comment.id))
        for comment in latest
        if (article := articles.get(comment.article))
        and (comment.id in removals or (comment.is_shown and not article.is_withheld))
    ]
    context = _head(request, member) | {
        "points": repo.members.get_points(member.pk),
        "comments": shown,
        "pager": numbered_pager(number, has_next=has_next),
    }
    return render(request, "comments/member.html", context)


def _head(request: HttpRequest, member: User) -> dict[str, Any]:
    """Return what both pages show of the member at the top."""
    return {
        "member": member,
        "about": profiles.about(member, request),
        "is_about_withheld": profiles.is_about_withheld(member),
        "invitations": profiles.invitations(member, request, _INVITED_SHOWN),
        "vouches": profiles.vouches(member, request),
        "is_blocked": request.user.is_authenticated and request.user.blocks.filter(blocked=member).exists(),
    }


@private_form(members_only(carries=["about"]))
def change_about(request: MemberRequest) -> HttpResponse:
    """Show what the member writes about themselves, and save it."""
    form = profiles.AboutForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            profiles.change_about(request, form.cleaned_data["about"])
        except InvalidInput as refused:
            form.add_error("about", ValidationError(input_sentence(refused), code=refused.code))
        except ActionRefused as refused:
            form.add_error(None, action_sentence(refused))
        else:
            return show_next(request, _("Your profile has been saved."), "articles:change_about")
    is_banned = not is_free(request.user, BanScope.POSTING)
    shown = profiles.about(request.user, request) if is_banned else ""
    return show_form(request, "accounts/about.html", form, about=shown, no_form=is_banned)
