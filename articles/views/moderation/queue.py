"""The moderators' queue of what members flag, and their decisions."""

from datetime import timedelta

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Ban, BanScope, User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.web import unsent_form
from accounts.web.form_pages import form_action
from articles.domain.errors import ArticleRemoved, CommentRemoved, OwnMatter
from articles.domain.members import UserId
from articles.domain.moderation.flags import QueueEntry
from articles.forms.bans import SCOPES
from articles.forms.flags import REASONS, DecisionForm
from articles.text.refusals import action_sentence
from articles.views.lists.paging import numbered_pager, page_number
from articles.web.form_answers import way_back
from articles.web.identity import actor, names_of, needs
from articles.web.moderation.bans import ban
from articles.web.moderation.conflicts import author_of_flagged, check_target
from articles.wiring import repository

MOST_APPEALS = 50
"""Appeals on the page, the oldest."""

BAN_DAYS = 7
"""Days for which the button of the queue bans an author from posting."""


@require_safe
@never_cache
@needs(REMOVE_ARTICLES, BAN_MEMBERS)
def index(request: HttpRequest) -> HttpResponse:
    repo, may_ban = repository(), request.user.has_perm(BAN_MEMBERS)
    page = repo.flags.get_page(page_number(request))
    context = {
        "appeals": list(Ban.objects.with_open_appeals()[:MOST_APPEALS]) if may_ban else [],
        "may_ban": may_ban,
        "scopes": SCOPES,
        "entries": page.entries if request.user.has_perm(REMOVE_ARTICLES) else (),
        "names": names_of(flag.member for entry in page.entries for flag in entry.flags),
        "pager": numbered_pager(page.number, has_next=page.has_next),
        "reasons": REASONS,
        "own": actor(request).id,
        "own_matter": action_sentence(OwnMatter()),
        "protected": _protected(page.entries) if may_ban else frozenset(),
        "now": repo.store.now(),
    }
    return render(request, "moderation/queue.html", context)


def _protected(entries: tuple[QueueEntry, ...]) -> frozenset[UserId]:
    """Return those authors who cannot be banned. One query."""
    authors = User.objects.with_perm(BAN_MEMBERS).filter(pk__in={one.author for one in entries})
    return frozenset(authors.values_list("pk", flat=True))


def _queue(request: HttpRequest, **_address: object) -> str:
    return way_back(request) or reverse("articles:queue")


def _button_label(request: HttpRequest) -> str:
    return _("Keep") if unsent_form.sent(request).get("decision") == DecisionForm.KEEP else _("Remove")


@never_cache
@form_action(page=_queue, button=_button_label)
@needs(REMOVE_ARTICLES)
def decide(request: HttpRequest) -> HttpResponse:
    """Keep or remove what is flagged. Succeeds if the form arrives twice."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, str(errors[0]))
        return redirect(_queue(request))
    values, flags = form.cleaned_data, repository().flags
    author = author_of_flagged(values["subject"], actor(request).id)
    if values["decision"] == DecisionForm.KEEP:
        flags.keep(values["subject"], values["seen"], values["reason"])
        messages.success(request, _("It has been kept. The members who flagged it can read why."))
        return redirect(_queue(request))
    member = _to_ban(request, author) if values["decision"] == DecisionForm.BAN else None
    try:
        flags.remove(values["subject"], actor(request), values["reason"])
    except (ArticleRemoved, CommentRemoved):
        messages.info(request, _("It had already been removed."))
    else:
        messages.success(request, _("It has been removed."))
    if member:
        if not _is_banned_longer(member):
            ban(member, BanScope.POSTING, values["reason"], days=BAN_DAYS, moderator=actor(request))
        messages.success(request, _("%(name)s is banned.") % {"name": member.get_username()})
    return redirect(_queue(request))


def _is_banned_longer(author: User) -> bool:
    """Return whether a ban from posting ends later than that of the button, which would replace it."""
    running = author.find_ban(BanScope.POSTING)
    week = timezone.now() + timedelta(days=BAN_DAYS)
    return running is not None and (running.ends_at is None or running.ends_at > week)


def _to_ban(request: HttpRequest, author: UserId) -> User:
    """Return the author of what is flagged. Raises PermissionDenied, Http404, and FellowModerator."""
    if not request.user.has_perm(BAN_MEMBERS):
        raise PermissionDenied
    member = get_object_or_404(User, pk=author, left_at=None)
    check_target(member, BAN_MEMBERS, actor(request).id)
    return member
