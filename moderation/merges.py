"""Merge articles of one story, and undo that in one click."""

import re
from contextlib import suppress

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy
from ninja import P, PathEx
from pydantic import Field

from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import form_action, page_named, page_with_form, show_form, show_next
from articles.api import schemas
from articles.api.protocol.operations import MODERATORS, failing, require, router
from articles.domain.articles import ArticleId
from articles.domain.errors import ActionRefused, ArticleNotFound, NotMerged
from articles.domain.moderation_log import Actor
from articles.text.lines import clean_reason
from articles.text.refusals import action_sentence
from articles.web.forms.articles import ReasonForm
from articles.web.identity import actor, needs, reader_id
from articles.web.rights import check_merge_readers, check_not_own
from articles.web.wiring import repository
from moderation.subjects import take

_TARGET = re.compile(r"(?:\S*/articles/)?([0-9]{1,15})(?:[/?#]\S*)?")
_LONGEST_TARGET = 300


def merge(article_id: ArticleId, into: ArticleId, moderator: Actor, reason: str) -> bool:
    """Merge an article into another one, for as long as one request may take; return whether all votes are moved.

    If the other one was merged itself, into the article that it was merged into. Idempotent. Raises OwnMatter,
    MergeAcrossReaders, and the errors of `Merges.merge`.
    """
    repo = repository()
    target = repo.articles.get(into)
    target = repo.articles.get(target.merged_into) if target.merged_into else target
    _check_not_own(article_id, target.id, moderator)
    check_merge_readers(repo.articles.get(article_id), target)
    return take(repo.merges.merge(article_id, target.id, moderator, reason))


def undo(article_id: ArticleId, moderator: Actor, reason: str) -> bool:
    """Undo a merge; otherwise like `merge`. Raises OwnMatter, and the errors of `Merges.undo`."""
    repo = repository()
    _check_not_own(article_id, repo.articles.get(article_id).merged_into, moderator)
    return take(repo.merges.undo(article_id, moderator, reason))


def _check_not_own(article_id: ArticleId, into: ArticleId | None, moderator: Actor) -> None:
    """Raise OwnMatter if the moderator posted one of the articles, and ArticleNotFound."""
    for number in filter(None, (article_id, into)):
        check_not_own(repository().articles.get(number).poster, moderator.id)


class MergeForm(ReasonForm):
    """Into which article another one is merged, and why."""

    into = forms.CharField(
        max_length=_LONGEST_TARGET,
        label=gettext_lazy("Merge into"),
        help_text=gettext_lazy("Address or number of the article that stays."),
    )
    field_order = ("into", "reason")

    def clean_into(self) -> ArticleId:
        """Return the number of the article."""
        match = _TARGET.fullmatch(self.cleaned_data["into"].strip())
        if not match or not int(match[1]):
            raise forms.ValidationError(_("Enter the address or the number of an article of this site."))
        return int(match[1])


@page_with_form
@needs(REMOVE_ARTICLES, carries=["into", "reason"])
def merging(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Merge an article by a form; `?into=` fills in the other one."""
    article = repository().articles.get(article_id)
    form = MergeForm(request.POST or None, initial={"into": request.GET.get("into", "")[:_LONGEST_TARGET]})
    if request.method == "POST" and form.is_valid():
        try:
            is_complete = merge(article_id, form.cleaned_data["into"], actor(request), form.cleaned_data["reason"])
        except (ActionRefused, ArticleNotFound) as refused:
            form.add_error("into", action_sentence(refused))
        else:
            _tell(request, _("The articles have been merged."), is_complete=is_complete)
            return redirect("articles:article", article_id)  # which leads to the other one
    else:
        article.check_listed()
    return show_form(request, "moderation/merge.html", form, article=article)


@form_action(page=page_named("articles:article", "article_id"), button=gettext_lazy("Undo the merge"))
@needs(REMOVE_ARTICLES)
def undoing(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Undo a merge in one click: that into `into`, if the form names an article. Succeeds if it arrives twice."""
    into, is_complete = request.POST.get("into"), True
    try:
        if into in (None, str(repository().articles.get(article_id).merged_into)):
            is_complete = undo(article_id, actor(request), "")
    except NotMerged:
        pass
    except ActionRefused as refused:
        return show_next(request, action_sentence(refused), "articles:article", article_id, is_error=True)
    _tell(request, _("The merge has been undone."), is_complete=is_complete)
    return redirect("articles:article", article_id)


def _tell(request: HttpRequest, sentence: str, *, is_complete: bool) -> None:
    messages.success(request, sentence)
    if not is_complete:
        messages.info(request, _("The site is still counting the votes. This takes a minute."))


_ArticleNumber = PathEx[int, P(description="The article's number.", ge=1, examples=[57])]


class ArticleMerging(schemas.Model):
    """Into which article to merge, and why."""

    into: int | None = Field(ge=1, examples=[58])
    """Number of the article that stays; null undoes a merge."""

    reason: str = Field(examples=["The same story."])
    """Everyone can read it in the moderation log; at most 500 characters. Can be empty when a merge is undone."""


@router.put("articles/{article_id:article_id}/merged", response=failing(409), auth=MODERATORS)
def merge_article(request: HttpRequest, article_id: _ArticleNumber, merging: ArticleMerging) -> schemas.Article:
    """Merge an article into another one, or undo that.

    Moderators only. The merged article leaves every list, and its address leads to the other one, which shows its
    comments. Each member's vote counts once. Idempotent. Of articles with very many votes, some may be counted a
    minute later.
    """
    require(request, REMOVE_ARTICLES)
    moderator = actor(request)
    if merging.into is not None:
        merge(article_id, merging.into, moderator, clean_reason(merging.reason))
    else:
        with suppress(NotMerged):
            undo(article_id, moderator, clean_reason(merging.reason) if merging.reason else "")
    return schemas.Article.of(repository().articles.get(article_id, reader_id(request)))
