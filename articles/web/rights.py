"""What moderators may do, and what they cannot decide: about themselves, and against each other.

`may` is the one place that says who may do what: members with a permission for the whole site, and moderators of a
group for what is in their groups only. They may act against themselves, such as by removing their own article, but
not reverse such an act. The core asks here; all else of moderation stands above it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from django.contrib.auth.models import Permission
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import Resolver404, resolve

from accounts.models import (
    AboutFlag,
    Ban,
    BanScope,
    GroupModerator,
    HeldPost,
    LegalNotice,
    ModeratorRule,
    Statement,
    User,
)
from accounts.models.law import Act
from accounts.models.moderation import OPEN, Appealable
from accounts.moderators import ASSIGN_GROUPS, BAN_MEMBERS, REMOVE_ARTICLES
from articles.configuration.choices import chosen, closed_groups
from articles.configuration.recent import Recent
from articles.domain import errors
from articles.domain.articles import Article
from articles.domain.comments import article_of, is_root, root_of
from articles.domain.flags import SubjectId
from articles.domain.members import UserId
from articles.domain.moderation_log import SITE, Action, Actor, LogEntry
from articles.site import count_sign_ups
from articles.text.refusals import action_sentence
from articles.web.wiring import repository

OF_GROUPS = frozenset({ASSIGN_GROUPS, REMOVE_ARTICLES, BAN_MEMBERS})
"""What moderators of a group may do there: its texts, and which articles leave it; removal, locks, and the queue;
bans from the group."""


def may(user: Any, permission: str, groups: Collection[str] | None = None) -> bool:
    """Return whether a member may do what needs this permission, to the whole site or to what is in these groups.

    What is in several groups takes the moderator of all of them, and what is in none a permission for the whole
    site. No query for members without permissions.
    """
    if not user.is_authenticated:
        return False
    has_all: bool = user.has_perm(permission)
    return has_all or bool(groups and permission in OF_GROUPS and user.moderated.issuperset(groups))


def within(user: Any) -> frozenset[str] | None:
    """Return the groups within which a member removes articles; None for the whole site."""
    return None if may(user, REMOVE_ARTICLES) else frozenset(user.moderated)


def may_in_groups(user: Any, *permissions: str) -> bool:
    """Return whether a member may do what needs one of these permissions, to the whole site or in any group."""
    if not user.is_authenticated:
        return False
    return any(may(user, one, user.moderated) for one in permissions)


def own_groups(user: Any, groups: Collection[str]) -> frozenset[str]:
    """Return those of the groups that a member moderates."""
    return user.moderated.intersection(groups) if user.is_authenticated else frozenset()


def acting(request: HttpRequest, permission: str, groups: Collection[str] | None = None) -> Actor:
    """Return the member as the actor of an act, with the groups whose moderator acts. Raises PermissionDenied."""
    user = request.user
    if not may(user, permission, groups):
        raise PermissionDenied(permission)
    capacity = () if may(user, permission) else tuple(sorted(groups or ()))
    return Actor(int(user.pk or 0), user.get_username(), capacity)


def acting_on(request: HttpRequest, permission: str, subject: SubjectId) -> Actor:
    """Return the same for an act on an article or a comment, which is in the groups of its article.

    One round trip, none for moderators of the whole site. Raises PermissionDenied, ArticleNotFound.
    """
    user = request.user
    if may(user, permission) or not may_in_groups(user, permission):
        return acting(request, permission)
    return acting_about(request, permission, repository().articles.get(article_of(subject)))


def changes_readers(before: Collection[str], after: Collection[str]) -> bool:
    """Return whether everyone can read an article in some groups, but not in the others."""
    closed = closed_groups()
    return closed.isdisjoint(before) != closed.isdisjoint(after)


def check_same_readers(user: Any, before: Collection[str], after: Collection[str]) -> None:
    """Raise ReadersWouldChange if a change of groups changes whether everyone can read an article.

    Moderators who assign groups on the whole site decide for both sides; moderators of groups, posters and
    automatic rules do not. What a poster's own edit may change, its script decides.
    """
    if changes_readers(before, after) and not may(user, ASSIGN_GROUPS):
        raise errors.ReadersWouldChange


def check_merge_readers(article: Article, other: Article) -> None:
    """Raise MergeAcrossReaders if a merge would show members' comments to everyone, or hide others from them."""
    if changes_readers(article.groups, other.groups):
        raise errors.MergeAcrossReaders(article.id)


def check_taken_out(user: Any, article: Article, after: Collection[str]) -> None:
    """Raise PermissionDenied or ReadersWouldChange if a moderator of groups cannot leave an article in these.

    If that is none, those count that it left by members' suggestions.
    """
    check_same_readers(user, article.groups, after)
    if not (after or may(user, ASSIGN_GROUPS, _passed_groups(user, article) | {*article.groups})):
        raise PermissionDenied(ASSIGN_GROUPS)


def check_settled(user: Any, article: Article, after: Collection[str]) -> None:
    """Raise GroupsDecided if a poster would put an article into groups, or take it out, against moderators."""
    changed = {*article.groups} ^ {*after}
    if changed and not may(user, ASSIGN_GROUPS) and not changed.isdisjoint(settled_groups(article)):
        raise errors.GroupsDecided


def settled_groups(article: Article) -> frozenset[str]:
    """Return the groups that moderators, or rules, were the last to put an article into or take it out of."""
    poster = article.poster_name
    return _groups_changed(article, lambda entry: entry.actor_name not in (SITE.name, poster))


def brought_groups(article: Article) -> frozenset[str]:
    """Return the groups that members were the last to put an article into or take it out of; not its poster."""
    return _groups_changed(article, lambda entry: _is_of_members(entry, article))


def _passed_groups(user: Any, article: Article) -> frozenset[str]:
    """Return the same with those where this member was the last, without acting for a group."""
    name = user.get_username()

    def is_passed(entry: LogEntry) -> bool:
        is_own = entry.actor_name == name and "capacity" not in entry.details
        return is_own or _is_of_members(entry, article)

    return _groups_changed(article, is_passed)


def _is_of_members(entry: LogEntry, article: Article) -> bool:
    """Return whether members made a change: by a suggestion, also if the poster accepted it, or by a flag."""
    if entry.action is Action.APPLY_SUGGESTION:
        return entry.actor_name in (SITE.name, article.poster_name)
    rule = ModeratorRule.objects.filter(name=entry.rule).first() if entry.rule else None
    return rule is not None and rule.current.definition["subject"] == "report"  # of flags by members


def _groups_changed(article: Article, made: Callable[[LogEntry], bool]) -> frozenset[str]:
    """Return the groups whose last change, as the article's log has it, was one of these; merged ones as targets.

    No round trip without a log, else at most two for each 25 changes and one more.
    """
    if not article.is_logged:
        return frozenset()
    last = dict[str, LogEntry]()
    for entry in _entries_about(article.id):
        for slug in (*entry.slugs("added"), *entry.slugs("removed")):
            last.setdefault(slug, entry)
    targets = repository().groups.get_targets(sorted(last))
    return frozenset(targets.get(slug, slug) for slug, entry in last.items() if made(entry))


def decided_groups(user: Any, article: Article) -> frozenset[str] | None:
    """Return the groups whose moderators decide about an article; None if only those of the whole site do.

    These are all that it is in, and those that it left by members' suggestions or by the member's own edits.
    It has to be, or to have been, in one of them by the decision of someone else.
    """
    groups, passed = frozenset(article.groups), _passed_groups(user, article)
    return groups | passed if groups - passed or passed - groups else None


def decides(user: Any, permission: str, article: Article) -> bool:
    """Return whether a member may do what needs this permission to an article: see `acting_about`."""
    if may(user, permission):
        return True
    if not may(user, permission, article.groups):
        return False
    groups = decided_groups(user, article)
    return groups is not None and may(user, permission, groups)


def _entries_about(article_id: int) -> list[LogEntry]:
    """Return the log's entries about an article, newest first."""
    log, found, rest = repository().moderation_log, list[LogEntry](), None
    while True:
        page = log.get_for_article(article_id, rest)
        found += page.entries
        if not (page.has_next and page.rest):
            return found
        (rest,) = page.rest


def acting_about(request: HttpRequest, permission: str, article: Article) -> Actor:
    """Return the member as the actor of a moderating act on an article, or on comments of it.

    A moderator of groups does not get hold of an article by suggestions or by moving it. Raises PermissionDenied.
    """
    moderator = acting(request, permission, article.groups)
    if not decides(request.user, permission, article):
        raise PermissionDenied(permission)
    return moderator


def check_reversible(act: Action, subject: SubjectId, moderator: Actor) -> None:
    """Raise DecidedForSite if a moderator of groups would reverse what moderators of the whole site did.

    What flags removed by themselves is no such act. One round trip, none for moderators of the whole site.
    """
    if not moderator.groups:
        return
    (entry,) = repository().moderation_log.find_latest([(act, subject)])
    if not is_of_groups(entry):
        raise errors.DecidedForSite


def is_of_groups(entry: LogEntry | None) -> bool:
    """Return whether moderators of groups did what an entry is about, or the site itself."""
    return entry is not None and ("capacity" in entry.details or entry.actor_name == SITE.name)


def check_group_target(member: User, group: str, moderator: Actor) -> None:
    """Raise OwnMatter or FellowModerator if the moderator cannot ban the member from a group, or lift such a ban.

    Moderators of the group can act neither against each other nor against those of the whole site.
    """
    check_target(member, BAN_MEMBERS, moderator.id)
    if moderator.groups and (member.is_site_moderator or group in member.moderated):
        raise errors.FellowModerator


def may_reverse(ban: Ban, moderator: Actor) -> bool:
    """Return whether the moderator may end a ban: not one of groups what a moderator of the whole site decided."""
    return not (moderator.groups and ban.moderator and may(ban.moderator, BAN_MEMBERS))


def check_ban_reversible(ban: Ban, moderator: Actor) -> None:
    """Raise DecidedForSite if the moderator may not end the ban."""
    if not may_reverse(ban, moderator):
        raise errors.DecidedForSite


def check_not_own(member: UserId, moderator: UserId) -> None:
    """Raise OwnMatter if a decision concerns the moderator, or what the moderator posted."""
    if member == moderator:
        raise errors.OwnMatter


def check_target(member: User, permission: str, moderator: UserId) -> None:
    """Raise OwnMatter, or FellowModerator for a member with the permission that an act against members needs."""
    check_not_own(member.pk, moderator)
    if member.has_perm(permission):
        raise errors.FellowModerator


def why_not(check: Callable[..., object], *facts: Any) -> str:
    """Return the sentence with which one of these checks refuses; "" if it does not."""
    try:
        check(*facts)
    except errors.ActionRefused as refused:
        return action_sentence(refused)
    return ""


def permission_to_answer(decision: Appealable) -> str:
    """Return the permission with which moderators answer an appeal against this decision: that of the act."""
    is_about_posts = isinstance(decision, Statement) and decision.act != Act.VOTES
    return REMOVE_ARTICLES if is_about_posts else BAN_MEMBERS


def check_answer(decision: Ban | Statement, moderator: UserId) -> None:
    """Raise OwnMatter, or OwnDecision if the moderator took the decision and another one can answer the appeal."""
    check_not_own(decision.member_id or 0, moderator)
    if moderator in who_cannot_answer(decision):
        raise errors.OwnDecision


def who_cannot_answer(decision: Ban | Statement) -> set[UserId]:
    """Return the member whom a decision is about, and the moderator who took it if another one can answer."""
    member, moderator = decision.member_id or 0, decision.moderator_id or 0
    others = User.objects.filter(have_any(permission_to_answer(decision)), is_active=True)
    return {member, moderator} if others.exclude(pk__in=[member, moderator]).exists() else {member}


def have_any(*permissions: str) -> Q:
    """Return the condition to have one of these; `with_perm` would ask of every member."""
    names = [name.partition(".")[2] for name in permissions]
    rows = Permission.objects.filter(content_type__app_label="articles", codename__in=names)
    in_groups = User.groups.through.objects.filter(group__permissions__in=rows).values("user")
    by_hand = User.user_permissions.through.objects.filter(permission__in=rows).values("user")
    return Q(is_superuser=True) | Q(pk__in=in_groups) | Q(pk__in=by_hand)


def author_of_flagged(subject: SubjectId, moderator: UserId) -> UserId:
    """Return who posted it. One round trip. Raises OwnMatter, ArticleNotFound, CommentNotFound."""
    author = repository().flags.get_author(subject)
    if author is None:
        raise errors.ArticleNotFound(subject) if is_root(subject) else errors.CommentNotFound(subject)
    check_not_own(author, moderator)
    return author


RING_PERMISSIONS = (REMOVE_ARTICLES, ASSIGN_GROUPS)  # permissions, any of which lets a member see voting rings


class ModeratorLinks:
    """What the navigation of moderators shows of the queue and of voting rings. Reads only the numbers drawn."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def shows_queue(self) -> bool:
        return may_in_groups(self._request.user, REMOVE_ARTICLES, BAN_MEMBERS)

    @property
    def sees_removed(self) -> bool:
        """Whether the reader moderates groups, or removes articles of the whole site."""
        return may_in_groups(self._request.user, REMOVE_ARTICLES)

    @property
    def shows_rings(self) -> bool:
        return any(may(self._request.user, one) for one in RING_PERMISSIONS)

    @property
    def waiting(self) -> int:
        """How much of the queue the member decides; without flags while the store is unavailable."""
        return _waiting.get().count_for(self._request.user)

    @property
    def flagged(self) -> int:
        """The number of articles flagged as voting rings; 0 while the store is unavailable."""
        with suppress(errors.StoreUnavailable, errors.StoreDamaged):
            return repository().voting_rings.count()
        return 0


def appeals_for(user: Any) -> QuerySet[Ban]:
    """Return the bans whose open appeals the member may answer, the oldest appeal first."""
    if may(user, BAN_MEMBERS):
        return Ban.objects.with_open_appeals()
    of_site = User.objects.filter(have_any(BAN_MEMBERS))
    of_groups = Ban.objects.with_open_appeals().filter(scope=BanScope.GROUP.value, group__in=user.moderated)
    return of_groups.exclude(moderator__in=of_site)


def may_answer(user: Any, decision: Ban | Statement) -> bool:
    """Return whether a member may answer an appeal against the decision."""
    if may(user, permission_to_answer(decision)):
        return True
    is_theirs = isinstance(decision, Ban) and decision.group != "" and may(user, BAN_MEMBERS, [decision.group])
    return is_theirs and not (decision.moderator and may(decision.moderator, BAN_MEMBERS))


_Kind: TypeAlias = tuple[str, frozenset[str]]
"""The permission that decides something, and the groups whose moderators decide it."""


class _Waiting:
    """How much waits for a decision, by kind, and for whom it does not wait."""

    def __init__(self) -> None:
        self._numbers, self._barred = Counter[_Kind](), Counter[tuple[UserId, _Kind]]()
        self.sign_ups = 0

    def add(self, permission: str, barred: Iterable[UserId | None], groups: frozenset[str] = frozenset()) -> None:
        """`barred`: members who cannot decide this; `groups`: whose moderators can."""
        kind = permission, groups
        self._numbers[kind] += 1
        self._barred.update((one, kind) for one in {*barred} if one)

    def count_for(self, user: Any) -> int:
        """Return how much of it the member decides, without sign-ups."""
        kinds = [kind for kind in self._numbers if may(user, *kind)]
        return sum(self._numbers[kind] - self._barred[user.pk, kind] for kind in kinds)


def _load_waiting() -> _Waiting:
    """Return what waits; without what is flagged while the store is unavailable. At most four round trips.

    One query more for each open appeal, and one for each moderator of groups and flagged article with a log.
    """
    found = _Waiting()
    found.sign_ups = count_sign_ups()
    for ban in Ban.objects.with_open_appeals():
        is_of_site = not ban.group or (ban.moderator is not None and may(ban.moderator, BAN_MEMBERS))
        found.add(BAN_MEMBERS, who_cannot_answer(ban), frozenset([] if is_of_site else [ban.group]))
    for statement in Statement.objects.with_open_appeals():
        found.add(permission_to_answer(statement), who_cannot_answer(statement))
    for member in AboutFlag.objects.filter(state=OPEN).values_list("member", flat=True).distinct():
        found.add(REMOVE_ARTICLES, [member])
    for author in HeldPost.objects.waiting().values_list("author", flat=True):
        found.add(REMOVE_ARTICLES, [author])
    notices = list(LegalNotice.objects.waiting())
    with suppress(errors.StoreUnavailable, errors.StoreDamaged):
        flagged = repository().flags.list_by_groups()
        authors = authors_about(notices, [subject for subject, _groups in flagged])
        undecided = _who_does_not_decide(flagged)
        for subject, groups in flagged:
            found.add(REMOVE_ARTICLES, [authors.get(subject), *undecided.get(subject, ())], groups)
        for notice in notices:
            found.add(REMOVE_ARTICLES, [authors.get(subject_of(notice)), notice.member_id])
    return found


def subject_of(notice: LegalNotice) -> SubjectId:
    """Return the comment that a legal notice is about, or the root of the article; 0 for a profile."""
    with suppress(Resolver404):
        about = resolve(notice.address).kwargs
        return root_of(about["article_id"]) if "article_id" in about else int(about.get("comment_id", 0))
    return 0


def authors_about(
    notices: Collection[LegalNotice], subjects: Collection[SubjectId] = ()
) -> dict[SubjectId, UserId]:
    """Return who posted what legal notices are about, and these other subjects. One round trip."""
    about = filter(None, map(subject_of, notices))
    return repository().flags.get_authors(list(dict.fromkeys([*subjects, *about])))


def _who_does_not_decide(flagged: Collection[tuple[SubjectId, frozenset[str]]]) -> dict[SubjectId, list[UserId]]:
    """Return the moderators of the groups of flagged articles who brought them there: see `decides`."""
    moderators = User.objects.filter(pk__in=GroupModerator.objects.filter(is_current=True).values("member"))
    theirs = [(one, s) for one in moderators for s, groups in flagged if may(one, REMOVE_ARTICLES, groups)]
    if not theirs:
        return {}
    articles = {one.id: one for one in repository().articles.get_many([article_of(one) for _by, one in theirs])}
    found = dict[SubjectId, list[UserId]]()
    for member, subject in theirs:
        article = articles.get(article_of(subject))
        if article and not decides(member, REMOVE_ARTICLES, article):
            found.setdefault(subject, []).append(member.pk)
    return found


_waiting: Recent[_Waiting] = Recent(_load_waiting, _Waiting(), share=0.01)


forget_waiting = _waiting.forget


def count_waiting(user: Any, *, now: bool = False) -> int:
    """Return how much waits for a decision of this member. Every process counts once in some seconds, or `now`."""
    removes = may(user, REMOVE_ARTICLES)
    if not (removes or may(user, BAN_MEMBERS) or user.moderated):
        return 0
    if now:
        forget_waiting()
    waiting = _waiting.get()
    return waiting.count_for(user) + removes * waiting.sign_ups


def may_see_subjects(request: HttpRequest) -> bool:
    """Return whether the reader may see the moderators' page about members and deleted accounts."""
    user = request.user
    return may(user, BAN_MEMBERS) or may(user, REMOVE_ARTICLES)


def may_see_inviters(request: HttpRequest) -> bool:
    """Return whether the reader may see who invited whom, as INVITATION_TREE says."""
    readers = chosen.INVITATION_TREE
    return readers == "public" or (readers == "moderators" and may_see_subjects(request))
