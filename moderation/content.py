"""Moderators change articles and discussions: groups, removal, restoration, locks. The log shows all of it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.moderators import ASSIGN_GROUPS, REMOVE_ARTICLES
from accounts.web import unsent_form
from accounts.web.form_pages import page_with_form
from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId, article_of
from articles.domain.errors import ActionRefused, GroupExists
from articles.domain.moderation_log import Action, Actor
from articles.forms.articles import ReasonForm
from articles.forms.groups import AssignForm
from articles.repository import Repository
from articles.text.refusals import action_sentence
from articles.web.form_answers import just_done
from articles.web.identity import actor, needs
from articles.wiring import repository
from moderation.rights import check_not_own

Change = Callable[[int, Actor, str], None]
"""A change of the article or the comment with this id, with its reason."""


@page_with_form
@needs(ASSIGN_GROUPS, carries=["groups", "new_group", "reason", "was"])
def assign_groups(request: HttpRequest, article_id: int) -> HttpResponse:
    repo = repository()
    article = repo.articles.get(article_id)
    form = AssignForm(request.POST or None, groups=repo.groups.list_all(), current=article.groups)
    if request.method == "POST" and form.is_valid():
        moderator, (add, remove) = actor(request), form.changes
        for slug, title in form.new.items():
            with suppress(GroupExists):  # by a concurrent request
                repo.groups.create(slug, title, moderator)
        reason = form.cleaned_data["reason"]
        repo.groups.assign(article_id, add, remove, actor=moderator, reason=reason)
        messages.success(request, _("The article's groups have been saved."))
        return redirect("articles:article", article_id)
    unsent_form.refill(request, form)
    context = {"form": form, "article": article}
    return render(request, "moderation/assign_groups.html", context, status=400 if form.errors else 200)


def _with_reason(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    action: Action,
    change: Change,
    subject: int,
    page: str,
) -> HttpResponse:
    """Show the form for the reason of a change of an article or a comment, or change it and redirect to `page`.

    A form that arrives twice succeeds.
    """
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


def _of_comment(
    template: str, action: Action, change_of: Callable[[Repository], Change]
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


def _of_article(
    template: str, action: Action, change_of: Callable[[Repository], Change], part: str = ""
) -> Callable[..., HttpResponse]:
    """Return the view of a form that changes an article or its discussion, takes a reason, and returns there."""

    @page_with_form
    @needs(REMOVE_ARTICLES, carries=["reason"])
    def view(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
        repo = repository()
        article = repo.articles.get(article_id)
        if action is Action.RESTORE:
            check_not_own(article.poster, actor(request).id)
        page = reverse("articles:article", args=[article_id]) + part
        return _with_reason(request, template, {"article": article}, action, change_of(repo), article_id, page)

    return view


remove = _of_article("moderation/remove.html", Action.REMOVE, lambda repo: repo.articles.remove)
restore = _of_article("moderation/restore.html", Action.RESTORE, lambda repo: repo.articles.restore)
remove_comment = _of_comment("comments/remove.html", Action.REMOVE_COMMENT, lambda repo: repo.comments.remove)
restore_comment = _of_comment("comments/restore.html", Action.RESTORE_COMMENT, lambda repo: repo.comments.restore)
lock = _of_article("comments/lock.html", Action.LOCK, lambda repo: repo.comments.lock, "#comments")
unlock = _of_article("comments/unlock.html", Action.UNLOCK, lambda repo: repo.comments.unlock, "#comments")
