"""Moderators remove and restore comments, and lock and unlock discussions. The log shows all of it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import page_with_form
from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import CommentId, article_of
from articles.domain.moderation.log import Action
from articles.repository import Repository
from articles.views.moderation.articles import Change, with_reason
from articles.web.identity import actor, needs
from articles.web.moderation.conflicts import check_not_own
from articles.wiring import repository


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
        return with_reason(request, template, context, action, change_of(repo), comment_id, page)

    return view


def _of_discussion(
    template: str, action: Action, change_of: Callable[[Repository], Change]
) -> Callable[..., HttpResponse]:
    """Return the view of a form that changes an article's discussion and takes a reason."""

    @page_with_form
    @needs(REMOVE_ARTICLES, carries=["reason"])
    def view(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
        repo = repository()
        context = {"article": repo.articles.get(article_id)}
        page = reverse("articles:article", args=[article_id]) + "#comments"
        return with_reason(request, template, context, action, change_of(repo), article_id, page)

    return view


remove = _of_comment("comments/remove.html", Action.REMOVE_COMMENT, lambda repo: repo.comments.remove)
restore = _of_comment("comments/restore.html", Action.RESTORE_COMMENT, lambda repo: repo.comments.restore)
lock = _of_discussion("comments/lock.html", Action.LOCK, lambda repo: repo.comments.lock)
unlock = _of_discussion("comments/unlock.html", Action.UNLOCK, lambda repo: repo.comments.unlock)
