"""Redacting texts of the moderation log and of what is removed."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.moderators import REDACT
from accounts.web import unsent_form
from accounts.web.form_pages import page_with_form
from articles.domain.articles import ArticleId
from articles.domain.moderation.log import Action, Actor, Redactable
from articles.forms.redactions import RedactionForm
from articles.web.form_answers import just_done
from articles.web.identity import actor, needs
from articles.web.moderation import redactions
from articles.web.moderation.conflicts import check_not_own
from articles.wiring import repository

_MOMENT = re.compile(r"[0-9]{1,11}\.[0-9]{3}")
_CARRIED = ("texts", "reason")

Redact = Callable[[Sequence[str], str, Actor], int]


@never_cache
@page_with_form
@needs(REDACT, carries=_CARRIED)
def article(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Redact texts about an article."""
    repo = repository()
    found = repo.articles.get(article_id)
    check_not_own(found.poster, actor(request).id)

    def redact(*chosen: Any) -> int:
        return redactions.redact_article(article_id, *chosen)

    page = reverse("articles:article", args=[article_id])
    return _redact(request, repo.redactions.list_texts(article_id), redact, page, {"article": found})


@never_cache
@page_with_form
@needs(REDACT, carries=_CARRIED)
def entries(request: HttpRequest, moment: str) -> HttpResponse:
    """Redact texts of the log's entries about no article that were made at one moment, in Unix seconds."""
    repo = repository()
    found = repo.redactions.list_entries(float(moment)) if _MOMENT.fullmatch(moment) else []
    if not found:
        raise Http404(f"no entry: {moment!r}")
    redactions.check_entries(found, actor(request))

    def redact(*chosen: Any) -> int:
        return redactions.redact_entries(float(moment), *chosen)

    return _redact(
        request, repo.redactions.list_texts_of(found), redact, reverse("articles:log"), {"entries": found}
    )


def _redact(
    request: HttpRequest, texts: Sequence[Redactable], redact: Redact, page: str, context: dict[str, Any]
) -> HttpResponse:
    """Show the form, or redact what was chosen and return to `page`. A form that arrives twice succeeds."""
    form = RedactionForm(request.POST or None, texts=texts)
    if request.method == "POST" and form.is_valid():
        redact(form.chosen, form.cleaned_data["reason"], actor(request))
        messages.success(request, _("The texts have been redacted."))
        return redirect(page)
    reason = form.cleaned_data.get("reason") if form.errors else None
    if any(entry.reason == reason for entry in just_done(repository(), request, Action.REDACT)):
        return redirect(page)
    unsent_form.refill(request, form)
    context |= {"form": form, "texts": texts}
    return render(request, "moderation/redact.html", context, status=400 if form.errors else 200)
