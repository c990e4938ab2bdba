"""The moderators' pages of rules: write one, try it, switch it on or off; and the same for programs.

Each change is a version, and the rule's page lists all. The public log says who changed a rule and when, but not
its words and patterns: that would say how to get around them.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _, pgettext_lazy
from ninja import P, PathEx, Status
from pydantic import BaseModel, Field

from accounts.models import ModeratorRule, RuleVersion
from accounts.models.rules import write_version
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import private_form, private_page, show_form
from articles.api.protocol.operations import MODERATORS, failing, require, router
from articles.api.protocol.problems import Problem
from articles.domain.errors import ActionRefused, RuleNotTried, RulesFull
from articles.domain.moderation_log import Action, Actor
from articles.text.refusals import action_sentence
from articles.web.forms.fields import day_choices
from articles.web.identity import actor, needs
from articles.web.rules import acting, matching
from articles.web.wiring import repository
from moderation.rules.trying import MOST_TRIED, Trial, attempt
from moderation.rules.writing import RuleForm, summary


def create(name: str, definition: matching.Definition, moderator: Actor) -> ModeratorRule:
    """Write a new rule, which is off. Raises StoreError; then nothing is changed."""
    with transaction.atomic():
        rule = ModeratorRule.objects.create(name=name)
        change(rule, definition, moderator)
    return rule


def change(rule: ModeratorRule, definition: matching.Definition, moderator: Actor) -> None:
    """Write another version, which is off; none if nothing would change. Raises StoreError, as `create`."""
    with transaction.atomic():
        if rule.version and matching.Definition.of(rule.current.definition) == definition:
            return
        write_version(rule, definition.plain, moderator.id)
        _note(rule, moderator, {"from": str(rule.version - 1), "to": str(rule.version)})
    acting.forget()


def try_out(rule: ModeratorRule) -> Trial:
    """Return what the current version would have done, and note that it was tried."""
    version = rule.current
    trial = attempt(matching.Definition.of(version.definition))
    ModeratorRule.objects.filter(pk=rule.pk).update(tried=version.number)
    rule.tried = version.number
    return trial


def switch_on(rule: ModeratorRule, days: int, moderator: Actor) -> None:
    """Let a rule act, for some days or, by 0, without end. Raises RuleNotTried, RulesFull, StoreError."""
    if rule.tried != rule.version:
        raise RuleNotTried(rule.pk)
    if ModeratorRule.objects.on().exclude(pk=rule.pk).count() >= matching.MOST_ON:
        raise RulesFull(rule.pk)
    until = timezone.now() + timedelta(days) if days else None
    with transaction.atomic():
        ModeratorRule.objects.filter(pk=rule.pk).update(is_on=True, expires_at=until)
        _note(rule, moderator, {"from": "off", "to": "on", **({"days": str(days)} if days else {})})
    acting.forget()


def switch_off(rule: ModeratorRule, moderator: Actor) -> None:
    """Let a rule act no longer. Idempotent. Raises StoreError; then nothing is changed."""
    with transaction.atomic():
        if ModeratorRule.objects.filter(pk=rule.pk, is_on=True).update(is_on=False, expires_at=None):
            _note(rule, moderator, {"from": "on", "to": "off"})
    acting.forget()


def _note(rule: ModeratorRule, moderator: Actor, details: Mapping[str, str]) -> None:
    repository().moderation_log.note(Action.CHANGE_RULE, moderator, rule.name, "", details)


def _current() -> QuerySet[RuleVersion]:
    """Return the current version of each rule; those that are on come first."""
    current = RuleVersion.objects.filter(number=F("rule__version")).select_related("rule", "author")
    return current.order_by("-rule__is_on", "rule__name")


# Pages


@private_page(needs(REMOVE_ARTICLES))
def index(request: HttpRequest) -> HttpResponse:
    """List all rules, those that are on first."""
    rules = [(one, summary(matching.Definition.of(one.definition))) for one in _current()]
    return render(request, "automatic_rules/rules.html", {"rules": rules})


_CARRIED = list(RuleForm.base_fields)


@private_form(needs(REMOVE_ARTICLES, carries=_CARRIED))
def write(request: HttpRequest, rule_id: int | None = None) -> HttpResponse:
    """Write a new rule, or another version of one."""
    rule = get_object_or_404(ModeratorRule, pk=rule_id) if rule_id else None
    before = matching.Definition.of(rule.current.definition) if rule else None
    form = RuleForm(request.POST or None, is_new=rule is None, before=before)
    if request.method == "POST" and form.is_valid():
        if rule:
            change(rule, form.definition, actor(request))
        else:
            rule = create(form.cleaned_data["name"], form.definition, actor(request))
        messages.success(request, _("The rule has been saved. Try it, then switch it on."))
        return redirect("articles:automatic_rule", rule.pk)
    return show_form(request, "automatic_rules/write.html", form, rule=rule)


class SwitchForm(forms.Form):
    """For how long a rule is on."""

    days = forms.TypedChoiceField(coerce=int, label=pgettext_lazy("duration", "For"))

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["days"].choices = [(0, _("Until it is switched off")), *day_choices()]  # type: ignore[attr-defined]


@private_form(needs(REMOVE_ARTICLES, carries=["act", "days"]))
def show(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Show a rule with its versions; try it, or switch it on or off."""
    rule, trial, form = get_object_or_404(ModeratorRule, pk=rule_id), None, SwitchForm()
    wanted = request.POST.get("act", "")
    if wanted == "try":
        trial = try_out(rule)
    elif wanted and _switch(request, rule, wanted):
        return redirect("articles:automatic_rule", rule.pk)
    versions = list(rule.versions.select_related("author"))
    context = {
        "rule": rule,
        "versions": [(one, summary(matching.Definition.of(one.definition))) for one in versions],
        "trial": trial,
        "most_tried": MOST_TRIED,
        "days": matching.MOST_DAYS,
    }
    return show_form(request, "automatic_rules/rule.html", form, **context)


def _switch(request: HttpRequest, rule: ModeratorRule, wanted: str) -> bool:
    """Switch a rule on or off, with a message; return whether the form named either."""
    form = SwitchForm(request.POST)
    try:
        if wanted == "off":
            switch_off(rule, actor(request))
            messages.success(request, _("The rule is off."))
        elif wanted == "on" and form.is_valid():
            switch_on(rule, form.cleaned_data["days"], actor(request))
            messages.success(request, _("The rule is on."))
        else:
            return False
    except ActionRefused as refused:
        messages.error(request, action_sentence(refused))
    return True


# Programs


class RuleBody(BaseModel):
    """What an automatic rule says. All conditions that are neither empty nor 0 must hold."""

    subject: matching.Subject = Field(
        description="What it looks at; report: flags by members.", examples=["article"]
    )
    act: matching.RuleAct = Field(examples=["flag"])
    sentence: str = Field(
        "", description="What the member reads who is refused; for join, leave and lock the reason."
    )
    group: str = Field("", description="Name of the group for join and leave.")
    scope: str = Field("", description="Name of the group in which it applies; empty: everywhere.")
    words: list[str] = Field(
        [], max_length=matching.MOST_WORDS, description="Any of them is enough.", examples=[["buy coins"]]
    )
    pattern: str = Field("", max_length=matching.PATTERN_LIMIT, description="A regular expression in RE2 syntax.")
    hosts: list[str] = Field([], max_length=matching.MOST_HOSTS, description="A link to any of them is enough.")
    links: int = Field(0, ge=0, description="The least number of links.")
    age_days: int = Field(0, ge=0, description="The account is younger.")
    points: int = Field(0, ge=0, description="The member has fewer.")
    posts: int = Field(0, ge=0, description="The member posted at least as many of the kind in the hours before.")
    hours: int = Field(0, ge=0)
    is_first: bool = Field(False, description="It is the member's first article or comment")
    members: int = Field(0, ge=0, description="At least as many others posted the same text in the days before.")
    days: int = Field(0, ge=0)

    def clean(self, **more: Any) -> RuleForm:
        """Return the valid form. Raises Problem."""
        lists = {name: "\n".join(getattr(self, name)) for name in ("words", "hosts")}
        form = RuleForm(self.model_dump(mode="json") | lists | more, is_new="name" in more)
        if not form.is_valid():
            name, errors = next(iter(form.errors.items()))
            raise Problem(400, "invalid", str(errors[0]), details={} if name == "__all__" else {"field": name})
        return form


class NewRule(RuleBody):
    """A new automatic rule."""

    name: str = Field(examples=["Coin adverts"])


class AutomaticRule(RuleBody):
    """An automatic rule in its current version."""

    id: int
    name: str
    version: int
    owner: str = Field(description="Who wrote this version; empty if the account is deleted.")
    on: bool
    expires: float | None = Field(description="In Unix seconds; null without end.")
    tried: bool = Field(description="Whether this version was tried, so that it can be switched on.")
    hits: int = Field(description="How often it acted.")
    reversals: int = Field(description="How often moderators reversed that.")

    @classmethod
    def of(cls, version: RuleVersion) -> "AutomaticRule":
        rule = version.rule
        return cls(
            id=rule.pk,
            name=rule.name,
            version=rule.version,
            owner=version.author_name,
            on=rule.is_acting,
            expires=rule.expires_at.timestamp() if rule.expires_at else None,
            tried=rule.tried == rule.version,
            hits=rule.hits,
            reversals=rule.reversals,
            **version.definition,
        )


class AutomaticRules(BaseModel):
    """All automatic rules."""

    rules: list[AutomaticRule]


class Matching(BaseModel):
    """Something that the rule would have acted on."""

    time: float = Field(description="When it was posted, in Unix seconds.")
    text: str
    article_id: int | None
    comment_id: int | None


class TrialResult(BaseModel):
    """What a rule would have done in the last 30 days."""

    looked_at: int
    matching: int
    complete: bool = Field(description="Whether the time was enough.")
    examples: list[Matching]


class Switch(BaseModel):
    """Whether the rule acts."""

    on: bool = Field(description="False switches it off.", examples=[True])
    days: int = Field(0, ge=0, le=365, description="For how long; 0 without end.")


_RuleNumber = PathEx[int, P(description="The rule's number.", ge=1, le=2**31 - 1, examples=[1])]


def _answer(rule: ModeratorRule) -> AutomaticRule:
    return AutomaticRule.of(_current().get(rule=rule))


def _permitted(request: HttpRequest, rule_id: int) -> ModeratorRule:
    require(request, REMOVE_ARTICLES)
    return get_object_or_404(ModeratorRule, pk=rule_id)


@router.get("automatic-rules", auth=MODERATORS)
def list_rules(request: HttpRequest) -> AutomaticRules:
    """Automatic rules. Moderators only."""
    require(request, REMOVE_ARTICLES)
    return AutomaticRules(rules=list(map(AutomaticRule.of, _current())))


@router.post("automatic-rules", auth=MODERATORS)
def create_rule(request: HttpRequest, rule: NewRule) -> Status[AutomaticRule]:
    """Write an automatic rule. Moderators only. It is off until it was tried and is switched on."""
    require(request, REMOVE_ARTICLES)
    form = rule.clean(name=rule.name)
    return Status(201, _answer(create(form.cleaned_data["name"], form.definition, actor(request))))


@router.put("automatic-rules/{rule_id}", auth=MODERATORS)
def change_rule(request: HttpRequest, rule_id: _RuleNumber, body: RuleBody) -> AutomaticRule:
    """Change an automatic rule. Moderators only. Writes another version, which is off. Idempotent."""
    rule = _permitted(request, rule_id)
    change(rule, body.clean().definition, actor(request))
    return _answer(rule)


@router.post("automatic-rules/{rule_id}/trial", auth=MODERATORS)
def try_rule(request: HttpRequest, rule_id: _RuleNumber) -> TrialResult:
    """Try an automatic rule. Moderators only. Says what it would have done in the last 30 days."""
    trial = try_out(_permitted(request, rule_id))
    return TrialResult(
        looked_at=trial.looked_at,
        matching=trial.matching,
        complete=trial.is_complete,
        examples=[
            Matching(time=one.at, text=one.words, article_id=one.article or None, comment_id=one.comment or None)
            for one in trial.examples
        ],
    )


@router.put("automatic-rules/{rule_id}/on", response=failing(409), auth=MODERATORS)
def switch_rule(request: HttpRequest, rule_id: _RuleNumber, switch: Switch) -> AutomaticRule:
    """Switch an automatic rule on or off.

    Moderators only. Its current version must have been tried. Idempotent.
    """
    rule = _permitted(request, rule_id)
    if switch.on:
        switch_on(rule, switch.days, actor(request))
    else:
        switch_off(rule, actor(request))
    return _answer(rule)
