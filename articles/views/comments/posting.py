"""Write, edit and delete comments."""

from contextlib import suppress

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.web import sent_forms
from accounts.web.form_pages import members_only, page_with_form, show_form, with_address
from articles.domain.articles import ArticleId
from articles.domain.comments import EDIT_SECONDS, Comment, CommentId, article_of
from articles.domain.errors import ActionRefused, CommentNotFound, HeldForApproval
from articles.text.refusals import action_sentence
from articles.views.comments.discussion import comment_of
from articles.views.posting import to_held
from articles.web import comments
from articles.web.forms.comments import CommentForm, EditCommentForm
from articles.web.identity import reader_id, writer
from articles.web.wiring import repository


def _place_of(comment_id: CommentId) -> str:
    """Return the address of the comment on the article's page, which leads to its own if it is not shown there."""
    page = reverse("articles:article", args=[article_of(comment_id)])
    return f"{page}?comment={comment_id}#comment-{comment_id}"


@page_with_form
@members_only(carries=["text", "parent"])
@with_address
def write(request: HttpRequest, article_id: int) -> HttpResponse:
    """Post a comment. The page shows a form that is refused, and serves for replies without a script."""
    writer(request, lambda: repository().articles.get(article_id).groups)
    form = CommentForm(request.POST or None, initial={"parent": request.GET.get("parent")})
    shown = form.preview(request)
    is_sent = request.method == "POST" and shown is None
    try:
        if is_sent and form.is_valid() and (comment_id := _post(request, article_id, form)):
            return redirect(_place_of(comment_id))
    except HeldForApproval as held:
        return to_held(request, held)
    article = repository().articles.get(article_id, reader_id(request))
    article.check_listed()
    sent_forms.refill(request, form)
    no_form = article.locked is not None and not sent_forms.has_typed(request)
    context = {"form": form, "article": article, "preview": shown, "no_form": no_form}
    context["parent"] = _parent(article_id, form["parent"].value())
    return render(request, "comments/write.html", context, status=400 if form.errors else 200)


def _post(request: HttpRequest, article_id: ArticleId, form: CommentForm) -> CommentId | None:
    """Post the comment; None if it is refused: then the form has the error, and keeps what was typed."""
    try:
        return comments.post(request, article_id, form.cleaned_data["text"], form.cleaned_data["parent"])
    except (ActionRefused, CommentNotFound) as refused:
        form.add_error(None, action_sentence(refused))
    return None


def _parent(article_id: ArticleId, raw: object) -> Comment | None:
    """Return the comment that a form replies to; None without one that is shown on this article."""
    comment = comment_of(article_id, str(raw or ""))
    return comment if comment and comment.is_shown else None


@page_with_form
@members_only(carries=["text"])
@with_address
def edit(request: HttpRequest, comment_id: int) -> HttpResponse:
    repo = repository()
    author = writer(request, lambda: repo.articles.get(article_of(comment_id)).groups)
    comment = repo.comments.get(comment_id, author.id)
    if not comment.may_be_edited_by(author.id):
        raise PermissionDenied
    form = EditCommentForm(request.POST or None, text=comment.text)
    shown = form.preview(request)
    if request.method == "POST" and shown is None and form.is_valid() and _edit(request, comment, form):
        return redirect(_place_of(comment_id))
    article = repo.articles.get(comment.article)
    context = {
        "preview": shown,
        "article": article,
        "no_form": article.locked is not None,
        "comment": comment,
        "silent_until": comment.posted_at + EDIT_SECONDS,
        "now": repo.store.now(),
    }
    return show_form(request, "comments/edit.html", form, **context)


def _edit(request: HttpRequest, comment: Comment, form: EditCommentForm) -> bool:
    """Change the comment and return whether that succeeded; if not, the form has the error."""
    try:
        comments.edit(request, comment, form.cleaned_data["text"])
    except ActionRefused as refused:
        form.add_error(None, action_sentence(refused))
    return not form.errors


@page_with_form
@members_only()
def delete(request: HttpRequest, comment_id: int) -> HttpResponse:
    """Delete the author's comment. A form that arrives twice succeeds."""
    repo, article_id = repository(), article_of(comment_id)
    if request.method == "POST":
        with suppress(CommentNotFound):
            comments.delete(request, comment_id)
            messages.success(request, _("Your comment has been deleted."))
        return redirect(reverse("articles:article", args=[article_id]) + "#comments")
    comment = repo.comments.get(comment_id)
    if comment.author != reader_id(request):
        raise PermissionDenied
    article = repo.articles.get(article_id)
    return show_form(request, "comments/delete.html", forms.Form(), article=article, comment=comment)
