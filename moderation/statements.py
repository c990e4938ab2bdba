"""Statements of reasons: what moderators decided against a member, and why; members read theirs, and appeal.

Each act makes one by `state`, in its own function. With LEGAL_NOTICES it says what the decision rests on, and is
mailed; without, it has the public reason alone. `moderation.appeals` answers appeals.
"""

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy
from ninja import P, PathEx, Query
from pydantic import BaseModel, Field

from accounts.mail import Kind, language_of, letter_to, send_later
from accounts.models import BAN_SCOPES, Ban, Statement, Sweep, User
from accounts.models.law import SHOWN_ELSEWHERE, Act, Ground
from accounts.web.form_pages import MemberRequest, members_only, private_form, private_page, show_form
from articles.api import schemas
from articles.api.protocol import cursors
from articles.api.protocol.operations import AUTHORS, HIGHEST_NUMBER, MEMBERS, failing, router
from articles.configuration.choices import chosen
from articles.domain.articles import Article
from articles.domain.comments import article_of, is_root
from articles.domain.errors import AppealClosed
from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.domain.reasons import recorded
from articles.mailing import Mail, recipients
from articles.site import site_text
from articles.text import lines
from articles.text.markdown import plain, render as html_of
from articles.web.form_answers import telling
from articles.web.forms.articles import ReasonForm
from articles.web.forms.fields import CleanedField, LineInput, RadioButtons, TextInput, needed_sometimes
from articles.web.wiring import repository


class Grounds(NamedTuple):
    """What a statement says beyond the public reason."""

    ground: str = ""  # one of `Ground`; "" while LEGAL_NOTICES is off
    cited: str = ""
    facts: str = ""
    is_automated: bool = False
    by_notice: bool = False


NO_GROUNDS = Grounds()
BY_SITE = Grounds(Ground.RULES, is_automated=True)
"""Of what the site decides by itself, where the operator lets it."""

_GROUNDS = ("ground", "cited", "facts")
FIELDS = (*_GROUNDS[:1], "rule", *_GROUNDS[1:])

MOST_SHOWN = 100  # statements on a member's list, the newest

_NUMBER = r"\d{1,3}(?:[.)]\s|[、．])|[一二三四五六七八九十]{1,3}、|第[\d一二三四五六七八九十]{1,4}条"
_OUTLINE = re.compile(rf" {{0,3}}(?:(#{{1,6}})\s|(?={_NUMBER}))(.+)")
_DEEPEST = 7  # a numbered line is deeper than every heading


def site_rules() -> tuple[str, ...]:
    """Return the rules of the site's own text, in the reader's language: its numbered lines, and its headings.

    A heading above others, or above numbered lines, is no rule.
    """
    text = site_text("rules")
    return _rules_in(text.text) if text else ()


@lru_cache(maxsize=8)
def _rules_in(text: str) -> tuple[str, ...]:
    found = [(len(one[1] or "") or _DEEPEST, one[2]) for one in map(_OUTLINE.match, text.splitlines()) if one]
    last = [words for (depth, words), (following, _words) in pairwise([*found, (0, "")]) if following <= depth]
    shown = (_plain_rule(words) for words in last)
    return tuple(dict.fromkeys(rule for rule in shown if rule))


def _plain_rule(words: str) -> str:
    """Return a line without its Markdown, as a statement can cite it."""
    number, text = re.fullmatch(r"(\d{1,3}[.)]\s+)?(.*?)(?:\s+#+)?\s*", words, re.DOTALL).groups()  # type: ignore[union-attr]
    rule = plain(html_of(text))
    return (f"{number.strip()} " if number and rule else "") + rule[: lines.REASON_LIMIT - 5]


class GroundsForm(forms.Form):
    """The part of a form that says what a decision rests on. It has no fields while LEGAL_NOTICES is off."""

    folded = ("facts",)
    needs_grounds = True  # whether every decision of the form needs them; otherwise the form calls `check_grounds`
    ground = forms.ChoiceField(
        choices=Ground.choices,
        initial=Ground.RULES.value,
        label=gettext_lazy("What the decision rests on"),
        widget=RadioButtons,
    )
    rule = CleanedField(lines.clean_cited, required=False, label=gettext_lazy("Which rule"), widget=forms.Select)
    cited = CleanedField(
        lines.clean_cited,
        label=gettext_lazy("Which rule, or which law"),
        help_text=gettext_lazy("The member reads it in the statement of reasons."),
        widget=LineInput(lines.REASON_LIMIT),
    )
    facts = CleanedField(
        lines.clean_facts,
        required=False,
        label=gettext_lazy("Facts"),
        help_text=gettext_lazy("What the reason leaves out. Only the member and moderators can read it."),
        widget=TextInput(lines.NOTE_LIMIT, {"rows": 3, "dir": "auto"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        rules = site_rules() if chosen.LEGAL_NOTICES else ()
        for name in FIELDS:
            field = self.fields.pop(name)
            if chosen.LEGAL_NOTICES and (rules or name != "rule"):
                self.fields[name] = field  # below those of the form
                if (field.required and not self.needs_grounds) or name == "rule":
                    needed_sometimes(self, name)
            field.required = field.required and self.needs_grounds
        if rules:
            rule, cited = self.fields["rule"], self.fields["cited"]
            rule.widget.choices = [("", "–"), *zip(rules, rules, strict=True)]
            rule.initial = rules[0] if len(rules) == 1 else ""
            cited.label, cited.required = _("Another rule, or which law"), False
            needed_sometimes(self, "cited")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if self.needs_grounds:
            self.check_grounds()
        return values

    def check_grounds(self, default: str = "") -> None:
        """Take the chosen rule, or the default, if none is typed. Adds an error if nothing is cited then."""
        values = self.cleaned_data
        if "cited" not in self.fields or {"cited", "rule"} & {*self.errors}:
            return
        values["ground"] = values.get("ground") or Ground.RULES.value
        chosen_rule = "" if values["ground"] == Ground.LAW else values.get("rule") or default
        values["cited"] = values.get("cited") or chosen_rule
        if not values["cited"]:
            self.add_error("cited", _("Say which rule, or which law."))

    @property
    def grounds(self) -> Grounds:
        """What a valid form says."""
        ground, cited, facts = (str(self.cleaned_data.get(name, "")) for name in _GROUNDS)
        return Grounds(ground, cited, facts)


class GroundedReasonForm(GroundsForm, ReasonForm):
    """The reason for an act against a member, and what it rests on."""


def what_is_missing(form: forms.Form) -> str:
    """Return what is wrong with a short form whose page shows no errors beside its fields."""
    return _("Enter a reason.") if "reason" in form.errors else str(next(iter(form.errors.values()))[0])


class GivenGrounds(schemas.Model):
    """The same of a program. Operations inherit from it."""

    ground: Ground | None = Field(None, examples=["rules"])
    """What the decision rests on. Required, with cited, if the site gives statements of reasons; otherwise
    ignored."""

    cited: str = Field("", description="Which rule, or which law.", examples=["Rule 3"])
    facts: str = Field("", examples=[""])
    """What the reason leaves out. Only the member and moderators can read it."""

    @property
    def grounds(self) -> Grounds:
        """Raises InvalidInput."""
        if not chosen.LEGAL_NOTICES:
            return NO_GROUNDS
        if self.ground is None:
            raise lines.InvalidInput("cited-empty")
        return Grounds(self.ground, lines.clean_cited(self.cited), lines.clean_facts(self.facts))


def state(
    author: UserId | None,
    act: Act,
    reason: str,
    moderator: Actor,
    grounds: Grounds = NO_GROUNDS,
    *,
    subject: int = 0,
    ban: Ban | None = None,
    sweep: Sweep | None = None,
) -> None:
    """Make the statement of an act against a member; none for a deleted account, or the moderator's own content.

    `subject`: the comment, or the root of the article. Locks and votes have one only with LEGAL_NOTICES. Call it
    in the transaction of the act.
    """
    is_wanted = chosen.LEGAL_NOTICES or act not in (Act.LOCK, Act.VOTES)
    member = User.objects.filter(pk=author, left_at=None).first() if author and is_wanted else None
    if member is None or member.pk == moderator.id:
        return
    made = Statement.objects.create(
        member=member,
        act=act.value,
        subject=subject,
        ban=ban,
        sweep=sweep,
        reason=reason,
        moderator_id=moderator.id or None,
        is_to_mail=chosen.LEGAL_NOTICES and member.has_verified_email,
        **grounds._asdict(),
    )
    if act not in SHOWN_ELSEWHERE:
        User.objects.filter(pk=member.pk).update(ban_changed_at=made.made_at.timestamp())


class AppealForm(forms.Form):
    """What a member writes to the moderators about a decision."""

    text = CleanedField(
        lines.clean_appeal,
        label=gettext_lazy("Your appeal"),
        help_text=gettext_lazy("Only moderators can read it. You can appeal once against each decision."),
        widget=TextInput(lines.APPEAL_LIMIT, {"rows": 6, "dir": "auto"}),
    )


def articles_of(statements: list[Statement]) -> dict[int, Article]:
    """Return the articles that statements are about, by the statements' subjects. One round trip, if any."""
    subjects = {one.subject for one in statements if one.subject}
    found = repository().articles.get_many([article_of(one) for one in subjects]) if subjects else []
    by_id = {article.id: article for article in found}
    return {one: by_id[article_of(one)] for one in subjects if article_of(one) in by_id}


@private_page(members_only())
def mine(request: MemberRequest) -> HttpResponse:
    """Show the decisions about the member, the newest first."""
    statements = list(request.user.statements.all()[:MOST_SHOWN])
    context = {"statements": statements, "articles": articles_of(statements)}
    return render(request, "statements/mine.html", context)


@private_form(members_only(carries=["text"]))
def show(request: MemberRequest, statement_id: int) -> HttpResponse:
    """Show a statement to its member, and take an appeal. A form that arrives twice succeeds."""
    statement = get_object_or_404(request.user.statements, pk=statement_id)
    form = AppealForm(request.POST or None)
    if request.method == "POST" and (form.is_valid() or statement.appealed_at):
        with telling(request):
            send_appeal(statement, form.cleaned_data.get("text", ""))
            told = _("The moderators have received your appeal. Their answer will appear here.")
            messages.success(request, told)
        return redirect("articles:statement", statement_id)
    context: dict[str, Any] = {"statement": statement, "about": articles_of([statement]).get(statement.subject)}
    bans = {one.pk: one for one in request.user.bans.list_all()} if statement.ban_id else {}
    context |= {"ban": bans.get(statement.ban_id or 0), "scopes": BAN_SCOPES}
    context["address"] = address_of(statement.subject) if statement.subject else ""
    return show_form(request, "statements/statement.html", form, **context)


def title_of(statement: Statement) -> str:
    """Return what was decided, in a few words."""
    if statement.act == Act.REMOVAL and statement.subject:
        return _("Removal of an article") if is_root(statement.subject) else _("Removal of a comment")
    return str(Act(statement.act).label)


def send_appeal(statement: Statement, text: str) -> None:
    """Appeal against a decision. Idempotent. Raises AppealClosed."""
    if statement.appealed_at is None:
        if not statement.may_be_appealed:
            raise AppealClosed(statement.pk)
        Statement.objects.send_appeal(statement, text)


def mails() -> Iterator[Mail]:
    """Yield the statements, and the answers to appeals, that are to be mailed, the oldest first."""
    due = Statement.objects.filter(is_to_mail=True, member__in=recipients()).select_related("member", "ban")
    for statement in due.order_by("pk"):
        if member := statement.member:
            path = address_of(statement.subject) if statement.subject else ""
            context = {"statement": statement, "appealed": statement.appealed, "subject_path": path}
            with language_of(member):
                letter = letter_to(member, Kind.STATEMENT, context)
            same = Statement.objects.filter(pk=statement.pk, is_to_mail=True)
            yield Mail(partial(same.update, is_to_mail=False), partial(send_later, letter, member.pk))


def address_of(subject: int) -> str:
    """Return the path of an article or a comment."""
    if is_root(subject):
        return reverse("articles:article", args=[article_of(subject)])
    return reverse("articles:comment", args=[subject])


StatementNumber = PathEx[int, P(description="The number of the decision.", ge=1, le=HIGHEST_NUMBER, examples=[1])]


class OwnStatement(BaseModel):
    """A decision of moderators about you or what you posted."""

    id: int
    act: Act = Field(description="What was decided.")
    time: float = Field(description="In Unix seconds.")
    article_id: int | None = Field(description="null if it is about no article and no comment.")
    comment_id: int | None = Field(description="null if it is about no comment.")
    reason: str
    ground: Ground | None = Field(description="What it rests on; null if the site gave no statement of reasons.")
    cited: str = Field(description="Which rule, or which law.")
    facts: str
    automated: bool = Field(description="Whether the site decided by itself.")
    appealable: bool = Field(description="Whether you can appeal now. Bans are appealed on a page of their own.")
    appeal: str = Field(description="What you wrote to the moderators; empty if nothing.")
    answer: str = Field(description="What a moderator answered; empty if nothing.")
    reversed: float | None = Field(
        description="When moderators took the decision back, in Unix seconds; null if they did not."
    )
    upheld: bool | None = Field(description="Whether your appeal was upheld; null without an answer.")

    @classmethod
    def of(cls, one: Statement) -> "OwnStatement":
        return schemas.made(
            cls,
            one,
            id=one.pk,
            time=one.made_at.timestamp(),
            article_id=article_of(one.subject) if one.subject else None,
            comment_id=one.subject if one.subject and not is_root(one.subject) else None,
            reason=recorded(one.reason),
            ground=one.ground or None,
            cited=recorded(one.cited),
            automated=one.is_automated,
            appealable=one.may_be_appealed,
            reversed=one.reversed_at.timestamp() if one.reversed_at else None,
        )


class OwnStatements(schemas.Continued):
    """The decisions of moderators about you, at most 100, newest first."""

    statements: list[OwnStatement]


class NewAppeal(BaseModel):
    """An appeal against a decision."""

    text: str = Field(
        description="For the moderators; at most 2,000 characters.", examples=["It was a quotation."]
    )


@router.get("me/statements", auth=MEMBERS)
def list_own_statements(request: MemberRequest, query: Query[schemas.AfterQuery]) -> OwnStatements:  # noqa: ARG001 - ninja's
    """Decisions about you. What moderators decided about you and what you posted, with the reasons."""
    found, following = cursors.rows_in(request, request.user.statements.all(), MOST_SHOWN, newest_first=True)
    return OwnStatements(statements=list(map(OwnStatement.of, found)), next_after=following)


@router.put("me/statements/{statement_id}/appeal", response=failing(409), auth=AUTHORS)
def appeal_decision(request: MemberRequest, statement_id: StatementNumber, new: NewAppeal) -> OwnStatement:
    """Appeal against a decision. Once for each decision, for six months: sent again, it changes nothing."""
    statement = get_object_or_404(request.user.statements, pk=statement_id)
    send_appeal(statement, lines.clean_appeal(new.text))
    statement.refresh_from_db()
    return OwnStatement.of(statement)
