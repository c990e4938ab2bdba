"""Moderators change articles and discussions: groups, removal, restoration, locks. The log shows all of it."""

from collections.abc import Callable, Collection
from contextlib import suppress

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.models import Statement
from accounts.models.law import Act
from accounts.moderators import ASSIGN_GROUPS, REMOVE_ARTICLES
from accounts.web import sent_forms
from accounts.web.form_pages import page_with_form, show_form, show_next
from articles.api import schemas
from articles.api.comments import Comment
from articles.api.groups import check_groups, slugs_of
from articles.api.protocol.operations import MODERATORS, ArticleNumber, CommentNumber, failing, router
from articles.domain import errors
from articles.domain.articles import Article, ArticleId
from articles.domain.comments import CommentId, article_of, is_root, root_of
from articles.domain.flags import SubjectId
from articles.domain.moderation_log import REVERSING, STATED, Action, Actor
from articles.text.lines import clean_reason
from articles.text.refusals import action_sentence
from articles.web import rights
from articles.web.form_answers import just_done
from articles.web.forms.articles import ReasonForm
from articles.web.forms.groups import AssignForm, TakeOutForm
from articles.web.groups import option_title
from articles.web.identity import actor, needs, reader_id
from articles.web.rules.acting import note_reversal
from articles.web.wiring import group_title, repository
from moderation.statements import FIELDS, NO_GROUNDS, GivenGrounds, GroundedReasonForm, Grounds, address_of, state


def remove(subject: SubjectId, moderator: Actor, reason: str, grounds: Grounds = NO_GROUNDS) -> None:
    """Remove it, and state it to the author. Two round trips. Raises errors as `Flags.remove`."""
    flags = repository().flags
    with transaction.atomic():
        state(flags.get_author(subject), Act.REMOVAL, reason, moderator, grounds, subject=subject)
        flags.remove(subject, moderator, reason)


def restore(subject: SubjectId, moderator: Actor, reason: str, _grounds: Grounds = NO_GROUNDS) -> None:
    """Restore an article or a comment. Two round trips, for moderators of groups three.

    Raises OwnMatter, DecidedForSite, ArticleNotFound, NotRemoved, DuplicateLink, CommentNotFound,
    CommentNotRemoved.
    """
    repo = repository()
    if is_root(subject):
        article = repo.articles.get(article_of(subject))
        rights.check_not_own(article.poster, moderator.id)
        if article.removed is not None:
            rights.check_reversible(Action.REMOVE, subject, moderator)
        repo.articles.restore(article.id, moderator, reason)
    else:
        comment = repo.comments.get(subject)
        rights.check_not_own(comment.author, moderator.id)
        if comment.removed is not None:
            rights.check_reversible(Action.REMOVE_COMMENT, subject, moderator)
        repo.comments.restore(subject, moderator, reason)
    Statement.objects.note_reversed(Act.REMOVAL, subject=subject)


def lock(subject: SubjectId, moderator: Actor, reason: str, grounds: Grounds = NO_GROUNDS) -> None:
    """Lock a discussion, and state it to the poster. Two round trips. Raises ArticleNotFound, DiscussionLocked."""
    repo = repository()
    with transaction.atomic():
        state(repo.flags.get_author(subject), Act.LOCK, reason, moderator, grounds, subject=subject)
        repo.comments.lock(article_of(subject), moderator, reason)


def unlock(subject: SubjectId, moderator: Actor, reason: str, _grounds: Grounds = NO_GROUNDS) -> None:
    """Unlock it. Two round trips, for moderators of groups four. Raises DecidedForSite, and as `lock`."""
    if moderator.groups and repository().articles.get(article_of(subject)).locked is not None:
        rights.check_reversible(Action.LOCK, subject, moderator)
    repository().comments.unlock(article_of(subject), moderator, reason)
    Statement.objects.note_reversed(Act.LOCK, subject=subject)
    note_reversal(article_of(subject))


_DONE: dict[Action, type[errors.ActionRefused]] = {
    Action.REMOVE: errors.ArticleRemoved,
    Action.RESTORE: errors.NotRemoved,
    Action.REMOVE_COMMENT: errors.CommentRemoved,
    Action.RESTORE_COMMENT: errors.CommentNotRemoved,
    Action.LOCK: errors.DiscussionLocked,
    Action.UNLOCK: errors.DiscussionNotLocked,
}
"""Refusals of a change that was made before."""

Change = Callable[[SubjectId, Actor, str, Grounds], None]  # one of the functions above


def assign(
    article: Article, groups: Collection[str], others: Collection[str], moderator: Actor, reason: str
) -> tuple[str, ...]:
    """Put an article into groups and out of others; return those that it is in then. Raises as `Groups.assign`."""
    after = repository().groups.assign(article.id, groups, others, actor=moderator, reason=reason)
    if {*after} != {*article.groups}:
        note_reversal(article.id)
    return after


def take_out(request: HttpRequest, article: Article, groups: Collection[str], reason: str) -> tuple[str, ...]:
    """Take an article out of groups; return those that it is still in. Three round trips.

    Raises PermissionDenied, ReadersWouldChange, ArticleNotFound.
    """
    moderator = rights.acting(request, ASSIGN_GROUPS, groups)
    rights.check_taken_out(request.user, article, {*article.groups} - {*groups})
    return assign(article, (), groups, moderator, reason)


@page_with_form
@needs(ASSIGN_GROUPS, in_groups=True, carries=["groups", "new_group", "reason", "was"])
def assigning(request: HttpRequest, article_id: int) -> HttpResponse:
    """Change the groups of an article; moderators of groups only take it out of these."""
    repo = repository()
    article = repo.articles.get(article_id)
    article.check_unmerged()
    if not rights.may(request.user, ASSIGN_GROUPS):
        return _taking_out(request, article)
    form = AssignForm(request.POST or None, groups=repo.groups.list_all(), current=article.groups)
    if request.method == "POST" and form.is_valid():
        moderator, (add, remove) = actor(request), form.changes
        for slug, title in form.new.items():
            with suppress(errors.GroupExists):  # by a concurrent request
                repo.groups.create(slug, title, moderator)
        assign(article, add, remove, moderator, form.cleaned_data["reason"])
        return show_next(request, _("The article’s groups have been saved."), "articles:article", article_id)
    return show_form(request, "moderation/assign_groups.html", form, article=article)


def _taking_out(request: HttpRequest, article: Article) -> HttpResponse:
    """Show the form that takes an article out of the member's groups. Raises PermissionDenied if it is in none."""
    own = rights.own_groups(request.user, article.groups)
    rights.acting(request, ASSIGN_GROUPS, own)
    titles = {slug: option_title(slug, group_title(slug)) for slug in sorted(own)}
    form = TakeOutForm(request.POST or None, groups=titles)
    if request.method == "POST" and form.is_valid():
        try:
            take_out(request, article, form.cleaned_data["groups"], form.cleaned_data["reason"])
        except errors.ReadersWouldChange as refused:
            form.add_error("groups", action_sentence(refused))
        else:
            return show_next(request, _("The article’s groups have been saved."), "articles:article", article.id)
    return show_form(request, "moderation/take_out.html", form, article=article)


def _with_reason(template: str, action: Action, change: Change, part: str = "") -> Callable[..., HttpResponse]:
    """Return the view of a form that takes a reason, and changes an article, its discussion or a comment.

    It returns there. A form that arrives twice succeeds.
    """

    @page_with_form
    @needs(REMOVE_ARTICLES, in_groups=True, carries=["reason", *FIELDS])
    def view(request: HttpRequest, article_id: ArticleId = 0, comment_id: CommentId = 0) -> HttpResponse:
        repo, subject = repository(), comment_id or root_of(article_id)
        comment = repo.comments.get(comment_id) if comment_id else None
        article = repo.articles.get(article_of(subject))
        moderator = rights.acting_about(request, REMOVE_ARTICLES, article)
        if not comment:
            article.check_unmerged()
        if action in (Action.RESTORE, Action.RESTORE_COMMENT):
            rights.check_not_own(comment.author if comment else article.poster, moderator.id)
        page, before = address_of(subject) + part, article.locked if part else (comment or article).removed
        if not sent_forms.has_typed(request) and (before is None) is (action in REVERSING):
            messages.error(request, action_sentence(_DONE[action](subject)))
            return redirect(page)
        form = (GroundedReasonForm if action in STATED else ReasonForm)(request.POST or None)
        if request.method != "POST" or not form.is_valid():
            about = {"comment": comment} if comment else {}
            return show_form(request, template, form, article=article, **about)
        reason = form.cleaned_data["reason"]
        try:
            change(subject, moderator, reason, getattr(form, "grounds", NO_GROUNDS))
        except errors.ActionRefused as refused:
            done = just_done(repo, request, action)
            if not any((entry.article_id, entry.reason) == (article.id, reason) for entry in done):
                messages.error(request, action_sentence(refused))
                if isinstance(refused, errors.DuplicateLink):
                    page = reverse("articles:article", args=[refused.article_id])
        return redirect(page)

    return view


removing = _with_reason("moderation/remove.html", Action.REMOVE, remove)
restoring = _with_reason("moderation/restore.html", Action.RESTORE, restore)
removing_comment = _with_reason("comments/remove.html", Action.REMOVE_COMMENT, remove)
restoring_comment = _with_reason("comments/restore.html", Action.RESTORE_COMMENT, restore)
locking = _with_reason("comments/lock.html", Action.LOCK, lock, "#comments")
unlocking = _with_reason("comments/unlock.html", Action.UNLOCK, unlock, "#comments")


_ArticleNumber = PathEx[int, P(description="The article's number.", ge=1, examples=[44])]


class Assignment(BaseModel):
    """The groups to put an article in."""

    groups: schemas.Slugs = Field(description="All groups of the article; it is removed from any other.")
    reason: schemas.PublicReason = Field("", examples=["It is about Python."])


class Assigned(BaseModel):
    """The groups an article is in."""

    id: int
    groups: list[str]


class Removal(GivenGrounds):
    """Whether to remove an article or a comment, and why."""

    removed: bool = Field(description="False restores it.", examples=[True])
    reason: schemas.PublicReason = Field(examples=["It is spam."])


class Locking(GivenGrounds):
    """Whether to lock a discussion, and why."""

    locked: bool = Field(description="False unlocks it.", examples=[True])
    reason: schemas.PublicReason = Field(examples=["It went in circles."])


class Locked(BaseModel):
    """Whether a discussion is locked."""

    article_id: int
    locked: str | None = Field(description="The recorded reason; null if it is not locked.")


def _change(request: HttpRequest, change: Change, subject: SubjectId, reason: str, given: GivenGrounds) -> None:
    """Let a program change an article or a comment. Idempotent."""
    moderator = rights.acting_on(request, REMOVE_ARTICLES, subject)
    grounds = given.grounds if change in (remove, lock) else NO_GROUNDS
    with suppress(*_DONE.values()):
        change(subject, moderator, clean_reason(reason), grounds)


@router.put("articles/{article_id:article_id}/groups", auth=MODERATORS)
def assign_groups(request: HttpRequest, article_id: ArticleNumber, assignment: Assignment) -> Assigned:
    """Assign an article to groups.

    Moderators only. Replaces all groups of an article in one step. Moderators of groups can only take it out of
    these. Idempotent.
    """
    if not rights.may_in_groups(request.user, ASSIGN_GROUPS):
        raise PermissionDenied
    repo, slugs = repository(), slugs_of(assignment.groups)
    reason = clean_reason(assignment.reason) if assignment.reason else ""
    article = repo.articles.get(article_id)
    current = {*article.groups}
    if rights.may(request.user, ASSIGN_GROUPS):
        known = {*repo.groups.get_titles(), *current}
        check_groups(slugs, known)
        others = known.difference(slugs)  # not only its current ones: another moderator may be adding one
        groups = assign(article, slugs, others, actor(request), reason)
    elif not {*slugs} <= current:
        raise PermissionDenied
    else:
        left_out = current.difference(slugs)
        groups = take_out(request, article, left_out, reason) if left_out else article.groups
    return Assigned(id=article_id, groups=list(groups))


@router.put("articles/{article_id:article_id}/locked", auth=MODERATORS)
def lock_comments(request: HttpRequest, article_id: ArticleNumber, locking: Locking) -> Locked:
    """Lock a discussion, or unlock it.

    Moderators only. In a locked discussion, comments cannot be written or edited. Idempotent: the response
    contains the recorded reason.
    """
    _change(request, lock if locking.locked else unlock, root_of(article_id), locking.reason, locking)
    return Locked(article_id=article_id, locked=repository().articles.get(article_id).locked)


@router.put("comments/{comment_id:comment_id}/removed", auth=MODERATORS)
def remove_comment(request: HttpRequest, comment_id: CommentNumber, removal: Removal) -> Comment:
    """Remove a comment, or restore it.

    Moderators only. Hides the text of a comment from everyone, or shows it again, with a reason. Idempotent: the
    response contains the recorded reason.
    """
    _change(request, remove if removal.removed else restore, comment_id, removal.reason, removal)
    comment = repository().comments.get(comment_id, reader_id(request))
    if comment.is_deleted:
        raise errors.CommentNotFound(comment_id)
    return Comment.of(comment, comment.replies)


@router.put("articles/{article_id:article_id}/removed", response=failing(409), auth=MODERATORS)
def remove_article(request: HttpRequest, article_id: _ArticleNumber, removal: Removal) -> schemas.Article:
    """Remove an article, or restore it.

    Moderators only. Removes an article from every list, or restores it, with a reason. Idempotent: the response
    contains the recorded reason.
    """
    _change(request, remove if removal.removed else restore, root_of(article_id), removal.reason, removal)
    return schemas.Article.of(repository().articles.get(article_id, reader_id(request)))
