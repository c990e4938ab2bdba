"""Ban members and lift their bans, and leave their votes out of ranking, with entries in the moderation log."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import Ban, BanScope, User
from accounts.moderators import BAN_MEMBERS
from articles.domain.moderation.log import Action, Actor
from articles.web.moderation.conflicts import check_not_own, check_target
from articles.web.moderation.steps import take
from articles.wiring import repository


def ban(member: User, scope: BanScope, reason: str, *, days: int, moderator: Actor) -> Ban | None:
    """Ban a member and log it; return None if the same ban has just begun. Raises StoreError; then none begins.

    `days`: 0 for a ban without end. Raises OwnMatter, FellowModerator.
    """
    check_target(member, BAN_MEMBERS, moderator.id)
    ends_at = timezone.now() + timedelta(days=days) if days else None
    with transaction.atomic():
        begun = Ban.objects.begin(member, scope, reason, ends_at=ends_at, moderator_id=moderator.id)
        if begun:
            details = {"scope": scope.value} | ({"days": str(days)} if days else {})
            _log(Action.BAN, moderator, member, reason, details)
    return begun


def lift_ban(ban: Ban, reason: str, moderator: Actor, *, after_appeal: bool = False) -> bool:
    """End a ban and log it; return whether it was current. Raises StoreError; then the ban remains.

    After an appeal there is no reason: the answer to it is not public. Raises OwnMatter.
    """
    check_not_own(ban.member_id, moderator.id)
    with transaction.atomic():
        is_lifted = Ban.objects.lift(ban)
        if is_lifted:
            appeal = {"appeal": "accepted"} if after_appeal else {}
            _log(Action.LIFT_BAN, moderator, ban.member, reason, {"scope": ban.scope} | appeal)
    return is_lifted


def set_left_out(member: User, reason: str, moderator: Actor, *, left_out: bool) -> None:
    """Leave a member's votes out of ranking, or count them again, for as long as one request may take.

    The same act, again, continues. Raises OwnMatter, FellowModerator.
    """
    check_not_own(member.pk, moderator.id)
    if left_out:
        check_target(member, BAN_MEMBERS, moderator.id)
    votes = repository().left_out
    decide = votes.leave_out if left_out else votes.count_again
    take(decide(member.pk, member.get_username(), moderator, reason))


def _log(action: Action, moderator: Actor, member: User, reason: str, details: dict[str, str]) -> None:
    repository().moderation_log.note(action, moderator, member.get_username(), reason, details)
