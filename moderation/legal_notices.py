"""Legal notices: everyone reports content by a form, without an account, and moderators decide, as the DSA asks.

The form looks at the shape of an address, not at what is there, so it says nothing about what exists. The sender
follows the notice on a page whose address is secret, and gets a receipt and the decision by mail.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from ninja import P, PathEx, Query
from pydantic import BaseModel, Field

from accounts import names
from accounts.mail import Kind, is_sent, letter, send_later, site_origin
from accounts.models import LegalNotice, User
from accounts.models.law import NOTICES_KEPT, NoticeReason, Outcome
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.form_pages import page_with_form, private_act, show_form, show_next
from accounts.web.sent_forms import RESUBMISSION_WINDOW
from articles.api import schemas
from articles.api.protocol import cursors
from articles.api.protocol.operations import HIGHEST_NUMBER, MODERATORS, failing, require, router
from articles.configuration.choices import chosen, site_address
from articles.domain import errors
from articles.domain.comments import article_of, is_root, root_of
from articles.domain.moderation_log import Actor
from articles.mailing import Mail
from articles.text import lines
from articles.text.refusals import action_sentence, input_sentence
from articles.web import limits
from articles.web.caching import unlisted
from articles.web.forms.fields import CleanedField, LineInput, RadioButtons, TextInput, reason_field
from articles.web.identity import actor, needs
from articles.web.rights import author_of_flagged, check_not_own
from articles.web.wiring import repository
from moderation import content, profiles
from moderation.statements import NO_GROUNDS, GivenGrounds, Grounds, GroundsForm, address_of

MOST_SHOWN = 50  # notices on the page of the queue, the oldest
NAME_LIMIT = 100  # code points

_LONGEST_ADDRESS = 2000  # characters that are read
_COMMENT = re.compile(r"comment-([1-9][0-9]{6,14})")


class Target(NamedTuple):
    """What an address of this site leads to, whether or not it exists."""

    path: str
    subject: int = 0  # a comment, or the root of an article; 0 for a member's page
    name: str = ""  # of the member; "" for articles and comments


def target_of(address: str, *own_hosts: str) -> Target | None:
    """Return what an address leads to; None unless it is an article, a comment or a member's page here."""
    try:
        parts = urlsplit(address.strip()[:_LONGEST_ADDRESS])
        is_here = parts.hostname in own_hosts if parts.netloc else parts.path.startswith("/")
        if not is_here or parts.scheme not in ("", "http", "https"):
            return None
        match = resolve(f"{unquote(parts.path).rstrip('/')}/")
    except (ValueError, Resolver404):
        return None
    match match.view_name, match.kwargs:
        case "articles:article", {"article_id": int(article)}:
            found = _COMMENT.fullmatch(parts.fragment)
            comment = int(found[1]) if found else 0
            subject = comment if article_of(comment) == article else root_of(article)
            return Target(address_of(subject), subject)
        case "articles:comment", {"comment_id": int(comment)} if not is_root(comment):
            return Target(address_of(comment), comment)
        case (("articles:profile" | "articles:member_comments"), {"name": str(name)}) if names.is_valid(name):
            return Target(reverse("articles:profile", args=[name]), name=name)
    return None


class NoticeForm(forms.Form):
    """What is wrong with which content, and who says so."""

    address = forms.CharField(
        label=gettext_lazy("Address of the content"),
        help_text=gettext_lazy("An article, a comment or a member’s page of this site."),
        widget=forms.TextInput({"autocomplete": "off", "inputmode": "url"}),
    )
    reason = forms.ChoiceField(
        choices=NoticeReason.choices, label=gettext_lazy("What is wrong?"), widget=RadioButtons
    )
    cited = CleanedField(
        partial(lines.clean_optional_line, limit=lines.REASON_LIMIT),
        required=False,
        label=gettext_lazy("Which law, or which rule"),
        widget=LineInput(lines.REASON_LIMIT),
    )
    explanation = CleanedField(
        lines.clean_notice,
        label=gettext_lazy("Explanation"),
        help_text=gettext_lazy("Why you think so, and where in the content it is."),
        widget=TextInput(lines.NOTICE_LIMIT, {"rows": 6, "dir": "auto"}),
    )
    name = CleanedField(
        partial(lines.clean_optional_line, limit=NAME_LIMIT),
        label=pgettext_lazy("legal notice", "Your name"),
        widget=LineInput(NAME_LIMIT, {"autocomplete": "name"}),
    )
    email = forms.EmailField(
        max_length=254,
        error_messages={"required": gettext_lazy("Enter your email address.")},
        label=gettext_lazy("Your email address"),
        help_text=gettext_lazy(
            "Only the moderators who decide see your name and address. You can leave both out if it is about the "
            "sexual abuse of children."
        ),
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    good_faith = forms.BooleanField(
        label=gettext_lazy("I believe in good faith that what I say here is accurate and complete.")
    )

    headings = {
        "address": gettext_lazy("What it is about"),
        "cited": gettext_lazy("Why you report it"),
        "name": gettext_lazy("About you"),
    }
    folded = ("cited",)
    use_required_attribute = False  # browsers cannot know that one of the reasons needs no name

    def __init__(self, data: Any, request: HttpRequest) -> None:
        host = urlsplit(site_address(request)).hostname or ""
        self._hosts = (host, *settings.ALLOWED_HOSTS)
        address = request.GET.get("address") or request.headers.get("Referer", "")
        target = target_of(address, *self._hosts)
        super().__init__(data, initial={"address": site_address(request) + target.path} if target else {})
        if self.data.get("reason") == NoticeReason.CHILD_ABUSE:
            self.fields["name"].required = self.fields["email"].required = False

    def clean_name(self) -> str:
        if self.fields["name"].required and not self.cleaned_data["name"]:
            raise ValidationError(_("Enter your name."), code="required")
        return str(self.cleaned_data["name"])

    def clean_address(self) -> Target:
        if target := target_of(self.cleaned_data["address"], *self._hosts):
            return target
        raise ValidationError(input_sentence(lines.InvalidInput("notice-address")), code="notice-address")


def send(request: HttpRequest, target: Target, **said: str) -> LegalNotice:
    """Send a notice to the moderators; return the one that the same form sent a moment ago, if any.

    `said`: reason, cited, explanation, name, email. Raises LimitReached.
    """
    same = LegalNotice.objects.filter(
        address=target.path, **said, made_at__gt=timezone.now() - RESUBMISSION_WINDOW
    )
    if before := same.first():
        return before
    limits.take(request, "notices_day", *(("notices_mail",) if said["email"] else ()))
    to_mail = ""
    if said["email"]:
        with suppress(errors.LimitReached):  # no one can flood an address that belongs to another person
            limits.take(request, "receipts")
            to_mail = "receipt"
    member = User.objects.filter(canonical_name=names.canonical(target.name), left_at=None).first()
    return LegalNotice.objects.create(
        address=target.path,
        member=member if target.name else None,
        language=get_language() or chosen.language,
        to_mail=to_mail,
        **said,
    )


@never_cache
@page_with_form
def new(request: HttpRequest) -> HttpResponse:
    """Show the form of a notice, and take it. Raises Http404 while LEGAL_NOTICES is off."""
    if not chosen.LEGAL_NOTICES:
        raise Http404
    form = NoticeForm(request.POST or None, request)
    if request.method == "POST" and form.is_valid():
        said = {name: form.cleaned_data[name] for name in ("reason", "cited", "explanation", "name", "email")}
        notice = send(request, form.cleaned_data["address"], **said)
        messages.success(request, _("Thank you. The moderators have received your report."))
        return redirect("articles:notice", notice.code)
    return show_form(request, "legal_notices/new.html", form)


@never_cache
@require_safe
def show(request: HttpRequest, code: str) -> HttpResponse:
    """Show the state of a notice to the reader who knows its code. Raises Http404."""
    if (notice := LegalNotice.objects.find(code)) is None:
        raise Http404("no such notice")
    context = {
        "notice": notice,
        "here": site_address(request) + request.path,
        "content": site_address(request) + notice.address,
        "is_mailed": is_sent() and notice.email != "",
        "days": NOTICES_KEPT.days,
    }
    return unlisted(render(request, "legal_notices/notice.html", context))


def mails() -> Iterator[Mail]:
    """Yield the receipts and decisions that are to be mailed, the oldest first."""
    for notice in LegalNotice.objects.exclude(to_mail="").order_by("pk"):
        context = {"notice": notice, "content": site_origin() + notice.address}
        drawn = letter(Kind.LEGAL_NOTICE, notice.email, context, notice.language)
        same = LegalNotice.objects.filter(pk=notice.pk, to_mail=notice.to_mail)
        yield Mail(partial(same.update, to_mail=""), partial(send_later, drawn))


# Moderators


class DecisionForm(GroundsForm):
    """A moderator's decision on a notice. The sender reads the reason, and everyone if the content is removed."""

    needs_grounds = False

    decision = forms.ChoiceField(choices=[(one.value, one.value) for one in Outcome])
    reason = reason_field()


@dataclass(frozen=True, slots=True)
class WaitingNotice:
    """A notice as the queue shows it."""

    notice: LegalNotice
    title: str  # of the article, or the member's name; "" if there is no such page
    is_comment: bool

    @property
    def is_urgent(self) -> bool:
        return self.notice.reason == NoticeReason.CHILD_ABUSE

    @property
    def is_about_law(self) -> bool:
        return self.notice.reason != NoticeReason.RULES


def list_waiting() -> list[WaitingNotice]:
    """Return the notices that wait for a decision, urgent ones first. One query, one round trip."""
    waiting = [(one, target_of(one.address)) for one in LegalNotice.objects.waiting()[:MOST_SHOWN]]
    ids = {article_of(target.subject) for _one, target in waiting if target and target.subject}
    titles = {article.id: article.title for article in repository().articles.get_many(list(ids))} if ids else {}
    return [
        WaitingNotice(
            one,
            titles.get(article_of(target.subject), "") if target and target.subject else _member_of(one),
            bool(target and target.subject and not is_root(target.subject)),
        )
        for one, target in waiting
    ]


def _member_of(notice: LegalNotice) -> str:
    member = notice.member
    return member.get_username() if member and member.left_at is None else ""


def decide(notice: LegalNotice, outcome: Outcome, reason: str, moderator: Actor, grounds: Grounds) -> None:
    """Decide on a notice: remove the content, unless it is already, or let it stay. Idempotent.

    Raises OwnMatter, ArticleNotFound, CommentNotFound, ArticleMerged.
    """
    target = target_of(notice.address)
    if target and target.subject:
        with suppress(*(() if outcome is Outcome.REMOVED else (errors.ArticleNotFound, errors.CommentNotFound))):
            author_of_flagged(target.subject, moderator.id)
    elif notice.member:
        check_not_own(notice.member.pk, moderator.id)
    if outcome is Outcome.REMOVED:
        because = grounds._replace(by_notice=True)
        if target and target.subject:
            with suppress(errors.ArticleRemoved, errors.CommentRemoved):
                content.remove(target.subject, moderator, reason, because)
        elif notice.member:
            profiles.remove(notice.member, moderator, reason, because)
    LegalNotice.objects.decide(notice, outcome, reason, moderator.id)


@private_act(needs(REMOVE_ARTICLES), page="articles:queue", button=gettext_lazy("Decide"))
def decide_by_form(request: HttpRequest, notice_id: int) -> HttpResponse:
    """Decide on a notice. A form that arrives twice succeeds."""
    notice, form = get_object_or_404(LegalNotice, pk=notice_id, forgotten_at=None), DecisionForm(request.POST)
    if form.is_valid() and form.cleaned_data["decision"] == Outcome.REMOVED:
        form.check_grounds()
    if not form.is_valid():
        return show_next(request, str(next(iter(form.errors.values()))[0]), "articles:queue", is_error=True)
    outcome, reason = Outcome(form.cleaned_data["decision"]), form.cleaned_data["reason"]
    if notice.decided_at is None:
        try:
            decide(notice, outcome, reason, actor(request), form.grounds)
        except (errors.ActionRefused, errors.ArticleNotFound, errors.CommentNotFound) as refused:
            return show_next(request, action_sentence(refused), "articles:queue", is_error=True)
        notice.refresh_from_db()
    if (notice.outcome, notice.answer) == (outcome, reason):
        messages.success(request, _("The decision has been recorded."))
    else:
        messages.error(request, _("Another moderator has already decided on this report."))
    return redirect("articles:queue")


NoticeNumber = PathEx[int, P(description="The number of the legal notice.", ge=1, le=HIGHEST_NUMBER, examples=[1])]


class QueuedNotice(BaseModel):
    """A legal notice: what a reader reported, mostly without an account."""

    id: int
    address: str = Field(description="Path of the page; it may not exist.")
    reason: NoticeReason
    cited: str = Field(description="Which law, or which rule; can be empty.")
    explanation: str
    name: str
    email: str
    time: float = Field(description="In Unix seconds.")
    outcome: Outcome | None = Field(description="null while it is open.")
    answer: str = Field(description="The reason for the decision, which the sender can read.")

    @classmethod
    def of(cls, one: LegalNotice) -> "QueuedNotice":
        return schemas.made(cls, one, id=one.pk, time=one.made_at.timestamp(), outcome=one.outcome or None)


class QueuedNotices(schemas.Continued):
    """The legal notices that wait for a decision, at most 50, the oldest first."""

    notices: list[QueuedNotice]


class NoticeDecision(GivenGrounds):
    """A decision on a legal notice."""

    removed: bool = Field(description="False lets the content stay.", examples=[False])
    reason: str = Field(examples=["It is a quotation."])
    """The sender can read it; everyone, if the content is removed."""


@router.get("queue/notices", auth=MODERATORS)
def list_notices(request: HttpRequest, query: Query[schemas.AfterQuery]) -> QueuedNotices:  # noqa: ARG001 - ninja's
    """Legal notices. Moderators only: the notices that wait for a decision."""
    require(request, REMOVE_ARTICLES)
    found, following = cursors.rows_in(request, LegalNotice.objects.waiting(), MOST_SHOWN)
    return QueuedNotices(notices=list(map(QueuedNotice.of, found)), next_after=following)


@router.put("queue/notices/{notice_id}", response=failing(409), auth=MODERATORS)
def decide_on_notice(request: HttpRequest, notice_id: NoticeNumber, decision: NoticeDecision) -> QueuedNotice:
    """Decide on a legal notice.

    Moderators only. Removes the content, or lets it stay; the sender gets the reason. The first decision stays.
    """
    require(request, REMOVE_ARTICLES)
    notice, reason = (
        get_object_or_404(LegalNotice, pk=notice_id, forgotten_at=None),
        lines.clean_reason(decision.reason),
    )
    if notice.decided_at is None:
        outcome = Outcome.REMOVED if decision.removed else Outcome.KEPT
        grounds = decision.grounds if decision.removed else NO_GROUNDS
        decide(notice, outcome, reason, actor(request), grounds)
        notice.refresh_from_db()
    return QueuedNotice.of(notice)
