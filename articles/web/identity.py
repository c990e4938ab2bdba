"""The reader or member behind a request, in the terms of the repository: who it is, and what they are free to do.

New members, who are not trusted yet, have stricter limits, and their votes may wait.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from itertools import islice
from typing import Any, NoReturn

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _, gettext_lazy

from accounts.models import BanScope, User, origins_of
from accounts.web.form_pages import members_only
from articles.domain import trust
from articles.domain.errors import Banned
from articles.domain.limits import FOR_NEW_MEMBERS
from articles.domain.members import UserId
from articles.domain.moderation_log import Actor
from articles.domain.notices import Notice
from articles.web.rights import may, may_in_groups
from articles.web.wiring import group_title, repository

View = Callable[..., HttpResponse]

_MOST_BACKERS = 200  # members who gave points of whom it is asked where they come from


def reader_id(request: HttpRequest) -> UserId | None:
    """Return the reader's user id; None for a reader without an account."""
    return request.user.pk if request.user.is_authenticated else None


def member_named(name: str) -> Any:
    """Return the member with this name, in any spelling. Raises Http404."""
    members = get_user_model()
    try:
        return members.objects.get_by_natural_key(name)
    except members.DoesNotExist:
        raise Http404(name) from None


class NamedMemberForm(forms.Form):
    """A member, by name: `member` of a valid form."""

    name = forms.CharField(
        max_length=100, label=gettext_lazy("Member"), widget=forms.TextInput({"autocomplete": "off"})
    )
    member: User

    def clean_name(self) -> str:
        try:
            self.member = member_named(self.cleaned_data["name"].strip())
        except Http404:
            raise ValidationError(_("There is no member with this name."), code="unknown") from None
        return self.member.get_username()


def names_of(members: Iterable[UserId]) -> dict[UserId, str]:
    """Return the names of these members, without those whose account is deleted. One query."""
    return dict(get_user_model().objects.filter(pk__in=set(members), left_at=None).values_list("pk", "username"))


def named(notices: Sequence[Notice]) -> list[Notice]:
    """Return notices with the names of who wrote the deleted comments among them. One query, mostly none."""
    authors = {notice.deleted.author for notice in notices if notice.deleted}
    names = names_of(authors) if authors else {}
    return [
        replace(one, deleted=one.deleted._replace(author_name=names.get(one.deleted.author, "")))
        if one.deleted
        else one
        for one in notices
    ]


def inbox_read_until(request: HttpRequest) -> float:
    """Return the time up to which the member has read the inbox, in Unix seconds; 0 without an account."""
    return request.user.inbox_read_until if request.user.is_authenticated else 0


def mark_read(member: UserId, until: float) -> None:
    """Mark notices up to this time, in Unix seconds, as read. Idempotent; an earlier time changes nothing."""
    members = get_user_model().objects
    members.filter(pk=member, inbox_read_until__lt=until).update(inbox_read_until=until)


def actor(request: HttpRequest) -> Actor:
    """Return the logged-in member as the actor of a public change."""
    return Actor(int(request.user.pk or 0), request.user.get_username())


def writer(request: HttpRequest, groups: Iterable[str] | Callable[[], Iterable[str]] = ()) -> Actor:
    """Return the logged-in member as the author of what the request writes, in these groups. Raises Banned.

    `groups`: a function is called only for members whom bans from groups may forbid it.
    """
    member: Any = request.user
    check_ban(member, BanScope.POSTING)
    if member.may_be_banned_from and (ban := member.find_group_ban(groups() if callable(groups) else groups)):
        _refuse(ban, ban.scope)
    return actor(request)


def is_banned_in(member: Any, groups: Iterable[str]) -> bool:
    """Return whether a ban forbids the reader to write in one of these groups. No query for most members."""
    is_banned = not is_free(member, BanScope.POSTING)
    return is_banned or (member.is_authenticated and member.find_group_ban(groups) is not None)


def offer_no_banned_group(form: forms.BaseForm, member: Any) -> None:
    """Leave out of a form's choice the groups from which the member is banned. No query for most members."""
    field: Any = form.fields.get("groups")
    if field and (slugs := {slug for slug in member.may_be_banned_from if member.find_group_ban([slug])}):
        field.withhold(slugs)


def is_free(member: Any, scope: BanScope) -> bool:
    """Return whether no ban forbids this to the reader; without an account, the login comes first."""
    return not (member.is_authenticated and member.banned_from and member.is_banned_from(scope))


def may_moderate(member: Any) -> bool:
    """Return whether a member may have a right of moderators: `may` looks closer. No query for most members."""
    return member.is_authenticated and bool(member.moderated or member.is_site_moderator)


def check_ban(member: Any, scope: BanScope) -> None:
    """Raise Banned if a ban forbids this to the member. No query for members without bans, else one."""
    if ban := member.find_ban(scope):
        _refuse(ban, scope.value)


def _refuse(ban: Any, scope: str) -> NoReturn:
    ends_at = None if ban.ends_at is None else ban.ends_at.timestamp()
    raise Banned(scope, ban.reason, ends_at, group_title(ban.group))


def may_be_new(member: Any) -> bool:
    """Return whether the limits of new members may apply: `is_new_member` looks closer. No round trip."""
    return not repository().rules.limits.keys().isdisjoint(FOR_NEW_MEMBERS) and may_be_untrusted(member)


def is_new_member(member: Any) -> bool:
    """Return whether the limits of new members apply. At most two round trips, for most members none."""
    return may_be_new(member) and not is_trusted(member)


def may_be_untrusted(member: Any) -> bool:
    """Return whether a member may not be old enough, or lack points: `is_trusted` looks closer. No round trip."""
    if member.trusted_at or member.is_superuser or member.has_permissions:
        return False
    return repository().rules.trusted_points > 0 or _is_young(member)


def is_trusted(member: Any) -> bool:
    """Return whether a member is old enough and has the points, or has permissions; then the member is for good.

    Round trips as `points_that_count`, none for a member who is trusted or young.
    """
    if not may_be_untrusted(member):
        return True
    if _is_young(member) or points_that_count(member) < repository().rules.trusted_points:
        return False
    member.trust()
    return True


def points_that_count(member: Any) -> int:
    """Return a member's points, without votes that are left out of ranking; of a new member those that end that.

    These are given by others who are trusted: see `articles.domain.trust`. Two round trips; for a new member who
    has the points up to four more, and some queries.
    """
    repo = repository()
    points = repo.members.get_points(member.pk, ranked=True)
    if points <= 0 or not (repo.rules.trusted_points and may_be_untrusted(member)):
        return points
    given = repo.members.count_votes_by(member.pk)
    backers = User.objects.in_standing().filter(pk__in=given)
    moderators = set(backers.site_moderators().values_list("pk", flat=True))
    trusted = moderators.union(backers.exclude(trusted_at=None).values_list("pk", flat=True))
    counts = {backer: given[backer] for backer in trusted}
    asked = () if moderators else [*islice(counts, _MOST_BACKERS)]
    return min(points, trust.counted(counts, origins_of(asked), moderators))


def _is_young(member: Any) -> bool:
    repo = repository()
    age = repo.store.now() - member.date_joined.timestamp()
    return repo.rules.new_member > 0 and age < repo.rules.new_member


def needs(*permissions: str, in_groups: bool = False, carries: Collection[str] = ()) -> Callable[[View], View]:
    """Restrict a view to members with one of these permissions.

    Logged-out readers see the login page, other members get 403. `in_groups`: moderators of groups pass as well;
    the view asks `articles.web.rights` of which. `carries`: see `members_only`.
    """
    allows = may_in_groups if in_groups else (lambda user, *wanted: any(may(user, one) for one in wanted))

    def decorate(view: View) -> View:
        @wraps(view)
        @members_only(carries=carries)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not allows(request.user, *permissions):
                raise PermissionDenied(*permissions)
            return view(request, *args, **kwargs)

        return guarded

    return decorate
