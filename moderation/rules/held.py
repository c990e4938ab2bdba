"""Posts that a rule holds: their authors see them as waiting, and moderators approve or refuse them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, gettext_lazy, pgettext
from ninja import P, PathEx, Query
from pydantic import BaseModel, Field

from accounts.models import HeldPost, ModeratorRule
from accounts.models.rules import POSTED, REFUSED
from accounts.moderators import REMOVE_ARTICLES
from accounts.web import sent_forms
from accounts.web.form_pages import MemberRequest, members_only, private_act, private_page
from articles.api import schemas
from articles.api.protocol import cursors
from articles.api.protocol.operations import AUTHORS, MEMBERS, MODERATORS, failing, require, router
from articles.domain.articles import Content
from articles.domain.errors import ArticlesError, HeldDecided
from articles.text.lines import clean_reason
from articles.text.refusals import action_sentence
from articles.web import articles, comments
from articles.web.caching import unlisted
from articles.web.form_answers import telling
from articles.web.forms.fields import CleanedField
from articles.web.identity import actor, needs
from articles.web.rights import check_not_own, forget_waiting
from articles.web.wiring import html_of

MOST_SHOWN = 50  # held posts in the queue, the oldest; and on the author's page, the newest


def list_shown(posts: QuerySet[HeldPost]) -> list[HeldPost]:
    """Return the first of these posts, with their texts as `html`. One query."""
    shown = list(posts[:MOST_SHOWN])
    for one in shown:
        vars(one)["html"] = html_of(one.text) if one.text else ""
    return shown


def approve(held: HeldPost, moderator_id: int) -> None:
    """Post it as its author would now; else it waits. Raises OwnMatter, HeldDecided, and errors as posting."""
    check_not_own(held.author_id, moderator_id)
    request = HttpRequest()
    request.user = held.author
    with transaction.atomic():
        if not HeldPost.objects.decide(held, POSTED, moderator_id):
            raise HeldDecided(held.pk)
        if held.article is None:
            content = Content(held.title, held.link, text=held.text)
            number = articles.post(request, content, held.slugs, is_approved=True).id
        else:
            parent = int(held.parent) if held.parent else None
            number = comments.post(request, held.article, held.text, parent, is_approved=True)
        HeldPost.objects.filter(pk=held.pk).update(posted_as=str(number))
        if held.rule:
            ModeratorRule.objects.count_reversals([held.rule.name])
    forget_waiting()


def refuse(held: HeldPost, moderator_id: int, reason: str) -> None:
    """Refuse it, with a reason that its author reads. Raises OwnMatter, HeldDecided."""
    check_not_own(held.author_id, moderator_id)
    with transaction.atomic():
        if not HeldPost.objects.decide(held, REFUSED, moderator_id, reason):
            raise HeldDecided(held.pk)
    forget_waiting()


def withdraw(held: HeldPost) -> None:
    """Delete a waiting post at its author's request; nothing of it remains. Raises HeldDecided."""
    if not HeldPost.objects.waiting().filter(pk=held.pk).select_related(None).delete()[0]:
        raise HeldDecided(held.pk)


class DecisionForm(forms.Form):
    """Whether to post it; a refusal needs a reason."""

    decision = forms.ChoiceField(choices=[("approve", ""), ("refuse", "")])
    reason = CleanedField(clean_reason, required=False)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if values.get("decision") == "refuse" and values.get("reason") == "":
            self.add_error("reason", _("Give a reason for the refusal: the author can read it."))
        return values


def _button(request: HttpRequest, **_held: int) -> str:
    approves = sent_forms.sent(request).get("decision") == "approve"
    return pgettext("held post", "Approve") if approves else _("Refuse")


@private_act(needs(REMOVE_ARTICLES), page="articles:queue", button=_button)
def decide(request: HttpRequest, held_id: int) -> HttpResponse:
    """Approve a held post, or refuse it; return to the queue."""
    held = get_object_or_404(HeldPost.objects.select_related("author", "rule"), pk=held_id)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, str(errors[0]))
        return redirect("articles:queue")
    try:
        if form.cleaned_data["decision"] == "approve":
            approve(held, actor(request).id)
            messages.success(request, _("It has been posted in the name of %(name)s.") % {"name": held.author})
        else:
            refuse(held, actor(request).id, form.cleaned_data["reason"])
            messages.success(request, _("It has been refused. Its author can read why."))
    except ArticlesError as failed:
        messages.error(request, action_sentence(failed))
    return redirect("articles:queue")


@private_page(members_only())
def mine(request: MemberRequest) -> HttpResponse:
    """Show what the member posted that waits for a moderator, and what was decided in the last 30 days."""
    context = {"member": request.user, "held": list_shown(request.user.held_posts.all())}
    return unlisted(render(request, "automatic_rules/mine.html", context))


@private_act(members_only(), page="articles:held", button=gettext_lazy("Withdraw"))
def withdraw_by_form(request: MemberRequest, held_id: int) -> HttpResponse:
    """Withdraw a post that waits. A form that arrives twice succeeds."""
    held = request.user.held_posts.filter(pk=held_id).first()
    with telling(request):
        if held:
            withdraw(held)
        messages.success(request, _("Your post has been withdrawn."))
    return redirect("articles:held")


# Programs


class Held(BaseModel):
    """A post that an automatic rule holds."""

    number: int
    author: str
    article_id: int | None = Field(description="That a comment is on; null for an article.")
    parent: int | None = Field(description="The comment that it replies to.")
    title: str
    link: str | None
    text: str | None = Field(description="In Markdown; null once it is posted.")
    groups: list[str]
    time: float = Field(description="When it was sent, in Unix seconds.")
    rule: str = Field(description="Name of the rule, for moderators; else empty.")
    state: str = Field(description="waiting, posted or refused.")
    reason: str = Field(description="Why moderators refused it; else empty.")
    posted_as: int | None = Field(description="Id of the article or the comment that it became.")

    @classmethod
    def of(cls, held: HeldPost, *, with_rule: bool = False) -> "Held":
        return schemas.made(
            cls,
            held,
            number=held.pk,
            author=held.author.get_username(),
            article_id=held.article,
            parent=int(held.parent) if held.parent else None,
            link=held.link or None,
            text=held.text or None,
            groups=held.slugs,
            time=held.held_at.timestamp(),
            rule=held.rule.name if held.rule and with_rule else "",
            posted_as=int(held.posted_as) if held.posted_as else None,
        )


class HeldList(schemas.Continued):
    """Posts that automatic rules hold."""

    held: list[Held]


class Approval(BaseModel):
    """Whether to post it."""

    approved: bool = Field(description="False refuses it.", examples=[True])
    reason: str = Field("", description="Why not; the author reads it. Required for a refusal.")


_NUMBER = "The held post's number."
_HeldNumber = PathEx[int, P(description=_NUMBER, ge=1, le=2**31 - 1, examples=[1])]
_OwnHeldNumber = PathEx[int, P(description=_NUMBER, ge=1, le=2**31 - 1, examples=[2])]


@router.get("held", auth=MODERATORS)
def list_held(request: HttpRequest, query: Query[schemas.AfterQuery]) -> HeldList:  # noqa: ARG001 - ninja's
    """Posts that wait for approval. Moderators only. The oldest first, at most 50."""
    require(request, REMOVE_ARTICLES)
    found, following = cursors.rows_in(request, HeldPost.objects.waiting(), MOST_SHOWN)
    return HeldList(held=[Held.of(one, with_rule=True) for one in found], next_after=following)


@router.put("held/{number}", response=failing(409), auth=MODERATORS)
def decide_held(request: HttpRequest, number: _HeldNumber, approval: Approval) -> Held:
    """Approve or refuse a held post. Moderators only. An approved one is posted in its author's name."""
    require(request, REMOVE_ARTICLES)
    held = get_object_or_404(HeldPost.objects.select_related("author", "rule"), pk=number)
    if approval.approved:
        approve(held, actor(request).id)
    else:
        refuse(held, actor(request).id, clean_reason(approval.reason))
    held.refresh_from_db()
    return Held.of(held, with_rule=True)


@router.get("me/held", auth=MEMBERS)
def list_own_held(request: MemberRequest, query: Query[schemas.AfterQuery]) -> HeldList:  # noqa: ARG001 - ninja's
    """Your posts that wait for approval. The newest 50, with those decided in the last 30 days."""
    rows = request.user.held_posts.select_related("author")
    found, following = cursors.rows_in(request, rows, MOST_SHOWN, newest_first=True)
    return HeldList(held=list(map(Held.of, found)), next_after=following)


@router.delete("me/held/{number}", response=failing(409), auth=AUTHORS)
def withdraw_held(request: MemberRequest, number: _OwnHeldNumber) -> schemas.Waiting:
    """Withdraw a post that waits for approval. Nothing of it remains."""
    withdraw(get_object_or_404(HeldPost, pk=number, author=request.user))
    return schemas.Waiting(held=number)
