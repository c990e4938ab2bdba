"""Flag articles and comments, take flags back, and see what moderators decided."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web import unsent_form
from accounts.web.form_pages import members_only, page_with_form
from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import CommentId, article_of, is_root, root_of
from articles.domain.errors import ActionRefused, ArticleRemoved, CommentRemoved, OwnContent
from articles.domain.members import UserId
from articles.domain.moderation.flags import Flag, SubjectId
from articles.forms.flags import REASONS, FlagForm, WithdrawalForm
from articles.text.refusals import action_sentence
from articles.web import limits
from articles.web.identity import actor
from articles.wiring import repository

FLAGS_SHOWN = 100
"""Flags of a member on the list, the newest."""


@never_cache
@page_with_form
@members_only(carries=["reason", "words"])
def article(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Flag an article."""
    repo, member = repository(), actor(request).id
    flagged, flag = repo.articles.get(article_id), repo.flags.get(root_of(article_id), member)
    if flagged.removed is not None and flag is None:
        raise ArticleRemoved(article_id)
    page = reverse("articles:article", args=[article_id])
    context = {"article": flagged}
    return _flag(request, root_of(article_id), flagged.poster, flag, page, context, has_link=bool(flagged.link))


@never_cache
@page_with_form
@members_only(carries=["reason", "words"])
def comment(request: HttpRequest, comment_id: CommentId) -> HttpResponse:
    """Flag a comment."""
    repo, member = repository(), actor(request).id
    flagged, flag = repo.comments.get(comment_id), repo.flags.get(comment_id, member)
    if flagged.removed is not None and flag is None:
        raise CommentRemoved(comment_id)
    page = reverse("articles:comment", args=[comment_id])
    context = {"article": repo.articles.get(article_of(comment_id)), "comment": flagged}
    return _flag(request, comment_id, flagged.author, flag, page, context, has_link=False)


def _flag(
    request: HttpRequest,
    subject: SubjectId,
    author: UserId,
    flag: Flag | None,
    page: str,
    context: dict[str, Any],
    *,
    has_link: bool,
) -> HttpResponse:
    """Show the form of a flag, or what moderators decided on it; set it or take it back, and return to `page`."""
    is_own = author == actor(request).id
    if is_own and "comment" in context:
        raise OwnContent(subject)
    initial = {"reason": flag.reason, "words": flag.words} if flag else {}
    form: FlagForm | WithdrawalForm
    if is_own:
        form = WithdrawalForm(request.POST or None, initial=initial)
    else:
        form = FlagForm(request.POST or None, has_link=has_link, initial=initial)
    if request.method == "POST" and (done := _change(request, subject, form)):
        messages.success(request, done)
        return redirect(page)
    unsent_form.refill(request, form)
    context |= {"form": form, "flag": flag, "reasons": REASONS, "is_own": is_own}
    return render(request, "flags/flag.html", context, status=400 if form.errors else 200)


def _change(request: HttpRequest, subject: SubjectId, form: FlagForm | WithdrawalForm) -> str:
    """Change the flag as the form says, and return a message; "" if it is refused: then the form has the error."""
    flags, member = repository().flags, actor(request).id
    try:
        if "take_back" in request.POST:
            flags.take_back(subject, member)
            return _("Your flag has been taken back.")
        if form.is_valid():
            limits.take(request, "flags")
            flags.set(subject, member, form.reason_chosen, form.cleaned_data["words"])
            return _("Thank you. The moderators will look at it.")
    except ActionRefused as refused:
        form.add_error(None, action_sentence(refused))
    return ""


@never_cache
@require_safe
@members_only()
def mine(request: HttpRequest) -> HttpResponse:
    """Show the member's newest flags, and what moderators decided."""
    repo, member = repository(), actor(request).id
    flags = sorted(repo.flags.iterate_by(member), key=lambda flag: flag.at, reverse=True)[:FLAGS_SHOWN]
    ids = dict.fromkeys(article_of(flag.subject) for flag in flags)
    articles = {one.id: one for one in repo.articles.get_many(list(ids))}
    shown = [
        {
            "flag": flag,
            "article": articles[article_of(flag.subject)],
            "comment": None if is_root(flag.subject) else flag.subject,
        }
        for flag in flags
        if article_of(flag.subject) in articles
    ]
    context = {"tab": "flagged", "member": request.user, "flags": shown, "reasons": REASONS}
    response = render(request, "flags/mine.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response
