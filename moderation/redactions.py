"""Redact texts: in the log, in what is removed, and in what the accounts know of the same act."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

from django import forms
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _, gettext_lazy
from pydantic import BaseModel, Field

from accounts.models import Ban, Statement, Sweep, User
from accounts.moderators import REDACT
from accounts.web.form_pages import private_form, show_form, show_next
from articles.api import schemas
from articles.api.protocol.operations import MODERATORS, failing, require, router
from articles.api.protocol.problems import Problem
from articles.domain.articles import LATEST, ArticleId
from articles.domain.comments import root_of
from articles.domain.errors import OwnMatter
from articles.domain.moderation_log import REDACTED, Action, Actor, LogEntry, Redactable
from articles.models import BlockedHost
from articles.text.lines import clean_reason
from articles.web.form_answers import just_done
from articles.web.forms.fields import Checkboxes, reason_field
from articles.web.identity import actor, needs
from articles.web.rights import check_not_own
from articles.web.wiring import repository

PARTS = {
    "title": gettext_lazy("Title"),
    "link": gettext_lazy("Link"),
    "text": gettext_lazy("Text"),
    "reason": gettext_lazy("Reason"),
}
"""What a redacted text was."""

_LONGEST_SHOWN = 500  # characters of a text that the form shows


class RedactionForm(forms.Form):
    """Which of some texts to redact, and why. Each is chosen by its digest: it may be long, and may change."""

    texts = forms.MultipleChoiceField(
        label=gettext_lazy("What to redact"),
        widget=Checkboxes,
        error_messages={
            "required": gettext_lazy("Choose what to redact."),
            "invalid_choice": gettext_lazy("One of these texts has changed meanwhile. Look at it again."),
        },
    )
    reason = reason_field()

    def __init__(self, *args: Any, texts: Iterable[Redactable], **options: Any) -> None:
        super().__init__(*args, **options)
        self._texts = {_digest(one): one for one in texts}
        self.fields["texts"].choices = [  # type: ignore[attr-defined]
            (
                digest,
                _("%(name)s: %(value)s")
                % {"name": PARTS[one.part], "value": Truncator(one.text).chars(_LONGEST_SHOWN)},
            )
            for digest, one in self._texts.items()
        ]

    @property
    def chosen(self) -> list[str]:
        return [self._texts[digest].text for digest in self.cleaned_data["texts"]]


def _digest(one: Redactable) -> str:
    return blake2b(f"{one.part} {one.text}".encode(), digest_size=16).hexdigest()


def redact_article(article_id: ArticleId, texts: Collection[str], reason: str, moderator: Actor) -> int:
    """Redact texts; return in how many places. Idempotent. Raises ArticleNotFound, OwnMatter, StoreError."""
    repo = repository()
    poster = repo.articles.get(article_id).poster
    check_not_own(poster, moderator.id)
    with transaction.atomic():
        Sweep.objects.filter(member=poster, reason__in=texts).update(reason=REDACTED)
        about = Statement.objects.filter(subject__gte=root_of(article_id), subject__lt=root_of(article_id + 1))
        (about | Statement.objects.filter(member=poster)).filter(reason__in=texts).update(reason=REDACTED)
        return repo.redactions.redact_article(article_id, texts, moderator, reason)


def redact_entries(at: float, texts: Collection[str], reason: str, moderator: Actor) -> int:
    """Redact texts of a moment's entries; return in how many places. Idempotent. Raises OwnMatter, StoreError."""
    repo = repository()
    entries = repo.redactions.list_entries(at)
    check_entries(entries, moderator)
    with transaction.atomic():
        for entry in entries:
            if entry.names_member:
                about = Statement.objects.filter(member__username=entry.title, reason__in=texts)
                about.update(reason=REDACTED)
            if entry.action is Action.BAN:
                Ban.objects.filter(member__username=entry.title, reason__in=texts).update(reason=REDACTED)
            if entry.action is Action.REMOVE_ABOUT:
                User.objects.filter(username=entry.title, about_removed__in=texts).update(about_removed=REDACTED)
            if entry.action is Action.BLOCK_HOST:
                BlockedHost.objects.filter(host=entry.title, reason__in=texts).update(reason=REDACTED)
        return repo.redactions.redact_entries(at, texts, moderator, reason)


def check_entries(entries: Collection[LogEntry], moderator: Actor) -> None:
    """Raise OwnMatter for entries about the moderator."""
    if any(entry.title == moderator.name for entry in entries if entry.names_member):
        raise OwnMatter


_MOMENT = re.compile(r"[0-9]{1,11}\.[0-9]{3}")
_CARRIED = ("texts", "reason")

Redact = Callable[[Sequence[str], str, Actor], int]


@private_form(needs(REDACT, carries=_CARRIED))
def article(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Redact texts about an article."""
    repo = repository()
    found = repo.articles.get(article_id)
    check_not_own(found.poster, actor(request).id)
    texts, page = repo.redactions.list_texts(article_id), reverse("articles:article", args=[article_id])
    return _redact(request, texts, partial(redact_article, article_id), page, {"article": found})


@private_form(needs(REDACT, carries=_CARRIED))
def entries(request: HttpRequest, moment: str) -> HttpResponse:
    """Redact texts of the log's entries about no article that were made at one moment, in Unix seconds."""
    repo = repository()
    found = repo.redactions.list_entries(float(moment)) if _MOMENT.fullmatch(moment) else []
    if not found:
        raise Http404(f"no entry: {moment!r}")
    check_entries(found, actor(request))
    texts, redact = repo.redactions.list_texts_of(found), partial(redact_entries, float(moment))
    return _redact(request, texts, redact, reverse("articles:log"), {"entries": found})


def _redact(
    request: HttpRequest, texts: Sequence[Redactable], redact: Redact, page: str, context: dict[str, Any]
) -> HttpResponse:
    """Show the form, or redact what was chosen and return to `page`. A form that arrives twice succeeds."""
    form = RedactionForm(request.POST or None, texts=texts)
    if request.method == "POST" and form.is_valid():
        redact(form.chosen, form.cleaned_data["reason"], actor(request))
        return show_next(request, _("The texts have been redacted."), page)
    reason = form.cleaned_data.get("reason") if form.errors else None
    if any(entry.reason == reason for entry in just_done(repository(), request, Action.REDACT)):
        return redirect(page)
    return show_form(request, "moderation/redact.html", form, texts=texts, **context)


class Redaction(schemas.Model):
    """Which texts to redact, and why. Give either the article or the time."""

    article_id: int | None = Field(
        None, ge=1, description="The article that the entries are about.", examples=[43]
    )
    time: float | None = Field(None, ge=0, lt=LATEST)
    """For entries that are about no article: their time, as the log has it."""

    texts: list[str] = Field(min_length=1, max_length=100, examples=[["A former title"]])
    """Titles, links, texts and reasons, exactly as they are."""

    reason: schemas.PublicReason = Field(examples=["It names a person."])


class Redacted(BaseModel):
    """What was redacted."""

    places: int = Field(description="Number of places where a text was replaced; 0 if repeated.")


@router.put("log/redacted", response=failing(404), auth=MODERATORS)
def redact(request: HttpRequest, redaction: Redaction) -> Redacted:
    """Redact texts in the moderation log.

    Only for members who can redact. Replaces each text by “[redacted]”, in the log and, as far as they are
    removed, in the article and its comments; texts that everyone can read there stay. The log says so. It cannot
    be undone. Idempotent.
    """
    require(request, REDACT)
    texts, reason, moderator = redaction.texts, clean_reason(redaction.reason), actor(request)
    if redaction.article_id is not None and redaction.time is None:
        return Redacted(places=redact_article(redaction.article_id, texts, reason, moderator))
    if redaction.time is not None and redaction.article_id is None:
        return Redacted(places=redact_entries(redaction.time, texts, reason, moderator))
    raise Problem(400, "invalid", _("Give either the article or the time."))
