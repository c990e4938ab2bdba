"""The moderators' queue of what members flag, and their decisions: to keep it, or to remove it."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Query
from pydantic import BaseModel, Field

from accounts.models import BAN_SCOPES, BanScope, HeldPost, User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.web import sent_forms
from accounts.web.form_pages import private_act, private_page, show_next
from articles.api import schemas
from articles.api.comments import Comment
from articles.api.protocol import cursors
from articles.api.protocol.operations import MODERATORS, CommentNumber, OthersArticleNumber, possible_page, router
from articles.domain import flags as domain
from articles.domain.articles import LATEST
from articles.domain.comments import article_of, is_root, not_root, root_of
from articles.domain.errors import ArticleMerged, ArticleRemoved, CommentRemoved, OwnMatter
from articles.domain.flags import FlagReason, QueueEntry as FlaggedEntry, SubjectId
from articles.domain.members import UserId
from articles.domain.reasons import usual as usual_reason
from articles.text.lines import clean_reason
from articles.text.refusals import action_sentence
from articles.web import rights
from articles.web.form_answers import way_back
from articles.web.forms.fields import CleanedField
from articles.web.identity import actor, names_of, needs
from articles.web.paging import numbered_pager, page_number
from articles.web.rules.acting import note_kept
from articles.web.wiring import repository
from moderation import appeals, content, legal_notices, profiles
from moderation.bans import ban
from moderation.flags import REASONS
from moderation.rules import held
from moderation.statements import GroundsForm

BAN_DAYS = 7  # days for which the button of the queue bans an author from posting


class DecisionForm(GroundsForm):
    """A moderator's decision. `seen`: when the page with the form was made, in Unix seconds.

    `usual`: the reason for a removal if none is typed. Keeping something needs no reason, and takes no other.
    """

    KEEP, REMOVE, BAN = "keep", "remove", "ban"
    needs_grounds = False

    subject = forms.IntegerField(min_value=1, max_value=10**22)
    seen = forms.FloatField(min_value=0, max_value=LATEST)
    decision = forms.ChoiceField(choices=[(one, one) for one in (KEEP, REMOVE, BAN)])
    reason = CleanedField(clean_reason, required=False)
    usual = forms.ChoiceField(choices=list(REASONS.items()), required=False)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        decision, usual = values.get("decision"), values.get("usual")
        code = usual_reason(FlagReason(usual)) if usual else ""
        if decision in (self.REMOVE, self.BAN):
            self.check_grounds(code)
        if decision in (self.REMOVE, self.BAN) and values.get("reason") == "":
            if usual and (decision, usual) != (self.BAN, FlagReason.WITHDRAWAL):
                return values | {"reason": code}
            self.add_error(
                "reason", _("Give a reason for the removal: everyone can read it in the moderation log.")
            )
        return values


@private_page(needs(REMOVE_ARTICLES, BAN_MEMBERS, in_groups=True))
def index(request: HttpRequest) -> HttpResponse:
    """Show what waits; to moderators of groups, what they can decide."""
    repo, user = repository(), request.user
    may_ban, may_remove = rights.may(user, BAN_MEMBERS), rights.may(user, REMOVE_ARTICLES)
    page = repo.flags.get_page(page_number(request), groups=rights.within(user))
    entries = _decidable(user, page.entries)
    context = {
        "appeals": appeals.list_open(user),
        "notices": legal_notices.list_waiting() if may_remove else (),
        "may_ban": may_ban,
        "may_block": may_remove,
        "sees_members": rights.may_see_subjects(request),
        "scopes": BAN_SCOPES,
        "profiles": profiles.list_flagged() if may_remove else (),
        "held": held.list_shown(HeldPost.objects.waiting()) if may_remove else (),
        "entries": entries,
        "names": names_of(flag.member for entry in entries for flag in entry.flags),
        "pager": numbered_pager(page.number, has_next=page.has_next),
        "reasons": REASONS,
        "own": actor(request).id,
        "own_matter": action_sentence(OwnMatter()),
        "protected": _protected(entries) if may_ban else frozenset(),
        "now": repo.store.now(),
    }
    return render(request, "moderation/queue.html", context)


def _decidable(user: Any, entries: Iterable[FlaggedEntry]) -> tuple[FlaggedEntry, ...]:
    """Return those that the member decides. Only for moderators of groups a round trip for each with a log."""
    return tuple(one for one in entries if rights.decides(user, REMOVE_ARTICLES, one.article))


def _protected(entries: tuple[FlaggedEntry, ...]) -> frozenset[UserId]:
    """Return those authors who cannot be banned. One query."""
    authors = User.objects.with_perm(BAN_MEMBERS).filter(pk__in={one.author for one in entries})
    return frozenset(authors.values_list("pk", flat=True))


def _queue(request: HttpRequest, **_address: object) -> str:
    return way_back(request) or reverse("articles:queue")


def _button_label(request: HttpRequest) -> str:
    return _("Keep") if sent_forms.sent(request).get("decision") == DecisionForm.KEEP else _("Remove")


@private_act(needs(REMOVE_ARTICLES, in_groups=True), page=_queue, button=_button_label)
def decide(request: HttpRequest) -> HttpResponse:
    """Keep or remove what is flagged. Succeeds if the form arrives twice."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, str(errors[0]))
        return redirect(_queue(request))
    values, flags = form.cleaned_data, repository().flags
    moderator = rights.acting_on(request, REMOVE_ARTICLES, values["subject"])
    author = rights.author_of_flagged(values["subject"], moderator.id)
    if values["decision"] == DecisionForm.KEEP:
        note_kept(values["subject"])
        flags.keep(values["subject"], values["seen"], values["reason"])
        return show_next(request, _("It has been kept. The members who flagged it can read why."), _queue(request))
    member = _to_ban(request, author) if values["decision"] == DecisionForm.BAN else None
    try:
        content.remove(values["subject"], moderator, values["reason"], form.grounds)
    except (ArticleRemoved, CommentRemoved):
        messages.info(request, _("It had already been removed."))
    except ArticleMerged as merged:
        messages.error(request, action_sentence(merged))
    else:
        messages.success(request, _("It has been removed."))
    if member:
        if not _is_banned_longer(member):
            moderator, reason = actor(request), values["reason"]
            ban(member, BanScope.POSTING, reason, days=BAN_DAYS, moderator=moderator, grounds=form.grounds)
        messages.success(request, _("%(name)s is banned.") % {"name": member.get_username()})
    return redirect(_queue(request))


def _is_banned_longer(author: User) -> bool:
    """Return whether a ban from posting ends later than that of the button, which would replace it."""
    running = author.find_ban(BanScope.POSTING)
    week = timezone.now() + timedelta(days=BAN_DAYS)
    return running is not None and (running.ends_at is None or running.ends_at > week)


def _to_ban(request: HttpRequest, author: UserId) -> User:
    """Return the author of what is flagged. Raises PermissionDenied, Http404, and FellowModerator."""
    if not rights.may(request.user, BAN_MEMBERS):
        raise PermissionDenied
    member = get_object_or_404(User, pk=author, left_at=None)
    rights.check_target(member, BAN_MEMBERS, actor(request).id)
    return member


class QueuedFlag(BaseModel):
    """A flag that is waiting for a decision."""

    by: str = Field(description="Name of the member; empty if the account is deleted, or if rules flagged it.")
    reason: FlagReason
    words: str = Field(description="For a flag by rules, their names.")
    time: float = Field(description="In Unix seconds.")
    weight: float = Field(description="Lower for members whose flags are rarely upheld.")


class QueueEntry(BaseModel):
    """An article or a comment that is flagged."""

    article: schemas.Article
    comment: Comment | None = Field(description="null if the article itself is flagged.")
    author: str = Field(description="Name of the member who posted it; empty if it is not known.")
    weight: float = Field(description="Total weight of its flags.")
    flags: list[QueuedFlag]

    @classmethod
    def of(cls, entry: domain.QueueEntry, names: dict[int, str]) -> "QueueEntry":
        comment, flags = entry.comment, entry.flags
        return cls(
            article=schemas.Article.of(entry.article),
            comment=Comment.of(comment, comment.replies) if comment else None,
            author=entry.author_name,
            weight=entry.weight,
            flags=[schemas.made(QueuedFlag, one, by=names.get(one.member, ""), time=one.at) for one in flags],
        )


class Queue(schemas.NumberedPage):
    """One page of the moderators' queue, highest weight first."""

    entries: list[QueueEntry]


class Keeping(schemas.Model):
    """The decision to keep what is flagged."""

    reason: str = Field(
        "", description="For the members who flagged it; can be empty.", examples=["It is on topic."]
    )
    seen: float | None = Field(None, ge=0)
    """When the queue was read, in Unix seconds: later flags stay open. Without it, all flags are decided."""


class Kept(BaseModel):
    """What was kept."""

    article_id: int
    comment_id: int | None = Field(description="null if the article itself was flagged.")


_KEEPS = (
    "Moderators only. Decides its open flags; the members who set them can read the reason. To remove it, which "
    "decides them too, use its removed operation. Idempotent."
)


@router.get("queue", auth=MODERATORS)
def read_queue(request: HttpRequest, query: Query[schemas.PageQuery]) -> Queue:
    """What members have flagged.

    Moderators only: articles and comments that wait for a decision. Moderators of groups get what they can decide.
    """
    if not rights.may_in_groups(request.user, REMOVE_ARTICLES):
        raise PermissionDenied
    seen = cursors.seen_in(request)
    page = repository().flags.get_page(possible_page(query.page), seen=seen, groups=rights.within(request.user))
    entries = _decidable(request.user, page.entries)
    names = names_of(flag.member for one in entries for flag in one.flags)
    return Queue(
        entries=[QueueEntry.of(entry, names) for entry in entries],
        page=query.number,
        has_next=page.has_next,
        next_after=cursors.next_unseen(request, seen, page.subjects) if page.has_next else None,
    )


@router.put("articles/{article_id:article_id}/kept", description=_KEEPS, auth=MODERATORS)
def keep_article(request: HttpRequest, article_id: OthersArticleNumber, keeping: Keeping) -> Kept:
    """Keep a flagged article."""
    return _keep(request, root_of(article_id), keeping)


@router.put("comments/{comment_id:comment_id}/kept", description=_KEEPS, auth=MODERATORS)
def keep_comment(request: HttpRequest, comment_id: CommentNumber, keeping: Keeping) -> Kept:
    """Keep a flagged comment."""
    return _keep(request, not_root(comment_id), keeping)


def _keep(request: HttpRequest, subject: SubjectId, keeping: Keeping) -> Kept:
    moderator = rights.acting_on(request, REMOVE_ARTICLES, subject)
    rights.author_of_flagged(subject, moderator.id)
    reason, now = clean_reason(keeping.reason) if keeping.reason else "", repository().store.now()
    note_kept(subject)
    repository().flags.keep(subject, now if keeping.seen is None else min(keeping.seen, now), reason)
    return Kept(article_id=article_of(subject), comment_id=None if is_root(subject) else subject)
