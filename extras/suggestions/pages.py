"""Suggestions: trusted members propose another title or other groups of an article.

One with enough support is applied, and is in the log; the poster or a moderator can decide earlier, and undo it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.models import MODERATE, POST, Ban, BanScope
from accounts.web.form_pages import form_action, members_only, page_named, private_form, show_form
from articles.api import schemas
from articles.api.groups import check_groups, slugs_of
from articles.api.protocol.operations import (
    AUTHORS,
    EDITORS,
    MEMBERS,
    ArticleNumber,
    OthersArticleNumber,
    check_scope,
    failing,
    router,
)
from articles.api.protocol.problems import Problem
from articles.configuration.choices import chosen, closed_groups
from articles.domain import errors
from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Group
from articles.domain.moderation_log import Actor
from articles.text.lines import TITLE_LIMIT, clean_title
from articles.text.refusals import action_sentence, until_trusted
from articles.text.slugs import SLUGS_PER_REQUEST
from articles.web import limits, rights
from articles.web.articles import restore_title
from articles.web.form_answers import telling
from articles.web.forms.fields import CleanedField, GroupsField, LineInput
from articles.web.groups import option_title
from articles.web.identity import actor, check_ban, is_trusted, may_be_untrusted, offer_no_banned_group, writer
from articles.web.wiring import group_title, repository
from extras.suggestions import rights as own_rights
from extras.suggestions.store import Suggestions
from extras.suggestions.suggestions import (
    MOST_SUGGESTIONS,
    NotTrustedYet,
    OwnArticle,
    Suggestion,
    SuggestionKind,
    SuggestionNotFound,
    SuggestionsFull,
    SuggestionUnchanged,
    joined_slugs,
)

_MOMENT = re.compile(r"[0-9]{1,12}\.[0-9]{3}")


def suggestions() -> Suggestions:
    """Return those of the site's store."""
    return Suggestions(repository().store)


def suggest(request: HttpRequest, article: Article, kind: SuggestionKind, to: str) -> bool:
    """Suggest a clean title, or existing groups, or support that; return whether it was applied.

    Raises Banned, NotTrustedYet, LimitReached, and the errors of `Suggestions.support`.
    """
    member = _suggester(request, article, to.split(",") if kind is SuggestionKind.GROUPS else ())
    limits.take(request, "suggestions")
    given: dict[str, Collection[str]] = {"closed": closed_groups()}
    if kind is SuggestionKind.GROUPS:
        banned = Ban.objects.current().filter(member=article.poster, scope=BanScope.GROUP.value)
        fixed = rights.settled_groups(article).union(banned.values_list("group", flat=True))
        given |= {"brought": rights.brought_groups(article), "fixed": fixed}
    return suggestions().support(article.id, member.id, kind, to, quorum=chosen.SUGGESTIONS, **given)


def _suggester(request: HttpRequest, article: Article, groups: Iterable[str] = ()) -> Actor:
    """Return the member, who suggests something for an article. Raises Banned, OwnArticle, NotTrustedYet."""
    member = writer(request, {*article.groups, *groups})
    check_ban(request.user, BanScope.VOTING)
    if article.poster == member.id:
        raise OwnArticle(article.id)
    if not is_trusted(request.user):
        raise NotTrustedYet(member.id)
    return member


def take_back(request: HttpRequest, article: Article, suggestion: str) -> None:
    """Take back the member's support. Idempotent. Raises the errors of `Suggestions.take_back`."""
    suggestions().take_back(article.id, actor(request).id, suggestion)


def decide(request: HttpRequest, article: Article, suggestion: str, *, accepted: bool) -> None:
    """Apply a suggestion, or decline it, as the poster or a moderator.

    Raises Banned, PermissionDenied, and the errors of `Suggestions.decide`.
    """
    found = _open(article, suggestion)
    decider = _decider(request, article, found, accepted=accepted)
    suggestions().decide(article.id, decider, found, accepted=accepted)


def _decider(request: HttpRequest, article: Article, found: Suggestion, *, accepted: bool) -> Actor:
    """Return the member, who decides on a suggestion.

    Raises Banned, PermissionDenied, ReadersWouldChange, GroupsDecided.
    """
    if not own_rights.may_decide(request, article, found.kind):
        raise PermissionDenied
    after = article.groups
    if accepted and found.kind is SuggestionKind.GROUPS:
        after = found.groups
        rights.check_same_readers(request.user, article.groups, after)
        rights.check_settled(request.user, article, after)
    return writer(request, after)


def _may_decide(request: HttpRequest, article: Article, found: Suggestion, *, accepted: bool) -> bool:
    try:
        _decider(request, article, found, accepted=accepted)
    except (errors.ActionRefused, PermissionDenied):
        return False
    return True


def undo(request: HttpRequest, article: Article, at: float | None) -> None:
    """Undo a suggestion that was applied at this moment, or the newest, while its change is still there.

    Raises Banned, PermissionDenied, SuggestionNotFound, and the errors of `Articles.edit` and `Groups.assign`.
    """
    if not any(own_rights.may_decide(request, article, kind) for kind in SuggestionKind):
        raise PermissionDenied
    repo = repository()
    entries = own_rights.find_undoable(request, article, repo.moderation_log.get_for_article(article.id).entries)
    entry = next((one for one in entries if at in (None, one.at)), None)
    if entry is None:
        raise SuggestionNotFound(article.id)
    if title := entry.details.get("old_title"):
        restore_title(request, article, title)
    else:
        added, removed = entry.slugs("added"), entry.slugs("removed")
        after = {*article.groups} - {*added} | {*removed}
        rights.check_same_readers(request.user, article.groups, after)
        repo.groups.assign(article.id, removed, added, actor=writer(request, after))


def _open(article: Article, suggestion: str) -> Suggestion:
    """Return an open suggestion. Raises SuggestionNotFound."""
    for one in suggestions().list_open(article):
        if one.id == suggestion:
            return one
    raise SuggestionNotFound(article.id)


def _article(article_id: ArticleId) -> Article:
    """Return an article with suggestions. Raises Http404, ArticleNotFound, ArticleRemoved, ArticleMerged."""
    if not chosen.SUGGESTIONS:
        raise Http404
    article = repository().articles.get(article_id, with_html=True)
    article.check_listed()
    return article


class SuggestionForm(forms.Form):
    """Another title, other groups, or both."""

    title = CleanedField(
        clean_title, label=gettext_lazy("Title"), widget=LineInput(TITLE_LIMIT, {"autocomplete": "off"})
    )
    groups = GroupsField(label=gettext_lazy("Groups"), required=False)

    def __init__(self, data: Any = None, *, article: Article, groups: Sequence[Group], most_groups: int) -> None:
        super().__init__(data, initial={"title": article.title, "groups": article.groups})
        self._article = article
        self.fields["groups"].offer(groups, article.groups, most_groups)  # type: ignore[attr-defined]

    def clean_groups(self) -> list[str]:
        """Return the slugs. A form without the field, which every browser sends, leaves the groups unchanged."""
        return list(self.cleaned_data["groups"] if "groups" in self.data else self._article.groups)

    def clean(self) -> dict[str, Any]:
        if not self.errors and not self.changes:
            self.add_error(None, action_sentence(SuggestionUnchanged()))
        return self.cleaned_data

    @property
    def changes(self) -> list[tuple[SuggestionKind, str]]:
        """What the form suggests."""
        before = self._article.title, joined_slugs(self._article.groups)
        after = self.cleaned_data["title"], joined_slugs(self.cleaned_data["groups"])
        return [(kind, to) for kind, was, to in zip(SuggestionKind, before, after, strict=True) if to != was]


@private_form(members_only(carries=["title", "groups"]))
def suggest_by_form(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Show the open suggestions for an article, and the form for others."""
    repo, article = repository(), _article(article_id)
    form = SuggestionForm(
        request.POST or None,
        article=article,
        groups=repo.groups.list_all(),
        most_groups=repo.rules.max_groups_by_poster,
    )
    offer_no_banned_group(form, request.user)
    if request.method == "POST" and form.is_valid() and _suggest_all(request, article, form):
        return redirect("articles:article", article_id)
    member = actor(request).id
    shown = [
        {
            "suggestion": one,
            "groups": [option_title(slug, group_title(slug)) for slug in one.groups],
            "is_supported": member in one.by,
            "may_accept": _may_decide(request, article, one, accepted=True),
            "may_decline": _may_decide(request, article, one, accepted=False),
        }
        for one in suggestions().list_open(article)
    ]
    refusal = rights.why_not(_suggester, request, article)
    context: dict[str, Any] = {"article": article, "suggestions": shown}
    context |= {"is_own": article.poster == member, "quorum": chosen.SUGGESTIONS, "may_support": not refusal}
    is_new, rules = may_be_untrusted(request.user), repo.rules
    context["until"] = until_trusted(rules.new_member, rules.trusted_points) if is_new else ""
    full = action_sentence(SuggestionsFull()) if len(shown) >= MOST_SUGGESTIONS else ""
    context |= {"refusal": refusal or full, "no_form": bool(refusal or full)}
    return show_form(request, "suggestions/suggest.html", form, **context)


def _suggest_all(request: HttpRequest, article: Article, form: SuggestionForm) -> bool:
    """Make the suggestions of a form; return whether all succeeded. If not, the form has the error."""
    try:
        are_applied = [suggest(request, article, kind, to) for kind, to in form.changes]
    except errors.ActionRefused as refused:
        form.add_error(None, action_sentence(refused))
        return False
    messages.success(request, _told(all(are_applied)))
    return True


def _told(is_applied: bool) -> str:
    if is_applied:
        return _("Enough members agree: the article has been changed.")
    return _("Thank you. The poster, the moderators or other members can now apply your suggestion.")


@form_action(page=page_named("articles:suggest", "article_id"), button=gettext_lazy("Continue"))
@members_only()
def act(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Support a suggestion, take that back, accept or decline it; return to the suggestions."""
    article, suggestion = _article(article_id), request.POST.get("suggestion", "")
    with telling(request):
        match request.POST.get("act"):
            case "support":
                found = _open(article, suggestion)
                told = _told(suggest(request, article, found.kind, found.to))
            case "take_back":
                take_back(request, article, suggestion)
                told = _("You no longer support this suggestion.")
            case "accept":
                decide(request, article, suggestion, accepted=True)
                told = _("The article has been changed.")
            case "decline":
                decide(request, article, suggestion, accepted=False)
                told = _("The suggestion has been declined.")
            case _:
                raise BadRequest
        messages.success(request, told)
    return redirect("articles:suggest", article_id)


@form_action(page=page_named("articles:article", "article_id"), button=pgettext_lazy("moderation", "Undo"))
@members_only()
def undo_by_form(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Undo a suggestion that was applied; return to the article."""
    with telling(request):
        undo(request, _article(article_id), _moment(request.POST.get("at", "")))
        messages.success(request, _("The change has been undone."))
    return redirect("articles:article", article_id)


def _moment(text: str) -> float:
    """Return the time that a form names, in Unix seconds. Raises BadRequest."""
    if not _MOMENT.fullmatch(text):
        raise BadRequest
    return float(text)


_SuggestionId = PathEx[str, P(description="The id of an open suggestion.", examples=["726d7a6e53e761a9"])]


class NewSuggestion(schemas.Model):
    """Another title, or other groups: exactly one of them."""

    title: str | None = Field(None, description=schemas.TITLE_HELP, examples=["A better title"])
    groups: list[str] | None = Field(None, max_length=SLUGS_PER_REQUEST)
    """All groups that the article should be in."""


class OpenSuggestion(BaseModel):
    """An open suggestion."""

    id: str
    title: str | None = Field(description="null if it suggests groups.")
    groups: list[str] | None = Field(description="null if it suggests a title.")
    time: float = Field(description="When it was made, in Unix seconds.")
    supporters: int
    supported: bool = Field(description="Whether you support it.")


class Suggested(BaseModel):
    """The title and the groups of an article, and the open suggestions for it."""

    title: str
    groups: list[str]
    suggestions: list[OpenSuggestion]
    quorum: int = Field(description="How many supporters apply a suggestion.")


class Decision(BaseModel):
    """Whether to apply a suggestion."""

    accepted: bool = Field(description="False declines it.", examples=[True])


class Undoing(BaseModel):
    """Which applied suggestion to undo."""

    time: float | None = Field(
        None, description="The time of its entry in the article's log; null for the newest."
    )


def _suggested(request: HttpRequest, article_id: ArticleId) -> Suggested:
    article, member = _article(article_id), actor(request).id
    found = [
        OpenSuggestion(
            id=one.id,
            title=one.to if one.kind is SuggestionKind.TITLE else None,
            groups=list(one.groups) if one.kind is SuggestionKind.GROUPS else None,
            time=one.at,
            supporters=len(one.by),
            supported=member in one.by,
        )
        for one in suggestions().list_open(article)
    ]
    return Suggested(
        title=article.title, groups=list(article.groups), suggestions=found, quorum=chosen.SUGGESTIONS
    )


@router.get("articles/{article_id:article_id}/suggestions", response=failing(409), auth=MEMBERS)
def list_suggestions(request: HttpRequest, article_id: ArticleNumber) -> Suggested:
    """Suggestions for an article. The open suggestions of another title or other groups, for members."""
    return _suggested(request, article_id)


@router.post("articles/{article_id:article_id}/suggestions", response=failing(409), auth=AUTHORS)
def suggest_change(request: HttpRequest, article_id: OthersArticleNumber, new: NewSuggestion) -> Suggested:
    """Suggest a title or groups.

    Suggests it, or supports the same suggestion of another member. With enough supporters it is applied. You
    support one title and one set of groups of an article at a time. Idempotent.
    """
    article = _article(article_id)
    if new.title is not None and new.groups is None:
        suggest(request, article, SuggestionKind.TITLE, clean_title(new.title))
    elif new.groups is not None and new.title is None:
        slugs, most = slugs_of(new.groups), repository().rules.max_groups_by_poster
        check_groups(slugs, {*repository().groups.get_titles(), *article.groups}, max(most, len(article.groups)))
        suggest(request, article, SuggestionKind.GROUPS, joined_slugs(slugs))
    else:
        raise Problem(400, "invalid", _("Send either a title or groups."))
    return _suggested(request, article_id)


@router.put("articles/{article_id:article_id}/suggestions/{suggestion}", auth=EDITORS)
def decide_suggestion(
    request: HttpRequest, article_id: OthersArticleNumber, suggestion: _SuggestionId, decision: Decision
) -> Suggested:
    """Apply or decline a suggestion. For the article's poster, and for moderators."""
    article = _article(article_id)
    check_scope(request, POST if article.poster == actor(request).id else MODERATE)
    decide(request, article, suggestion, accepted=decision.accepted)
    return _suggested(request, article_id)


@router.delete("articles/{article_id:article_id}/suggestions/{suggestion}", auth=AUTHORS)
def take_back_suggestion(
    request: HttpRequest, article_id: OthersArticleNumber, suggestion: _SuggestionId
) -> Suggested:
    """Take back your support of a suggestion. A suggestion without other supporters is removed. Idempotent."""
    take_back(request, _article(article_id), suggestion)
    return _suggested(request, article_id)


@router.post("articles/{article_id:article_id}/log/undo", auth=EDITORS)
def undo_suggestion(request: HttpRequest, article_id: OthersArticleNumber, undoing: Undoing) -> Suggested:
    """Undo a suggestion that was applied.

    For the article's poster, and for moderators, while the title or the groups are still as suggested.
    """
    article = _article(article_id)
    check_scope(request, POST if article.poster == actor(request).id else MODERATE)
    undo(request, article, undoing.time)
    return _suggested(request, article_id)


urlpatterns = [
    path("articles/<article_id:article_id>/suggest/", suggest_by_form, name="suggest"),
    path("articles/<article_id:article_id>/suggest/act/", act, name="act_on_suggestion"),
    path("articles/<article_id:article_id>/suggest/undo/", undo_by_form, name="undo_suggestion"),
]
