"""What moderators decide about a member: bans with their appeals, sweeps, and notes."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import models, transaction
from django.db.models import Exists, F, Min, OuterRef, Q
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts.models.members import Row, User, name_of

SLUG_LIMIT = 60  # most characters of the slug of a group that is kept here: more than any has
_SENT_TWICE = timedelta(minutes=1)  # age up to which a ban is the same as one for the same reason


class BanScope(StrEnum):
    """What a ban forbids."""

    POSTING = "posting"
    VOTING = "voting"
    BOTH = "both"
    GROUP = "group"  # posting in one group, and commenting there


BAN_SCOPES = {
    BanScope.POSTING: gettext_lazy("Posting and commenting"),
    BanScope.VOTING: gettext_lazy("Voting"),
    BanScope.BOTH: gettext_lazy("Posting, commenting and voting"),
}
"""What members and moderators read of each scope that is of the whole site."""

banned = Signal()
"""Sent in the transaction of a ban from the whole site, with the account as `member`."""


class BanManager(models.Manager["Ban"]):
    """Begin and find bans. A member has at most one current ban of each scope, and from each group."""

    def begin(
        self,
        member: User,
        scope: BanScope,
        reason: str,
        *,
        ends_at: datetime | None,
        moderator_id: int,
        group: str = "",
    ) -> "Ban | None":
        """Ban a member, replacing the current ban of this scope; return None if the same ban has just begun.

        `ends_at`: None for a ban without end; `group`: the slug, for a ban from a group.
        """
        with transaction.atomic():
            locked, now = User.objects.select_for_update().get(pk=member.pk), timezone.now()
            same = self.current().filter(member=locked, scope=scope.value, group=group)
            before = same.first()
            if before and before.is_same(reason, ends_at):
                return None
            same.update(lifted_at=now)
            begun = self.create(
                member=locked,
                scope=scope.value,
                group=group,
                reason=reason,
                begins_at=now,
                ends_at=ends_at,
                moderator_id=moderator_id,
            )
            self._note_change(locked.pk, now)
        return begun

    def lift(self, ban: "Ban") -> bool:
        """End a ban; return whether it was current until now."""
        with transaction.atomic():
            locked, now = User.objects.select_for_update().get(pk=ban.member_id), timezone.now()
            is_lifted = self.current().filter(pk=ban.pk).update(lifted_at=now) == 1
            if is_lifted:
                self._note_change(locked.pk, now)
        return is_lifted

    def current(self) -> "models.QuerySet[Ban]":
        """Return the bans that are neither over nor lifted, the newest first."""
        return self.filter(Q(ends_at=None) | Q(ends_at__gt=timezone.now()), lifted_at=None)

    def forbidding(self, scope: str) -> "Ban | None":
        """Return which of a member's bans forbids "posting" or "voting"; of several, the last to end."""
        return _last_to_end(self.current().filter(scope__in=(scope, BanScope.BOTH.value)))

    def from_groups(self, slugs: Iterable[str]) -> "Ban | None":
        """Return which of a member's bans is from one of these groups; of several, the last to end."""
        return _last_to_end(self.current().filter(scope=BanScope.GROUP.value, group__in=slugs))

    def list_all(self) -> "list[Ban]":
        """Return all bans, the newest first; `outcome` tells replaced ones. One query."""
        following = self.filter(
            member=OuterRef("member"),
            scope=OuterRef("scope"),
            group=OuterRef("group"),
            begins_at=OuterRef("lifted_at"),
        )
        return list(self.select_related("moderator").annotate(is_replaced=Exists(following)))

    def list_latest(self, member: User) -> "list[Ban]":
        """Return the member's latest ban of each scope and group, the last changed first. One query."""
        by_scope: dict[tuple[str, str], Ban] = {}
        for ban in self.filter(member=member).select_related("moderator"):
            by_scope.setdefault((ban.scope, ban.group), ban)
        return sorted(by_scope.values(), key=lambda ban: ban.changed_at, reverse=True)

    def to_show(self, member: User) -> "list[Ban]":
        """Return the member's current bans, and others whose end or answer is news. One query, for most none."""
        if not (member.banned_from or member.may_be_banned_from or member.has_news):
            return []
        latest, read_until = self.list_latest(member), member.inbox_read_until
        return [ban for ban in latest if ban.is_current or ban.changed_at > read_until]

    def with_open_appeals(self) -> "models.QuerySet[Ban]":
        """Return the current bans whose appeals moderators have not answered, the oldest appeal first."""
        waiting = self.current().filter(answered_at=None).exclude(appealed_at=None)
        return waiting.select_related("member", "moderator").order_by("appealed_at", "pk")

    def answer(self, ban: "Ban", text: str, moderator: int) -> bool:
        """Answer a ban's appeal; return whether this call did."""
        waiting, now = self.current().filter(pk=ban.pk, answered_at=None).exclude(appealed_at=None), timezone.now()
        with transaction.atomic():
            is_answered = waiting.update(answer=text, answered_at=now, answered_by=moderator) == 1
            if is_answered:
                self._note_change(ban.member_id, now)
        return is_answered

    def _note_change(self, member: int, now: datetime) -> None:
        """Repeat in the member's row what the current bans forbid together, and when the last of them ends."""
        bans = list(self.current().filter(member=member).exclude(scope=BanScope.GROUP.value))
        scopes, ends = {ban.scope for ban in bans}, [ban.ends_at for ban in bans if ban.ends_at]
        User.objects.filter(pk=member).update(
            ban_changed_at=now.timestamp(),
            banned_from=BanScope.BOTH.value if len(scopes) > 1 else "".join(scopes),
            ban_ends_at=max(ends) if ends and len(ends) == len(bans) else None,
        )


def _last_to_end(bans: "models.QuerySet[Ban]") -> "Ban | None":
    return bans.order_by(F("ends_at").desc(nulls_first=True), "-pk").first()


class Appealable(Row):
    """A moderator's decision against a member, who can appeal once; a moderator answers."""

    appeal = models.TextField(default="")
    appealed_at = models.DateTimeField(null=True)
    answer = models.TextField(default="")
    answered_at = models.DateTimeField(null=True)
    answered_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    class Meta(Row.Meta):
        abstract = True


class Ban(Appealable):
    """A ban. What is read of the member sums up the current ones, so that other members need no query."""

    member = models.ForeignKey(User, models.CASCADE, related_name="bans")
    scope = models.CharField(max_length=7)
    group = models.CharField(max_length=SLUG_LIMIT, default="", db_default="", db_column="slug")
    """Slug of the group that a ban from a group is about; "" for the others."""

    reason = models.TextField()
    moderator = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    begins_at = models.DateTimeField(default=timezone.now)
    ends_at = models.DateTimeField(null=True, help_text="Null: it has no end.")
    lifted_at = models.DateTimeField(null=True)

    objects = BanManager()

    class Meta(Row.Meta):
        ordering = ["-begins_at", "-pk"]

    def is_same(self, reason: str, ends_at: datetime | None) -> bool:
        """Return whether this ban is the one that a form sent twice would create again. The scope is the same."""
        if self.ends_at and ends_at:
            is_as_long = abs(self.ends_at - ends_at) <= _SENT_TWICE
        else:
            is_as_long = self.ends_at == ends_at
        return is_as_long and self.reason == reason and self.begins_at >= timezone.now() - _SENT_TWICE

    @property
    def is_current(self) -> bool:
        return self.lifted_at is None and (self.ends_at is None or self.ends_at > timezone.now())

    @property
    def outcome(self) -> str:
        """How it ended: "lifted", "ended", or, of those that `list_all` read, "replaced"; "" while current."""
        if self.lifted_at and (self.ends_at is None or self.lifted_at < self.ends_at):
            return "replaced" if getattr(self, "is_replaced", False) else "lifted"
        return "" if self.is_current else "ended"

    @property
    def may_be_appealed(self) -> bool:
        return self.is_current and self.appealed_at is None

    @property
    def changed_at(self) -> float:
        """When it began, was lifted or its appeal was answered, whichever was last, in Unix seconds."""
        return max(at for at in (self.begins_at, self.lifted_at, self.answered_at) if at).timestamp()

    moderator_name = name_of("moderator")


class Sweep(Row):
    """One sweep. The store marks what it removed with `mark`."""

    member = models.ForeignKey(User, models.CASCADE, related_name="sweeps")
    moderator = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    reason = models.TextField()
    since = models.DateTimeField(help_text="What was posted before stays.")
    begun_at = models.DateTimeField(default=timezone.now)
    removed = models.PositiveIntegerField(default=0, help_text="Articles and comments that it removed so far.")
    is_complete = models.BooleanField(default=False)
    restored_at = models.DateTimeField(null=True)

    class Meta(Row.Meta):
        ordering = ["-begun_at", "-pk"]

    moderator_name = name_of("moderator")

    @property
    def mark(self) -> str:
        """What the store records for each article and comment that the sweep removes."""
        return str(self.pk)


class AboutFlags(models.Manager["AboutFlag"]):
    """Flags on what members write about themselves."""

    def list_waiting(self, most: int, seen: Collection[int] = ()) -> "models.QuerySet[AboutFlag]":
        """Return the open flags on the members but those seen that wait longest, by member. Two queries."""
        flagged = self.filter(state=OPEN).exclude(member__in=seen)
        waiting = flagged.values("member").annotate(first=Min("pk")).order_by("first")
        members = [one["member"] for one in waiting[:most]]
        flags = self.filter(state=OPEN, member__in=members).select_related("member", "flagger")
        return flags.order_by("member", "pk")


OPEN, KEPT, REMOVED = "open", "kept", "removed"  # states of a flag on what a member writes about themselves


class AboutFlag(Row):
    """A member's flag on what another writes about themselves. A decided one goes when that text is changed."""

    member = models.ForeignKey(User, models.CASCADE, related_name="about_flags")
    flagger = models.ForeignKey(User, models.CASCADE, related_name="flags_on_abouts")
    reason = models.CharField(max_length=20)
    words = models.TextField(default="", help_text="What only moderators read.")
    set_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=7, default=OPEN)
    kept = models.TextField(default="", help_text="Why moderators kept the text.")

    objects = AboutFlags()

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["member", "flagger"], name="about_flag_once"),)

    @property
    def at(self) -> float:
        """When it was set, in Unix seconds."""
        return self.set_at.timestamp()


class MemberNote(Row):
    """One note. Only moderators see it on the site; the member's export has its text, without the author."""

    member = models.ForeignKey(User, models.CASCADE, related_name="notes")
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    text = models.TextField()
    written_at = models.DateTimeField(default=timezone.now)

    class Meta(Row.Meta):
        ordering = ["-written_at", "-pk"]

    author_name = name_of("author")
