"""Moderators remove and restore comments, and lock and unlock discussions. The log shows all of it."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounts.moderators import REMOVE_ARTICLES
from accounts.web import unsent_form
from accounts.web.form_pages import page_with_form
from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import CommentId, article_of
from articles.domain.errors import ActionRefused
from articles.domain.moderation.log import Action, Actor
from articles.forms.articles import ReasonForm
from articles.repository import Repository
from articles.text.refusals import action_sentence
from articles.web.form_answers import just_done
from articles.web.identity import actor, needs
from articles.web.moderation.conflicts import check_not_own
from articles.wiring import repository

_Change = Callable[[int, Actor, str], None]


def _of_comment(
    template: str, action: Action, change_of: Callable[[Repository], _Change]
) -> Callable[..., HttpResponse]:
    """Return the view of a form that changes a comment and takes a reason."""

    @page_with_form
    @needs(REMOVE_ARTICLES, carries=["reason"])
    def view(request: HttpRequest, comment_id: CommentId) -> HttpResponse:
        repo = repository()
        comment = repo.comments.get(comment_id)
        if action is Action.RESTORE_COMMENT:
            check_not_own(comment.author, actor(request).id)
        article = repo.articles.get(article_of(comment_id))
        page = reverse("articles:comment", args=[comment_id])
        context = {"article": article, "comment": comment}
        return _with_reason(request, template, context, action, change_of(repo), comment_id, page)

    return view


def _of_discussion(
    template: str, action: Action, change_of: Callable[[Repository], _Change]
) -> Callable[..., HttpResponse]:
    """Return the view of a form that changes an article's discussion and takes a reason."""

    @page_with_form
    @needs(REMOVE_ARTICLES, carries=["reason"])
    def view(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
        repo = repository()
        context = {"article": repo.articles.get(article_id)}
        page = reverse("articles:article", args=[article_id]) + "#comments"
        return _with_reason(request, template, context, action, change_of(repo), article_id, page)

    return view


def _with_reason(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    action: Action,
    change: _Change,
    subject: int,
    page: str,
) -> HttpResponse:
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        try:
            change(subject, actor(request), reason)
        except ActionRefused as refused:
            done = just_done(repository(), request, action)
            if not any((entry.article_id, entry.reason) == (context["article"].id, reason) for entry in done):
                messages.error(request, action_sentence(refused))
        return redirect(page)
    unsent_form.refill(request, form)
    return render(request, template, context | {"form": form}, status=400 if form.errors else 200)


remove = _of_comment("comments/remove.html", Action.REMOVE_COMMENT, lambda repo: repo.comments.remove)
restore = _of_comment("comments/restore.html", Action.RESTORE_COMMENT, lambda repo: repo.comments.restore)
lock = _of_discussion("comments/lock.html", Action.LOCK, lambda repo: repo.comments.lock)
unlock = _of_discussion("comments/unlock.html", Action.UNLOCK, lambda repo: repo.comments.unlock)
