"""What moderators did: the public log, and the lists of what is removed, for moderators and for its authors."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from math import inf
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe
from ninja import Query
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import private_page
from articles.api import schemas
from articles.api.articles import LogEntry
from articles.api.comments import Comment
from articles.api.protocol import cursors
from articles.api.protocol.operations import MEMBERS, MODERATORS, possible_page, router
from articles.domain import comments as domain, moderation_log
from articles.domain.articles import Article
from articles.domain.members import DELETED_NAME
from articles.domain.moderation_log import Action, LogFilter
from articles.web.groups import group_options
from articles.web.identity import actor, needs
from articles.web.paging import Pager, numbered_pager, page_number
from articles.web.rights import is_of_groups, may, may_in_groups, within
from articles.web.wiring import repository

ACTIONS: dict[str, Any] = {
    Action.EDIT: pgettext_lazy("moderation log", "Article edited"),
    Action.APPLY_SUGGESTION: pgettext_lazy("moderation log", "Suggestion applied"),
    Action.GROUPS: pgettext_lazy("moderation log", "Groups of an article changed"),
    Action.REMOVE: pgettext_lazy("moderation log", "Article removed"),
    Action.WITHDRAW: pgettext_lazy("moderation log", "Article withdrawn"),
    Action.RESTORE: pgettext_lazy("moderation log", "Article restored"),
    Action.MERGE: pgettext_lazy("moderation log", "Articles merged"),
    Action.UNMERGE: pgettext_lazy("moderation log", "Merge undone"),
    Action.REMOVE_COMMENT: pgettext_lazy("moderation log", "Comment removed"),
    Action.RESTORE_COMMENT: pgettext_lazy("moderation log", "Comment restored"),
    Action.LOCK: pgettext_lazy("moderation log", "Discussion locked"),
    Action.UNLOCK: pgettext_lazy("moderation log", "Discussion unlocked"),
    Action.BAN: pgettext_lazy("moderation log", "Member banned"),
    Action.LIFT_BAN: pgettext_lazy("moderation log", "Ban lifted"),
    Action.ACT_ON_BRANCH: pgettext_lazy("moderation log", "Branch of the invitation tree moderated"),
    Action.REMOVE_ABOUT: pgettext_lazy("moderation log", "Profile text removed"),
    Action.LEAVE_OUT_VOTES: pgettext_lazy("moderation log", "Votes excluded from ranking"),
    Action.COUNT_VOTES: pgettext_lazy("moderation log", "Votes included in ranking again"),
    Action.CHECK_VOTES: pgettext_lazy("moderation log", "Votes checked"),
    Action.DECLINE_SIGN_UP: pgettext_lazy("moderation log", "Sign-up declined"),
    Action.RESET_SECOND_FACTOR: pgettext_lazy("moderation log", "Second step reset"),
    Action.SEND_CLAIM: pgettext_lazy("moderation log", "Link to claim an account sent"),
    Action.DELETE_NOTE: pgettext_lazy("moderation log", "Note deleted"),
    Action.BLOCK_HOST: pgettext_lazy("moderation log", "Host blocked"),
    Action.UNBLOCK_HOST: pgettext_lazy("moderation log", "Host unblocked"),
    Action.REDACT: pgettext_lazy("moderation log", "Text redacted"),
    Action.CREATE_GROUP: pgettext_lazy("moderation log", "Group created"),
    Action.RENAME_GROUP: pgettext_lazy("moderation log", "Group renamed"),
    Action.DESCRIBE_GROUP: pgettext_lazy("moderation log", "Group description changed"),
    Action.SHOW_GROUP: pgettext_lazy("moderation log", "Readers of a group changed"),
    Action.MERGE_GROUPS: pgettext_lazy("moderation log", "Groups merged"),
    Action.TUNE: pgettext_lazy("moderation log", "Ranking changed"),
    Action.CHANGE_RULE: pgettext_lazy("moderation log", "Automatic rule changed"),
    Action.CHANGE_SETTING: pgettext_lazy("moderation log", "Setting changed"),
    Action.CHANGE_SITE_TEXT: pgettext_lazy("moderation log", "Text of the site changed"),
    Action.CHANGE_PERMISSIONS: pgettext_lazy("moderation log", "Permissions changed"),
}
"""What readers choose from of each action."""


def _group_choices() -> list[tuple[str, str]]:
    return [("", _("All groups")), *group_options()]


class LogFilterForm(forms.Form):
    """Which entries of the log a reader wants."""

    action = forms.ChoiceField(
        choices=[("", pgettext_lazy("moderation log", "Everything")), *ACTIONS.items()],
        required=False,
        label=gettext_lazy("What"),
    )
    actor = forms.CharField(required=False, max_length=60, label=gettext_lazy("By"))
    member = forms.CharField(required=False, max_length=60, label=gettext_lazy("About the member"))
    group = forms.ChoiceField(choices=_group_choices, required=False, label=gettext_lazy("Group"))

    @property
    def wanted(self) -> LogFilter:
        """The filter of a valid form."""
        values = self.cleaned_data
        action = Action(values["action"]) if values["action"] else None
        return LogFilter(action, values["actor"], values["member"], values["group"])


@require_safe
def public_log(request: HttpRequest) -> HttpResponse:
    """Show the log, or what a filter admits; a page of that ends where the search for it has come."""
    form = LogFilterForm({name: request.GET.get(name, "") for name in LogFilterForm.base_fields})
    if not form.is_valid():
        context = {"form": form, "runs": (), "pager": None, "is_filtered": True}
        return render(request, "moderation/log.html", context, status=400)
    log, wanted, rest = repository().moderation_log, form.wanted, _rest(request)
    if not wanted:
        page = log.get_page(page_number(request))
        pager = numbered_pager(page.number, has_next=page.has_next)
    else:
        page = log.find(wanted, rest)
        query = {name: value for name, value in form.cleaned_data.items() if value}
        following = "?" + urlencode(query | {"rest": ".".join(map(str, page.rest))})
        pager = Pager("", "", following) if page.has_next else None
    runs = [(entry,) for entry in page.entries] if wanted else list(_runs(page.entries))
    context = {"form": form, "runs": runs, "acts": ACTIONS, "pager": pager, "page": page}
    return render(request, "moderation/log.html", context | {"is_filtered": bool(wanted)})


_LEAST_FOLDED = 3  # entries that a line stands for


def _runs(entries: Iterable[moderation_log.LogEntry]) -> Iterator[tuple[moderation_log.LogEntry, ...]]:
    """Yield the entries, those in which one actor does the same several times in a row together."""
    for (_action, name, _groups), same in groupby(
        entries, key=lambda one: (one.action, one.actor_name, one.details.get("capacity"))
    ):
        run = tuple(same)
        if len(run) < _LEAST_FOLDED or name == DELETED_NAME:  # these may be several members
            yield from ((entry,) for entry in run)
        else:
            yield run


_REST = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12}){0,1023}|[0-9]{13,17}\.[0-9]{1,12}")
"""Counts, a shard each; or a moment in microseconds, and how many entries of it were shown."""


def _rest(request: HttpRequest) -> list[int] | None:
    """Return `?rest=`, how much of each shard's log is left; None without it. Raises Http404 if it is no such."""
    text = request.GET.get("rest")
    if text is not None and not _REST.fullmatch(text):
        raise Http404(f"no place in the log: {text!r}")
    return None if text is None else [int(one) for one in text.split(".")]


_BEFORE = re.compile(r"[0-9]{1,11}\.[0-9]{3}")


@private_page(needs(REMOVE_ARTICLES, in_groups=True))
def removed_articles(request: HttpRequest) -> HttpResponse:
    page = repository().removed_articles.get_page(page_number(request), groups=within(request.user))
    pager = numbered_pager(page.number, has_next=page.has_next)
    context = {"articles": page.articles, "pager": pager, "may_restore": _may_restore(request)}
    return render(request, "moderation/removed.html", context)


def _may_restore(request: HttpRequest) -> Callable[[moderation_log.LogEntry | None], bool]:
    """Return whether the reader may reverse a removal that is listed, by its entry in the log."""
    return (lambda _removal: True) if may(request.user, REMOVE_ARTICLES) else is_of_groups


@private_page(needs(REMOVE_ARTICLES, in_groups=True))
def removed_comments(request: HttpRequest) -> HttpResponse:
    page = repository().removed_comments.get_page(_before(request))
    following = "" if page.next_before is None else f"?before={page.next_before:.3f}"
    pager = Pager("", "", following) if following else None
    rows = _decidable(request, page.comments)
    context = {"comments": rows, "pager": pager, "may_restore": _may_restore(request)}
    return render(request, "moderation/removed_comments.html", context)


def _decidable(request: HttpRequest, removed: Iterable[Any]) -> list[Any]:
    """Return those of the removed comments that the reader can restore: of moderators of groups, those there."""
    return [one for one in removed if may(request.user, REMOVE_ARTICLES, one.article.groups)]


def _before(request: HttpRequest) -> float:
    """Return `?before=`, in Unix seconds; without it, the end of time. Raises Http404 if it is no such moment."""
    text = request.GET.get("before")
    if text is None:
        return inf
    if not _BEFORE.fullmatch(text):
        raise Http404(f"no moment: {text!r}")
    return float(text)


class BeforeQuery(schemas.AfterQuery):
    """Which part of the removed comments."""

    before: schemas.Moment | SkipJsonSchema[None] = Field(None, examples=[1700000000.123])
    """Only removals before this moment, in Unix seconds: next_before of the previous part. By default, the latest
    ones."""


_REMOVAL = "The log entry of its removal; null if many later entries are about the article."


class RemovedArticle(BaseModel):
    """A removed article."""

    article: schemas.Article
    link: str | None = Field(description="Its link, which only its poster and moderators see; null without one.")
    removal: LogEntry | None = Field(description=_REMOVAL)


class OwnRemovedArticle(RemovedArticle):
    """An article of yours that is removed."""

    text: str | None = Field(description="Its text in Markdown; null without one.")


class OwnRemovedArticles(schemas.NumberedPage):
    """Those articles of one page of your list that are removed."""

    articles: list[OwnRemovedArticle]


class RemovedArticles(schemas.NumberedPage):
    """One page of the removed articles, the last posted first."""

    articles: list[RemovedArticle]


class RemovedComment(BaseModel):
    """A removed comment."""

    comment: Comment
    text: str = Field(description="Its text in Markdown, which only its author and moderators see.")
    title: str = Field(description="Title of the article.")
    removal: LogEntry | None = Field(description=_REMOVAL)

    @classmethod
    def of(
        cls, comment: domain.Comment, article: Article, removal: moderation_log.LogEntry | None
    ) -> "RemovedComment":
        return cls(
            comment=Comment.of(comment, comment.replies),
            text=comment.text,
            title=article.title,
            removal=LogEntry.of(removal) if removal else None,
        )


class OwnRemovedComments(schemas.NumberedPage):
    """Those comments of one page of your list that are removed."""

    comments: list[RemovedComment]


class RemovedComments(schemas.Continued):
    """A part of the removed comments, the last removed first."""

    comments: list[RemovedComment]
    next_before: float | None = Field(
        description="before of the next part; null if this is the last. A part can be empty and have a next one."
    )


def _check_reader(request: HttpRequest) -> None:
    if not may_in_groups(request.user, REMOVE_ARTICLES):
        raise PermissionDenied


_OF_GROUPS = "Moderators only. Moderators of groups get what is in their groups only."


@router.get("removed/articles", description=_OF_GROUPS, auth=MODERATORS)
def list_removed_articles(request: HttpRequest, query: Query[schemas.PageQuery]) -> RemovedArticles:
    """Removed articles."""
    _check_reader(request)
    after, number = cursors.position_in(request), possible_page(query.page)
    page = repository().removed_articles.get_page(number, after=after, groups=within(request.user))
    rows = [RemovedArticle(**_facts(*one)) for one in page.articles]
    following = cursors.next_after(request, page.last) if page.has_next else None
    return RemovedArticles(articles=rows, page=query.number, has_next=page.has_next, next_after=following)


@router.get("removed/comments", description=_OF_GROUPS, auth=MODERATORS)
def list_removed_comments(request: HttpRequest, query: Query[BeforeQuery]) -> RemovedComments:
    """Removed comments."""
    _check_reader(request)
    (before,) = cursors.state_in(request) or (query.before,)
    page = repository().removed_comments.get_page(inf if before is None else before)
    rows = [RemovedComment.of(*one) for one in _decidable(request, page.comments)]
    following = None if page.next_before is None else cursors.next_after(request, [page.next_before])
    return RemovedComments(comments=rows, next_before=page.next_before, next_after=following)


@router.get("me/removed/articles", auth=MEMBERS)
def list_own_removed_articles(request: HttpRequest, query: Query[schemas.PageQuery]) -> OwnRemovedArticles:
    """Your removed articles. Removed by moderators, or withdrawn by you. Only you and moderators can see them."""
    repo, member = repository(), actor(request).id
    after = cursors.position_in(request)
    page = repo.members.get_posted(member, possible_page(query.page), member, after=after)
    found = repo.removed_articles.describe([one.id for one in page.removed], with_html=True)
    rows = [OwnRemovedArticle(**_facts(*one), text=one.article.text or None) for one in found]
    following = cursors.next_after(request, page.last) if page.has_next else None
    return OwnRemovedArticles(articles=rows, page=query.number, has_next=page.has_next, next_after=following)


@router.get("me/removed/comments", auth=MEMBERS)
def list_own_removed_comments(request: HttpRequest, query: Query[schemas.PageQuery]) -> OwnRemovedComments:
    """Your removed comments. Removed by moderators. Only you and moderators can see their texts."""
    number, after = possible_page(query.page), cursors.position_in(request)
    page = repository().removed_comments.get_page_by(actor(request).id, number, after=after)
    following = cursors.next_after(request, page.last) if page.has_next else None
    rows = [RemovedComment.of(*one) for one in page.comments]
    return OwnRemovedComments(comments=rows, page=query.number, has_next=page.has_next, next_after=following)


def _facts(article: Article, removal: moderation_log.LogEntry | None) -> dict[str, Any]:
    return {
        "article": schemas.Article.of(article),
        "link": article.link or None,
        "removal": LogEntry.of(removal) if removal else None,
    }
