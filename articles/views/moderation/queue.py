"""The moderators' queue of what members flag, and their decisions."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web import unsent_form
from accounts.web.form_pages import form_action
from articles.domain.errors import ArticleRemoved, CommentRemoved
from articles.domain.moderation.flags import QueueEntry
from articles.forms.flags import REASONS, DecisionForm
from articles.views.lists.paging import numbered_pager, page_number
from articles.web.form_answers import way_back
from articles.web.identity import actor, needs
from articles.web.moderation import REMOVE
from articles.wiring import repository


@require_safe
@never_cache
@needs(REMOVE)
def index(request: HttpRequest) -> HttpResponse:
    repo = repository()
    page = repo.flags.get_page(page_number(request))
    context = {
        "entries": page.entries,
        "names": _names(page.entries),
        "pager": numbered_pager(page.number, has_next=page.has_next),
        "reasons": REASONS,
        "own": actor(request).id,
        "now": repo.store.now(),
    }
    return render(request, "moderation/queue.html", context)


def _names(entries: tuple[QueueEntry, ...]) -> dict[int, str]:
    """Return the names of those who flagged. One query."""
    ids = {flag.member for entry in entries for flag in entry.flags}
    members: Any = get_user_model().objects.filter(pk__in=ids, left_at=None)
    return dict(members.values_list("pk", "username"))


def _queue(request: HttpRequest, **_address: object) -> str:
    return way_back(request) or reverse("articles:queue")


def _button_label(request: HttpRequest) -> str:
    return _("Keep") if unsent_form.sent(request).get("decision") == DecisionForm.KEEP else _("Remove")


@never_cache
@form_action(page=_queue, button=_button_label)
@needs(REMOVE)
def decide(request: HttpRequest) -> HttpResponse:
    """Keep or remove what is flagged. A form that arrives twice succeeds."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, str(errors[0]))
        return redirect(_queue(request))
    values, flags = form.cleaned_data, repository().flags
    if values["decision"] == DecisionForm.KEEP:
        flags.keep(values["subject"], values["seen"], values["reason"])
        messages.success(request, _("It stays. Those who flagged it can read why."))
        return redirect(_queue(request))
    try:
        flags.remove(values["subject"], actor(request), values["reason"])
    except (ArticleRemoved, CommentRemoved):
        messages.info(request, _("It was removed before."))
    else:
        messages.success(request, _("It has been removed."))
    return redirect(_queue(request))
