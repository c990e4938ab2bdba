"""Appeals: members write against a ban or another decision, once; a moderator answers, and reverses it or not."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from accounts.models import BAN_SCOPES, Ban, Statement, User
from accounts.models.law import Act
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.web.form_pages import MemberRequest, members_only, private_act, private_form, show_form, show_next
from articles.domain.errors import ActionRefused, CommentNotRemoved, DiscussionNotLocked, NotRemoved
from articles.domain.moderation_log import Actor
from articles.domain.reasons import AFTER_APPEAL
from articles.text.lines import REASON_LIMIT, clean_reason
from articles.text.refusals import action_sentence
from articles.web import rights
from articles.web.forms.fields import CleanedField, LineInput, RadioButtons
from articles.web.identity import actor, needs
from moderation import content, sweeps
from moderation.bans import label_of, lift_ban
from moderation.left_out import set_left_out
from moderation.statements import AppealForm, address_of, articles_of

MOST_SHOWN = 50  # appeals on the page of the queue, the oldest of each kind


class BanAppealForm(AppealForm):
    """What a banned member writes to the moderators about one of several bans."""

    ban = forms.TypedChoiceField(coerce=int, label=gettext_lazy("Which ban"), widget=RadioButtons)
    field_order = ("ban", "text")

    def __init__(self, bans: Sequence[Ban], data: QueryDict | None = None) -> None:
        super().__init__(data)
        choice = cast(forms.TypedChoiceField, self.fields["ban"])
        choice.choices = [(ban.pk, label_of(ban)) for ban in bans]
        if len(bans) == 1:
            choice.initial, choice.disabled, choice.widget = bans[0].pk, True, forms.HiddenInput()


class AnswerForm(forms.Form):
    """A moderator's answer to an appeal: whether the decision is lifted, or stays."""

    LIFT, KEEP = "lift", "keep"

    decision = forms.ChoiceField(choices=[(one, one) for one in (LIFT, KEEP)])
    answer = CleanedField(clean_reason, label=gettext_lazy("Answer"), widget=LineInput(REASON_LIMIT))


@private_form(members_only(carries=["ban", "text"]))
def appeal(request: MemberRequest) -> HttpResponse:
    """Show the member's current bans and the last changed one, with appeals and answers; send an appeal, once."""
    bans = Ban.objects.list_latest(request.user)
    open_bans, appealed = [one for one in bans if one.may_be_appealed], [one for one in bans if one.appealed_at]
    form = BanAppealForm(open_bans, request.POST or None)
    number = request.POST.get("ban", "")
    is_repeated = number in {str(one.pk) for one in appealed} or bool(appealed and not open_bans)
    if request.method == "POST" and not (open_bans or is_repeated):
        raise PermissionDenied
    if request.method == "POST" and (is_repeated or form.is_valid()):
        if not is_repeated:
            open_ban = Ban.objects.filter(pk=form.cleaned_data["ban"], appealed_at=None)
            open_ban.update(appeal=form.cleaned_data["text"], appealed_at=timezone.now())
        messages.success(request, _("The moderators have received your appeal. Their answer will appear here."))
        return redirect("articles:appeal")
    context = {
        "bans": [one for one in bans if one.is_current or one == bans[0]],
        "may_appeal": bool(open_bans),
        "scopes": BAN_SCOPES,
    }
    return show_form(request, "bans/appeal.html", form, **context)


@dataclass(frozen=True, slots=True)
class OpenAppeal:
    """An appeal as the queue shows it."""

    decision: Ban | Statement
    action: str  # address of the form that answers it
    address: str  # of what the decision is about; "" for the member alone
    title: str  # of the article that it is about; "" if it is about none
    refusal: str  # why this moderator cannot answer; "" otherwise

    @property
    def is_ban(self) -> bool:
        return isinstance(self.decision, Ban)


def list_open(moderator: Any) -> list[OpenAppeal]:
    """Return the appeals that a member with this moderator's permissions answers, the oldest first."""
    about = Statement.objects.with_open_appeals()[:MOST_SHOWN]
    statements = [one for one in about if rights.may(moderator, rights.permission_to_answer(one))]
    articles = articles_of(statements)
    rows = list[OpenAppeal]()
    for ban in rights.appeals_for(moderator)[:MOST_SHOWN]:
        action = reverse("articles:answer_appeal", args=[ban.pk])
        rows.append(OpenAppeal(ban, action, "", "", rights.why_not(rights.check_answer, ban, moderator.pk)))
    for one in statements:
        title = articles[one.subject].title if one.subject in articles else ""
        address = address_of(one.subject) if title else ""
        action = reverse("articles:answer_statement", args=[one.pk])
        refusal = rights.why_not(rights.check_answer, one, moderator.pk)
        rows.append(OpenAppeal(one, action, address, title, refusal))
    return rows


@private_act(needs(BAN_MEMBERS, in_groups=True), page="articles:queue", button=gettext_lazy("Answer"))
def answer(request: HttpRequest, ban_id: int) -> HttpResponse:
    """Answer an appeal by lifting the ban or keeping it. A form that arrives twice succeeds."""
    ban = get_object_or_404(Ban.objects.select_related("member", "moderator"), pk=ban_id)
    moderator = rights.acting(request, BAN_MEMBERS, [ban.group] if ban.group else None)
    rights.check_answer(ban, moderator.id)
    rights.check_ban_reversible(ban, moderator)
    return _answer(request, ban, moderator)


@private_act(needs(BAN_MEMBERS, REMOVE_ARTICLES), page="articles:queue", button=gettext_lazy("Answer"))
def answer_statement(request: HttpRequest, statement_id: int) -> HttpResponse:
    """Answer an appeal against another decision, by reversing it or keeping it, in the same way."""
    statement = get_object_or_404(
        Statement.objects.select_related("member", "sweep").exclude(act=Act.BAN),
        pk=statement_id,
        member__isnull=False,
    )
    if not rights.may(request.user, rights.permission_to_answer(statement)):
        raise PermissionDenied
    rights.check_answer(statement, actor(request).id)
    return _answer(request, statement, actor(request))


def _answer(request: HttpRequest, decision: Ban | Statement, moderator: Actor) -> HttpResponse:
    form = AnswerForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Write an answer first: the member will read it."))
        return redirect("articles:queue")
    text, lifts = form.cleaned_data["answer"], form.cleaned_data["decision"] == AnswerForm.LIFT
    is_complete = True
    try:
        with transaction.atomic():
            if isinstance(decision, Ban):
                _answer_ban(decision, text, moderator, lifts=lifts)
            else:
                is_complete = _answer_statement(decision, text, moderator, lifts=lifts)
    except ActionRefused as refused:
        return show_next(request, action_sentence(refused), "articles:queue", is_error=True)
    decision.refresh_from_db()
    is_lifted = decision.lifted_at is not None if isinstance(decision, Ban) else decision.upheld
    if decision.answer == text and lifts == is_lifted:
        messages.success(request, _("The answer has been sent."))
    elif decision.answered_at:
        told = _("Another moderator has already answered this appeal: “%(answer)s”")
        messages.error(request, told % {"answer": decision.answer})
    else:
        messages.error(request, _("The ban has ended already, so your answer was not sent."))
    if not is_complete and decision.member:
        messages.warning(request, _("This is not finished yet: continue below."))
        return redirect("articles:member_moderation", decision.member.get_username())
    return redirect("articles:queue")


def _answer_ban(ban: Ban, text: str, moderator: Actor, *, lifts: bool) -> None:
    if Ban.objects.answer(ban, text, moderator.id):
        if lifts:
            lift_ban(ban, "", moderator, after_appeal=True)
        facts = {"member": ban.member, "act": Act.BAN.value, "reason": ban.reason, "moderator": ban.moderator}
        answered = {"upheld": lifts, "is_to_mail": ban.member.has_verified_email}
        Statement.objects.update_or_create(
            ban=ban, defaults=answered, create_defaults=facts | answered | {"made_at": ban.begins_at}
        )


def _answer_statement(statement: Statement, text: str, moderator: Actor, *, lifts: bool) -> bool:
    """Answer, and reverse the decision; return whether that is complete. Raises ActionRefused."""
    member = cast(User, statement.member)
    is_first = Statement.objects.answer(
        statement, text, moderator.id, upheld=lifts, is_to_mail=member.has_verified_email
    )
    return _reverse(statement, member, moderator) if is_first and lifts else True


def _reverse(statement: Statement, member: User, moderator: Actor) -> bool:
    with suppress(NotRemoved, CommentNotRemoved, DiscussionNotLocked):  # it was reversed before
        match Act(statement.act):
            case Act.REMOVAL:
                content.restore(statement.subject, moderator, AFTER_APPEAL)
            case Act.LOCK:
                content.unlock(statement.subject, moderator, AFTER_APPEAL)
            case Act.PROFILE:
                User.objects.filter(pk=member.pk).update(about_removed="")
                Statement.objects.note_reversed(Act.PROFILE, pk=statement.pk)
            case Act.SWEEP if statement.sweep:
                return sweeps.restore(statement.sweep, AFTER_APPEAL, moderator).is_complete
            case Act.VOTES:
                return set_left_out(member, AFTER_APPEAL, moderator, left_out=False)
    return True
