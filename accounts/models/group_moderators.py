"""Moderators of a group: which members moderate which groups, and what merges of groups do to that and to bans."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import models, transaction
from django.utils import timezone

from accounts.models.members import Row, User, name_of
from accounts.models.moderation import SLUG_LIMIT, Ban
from accounts.remembered import forget


class GroupModerators(models.Manager["GroupModerator"]):
    """Which members moderate which groups. What is read of a member names the groups: see `accounts.web.backend`.

    Each change notes in the member's row that there is news, which also lets no process use the former row.
    """

    def set(self, member: User, group: str, *, by: int | None, is_current: bool) -> bool:
        """Make a member a moderator of a group, or end that; return whether it changes anything."""
        with transaction.atomic():
            User.objects.select_for_update().get(pk=member.pk)
            row, is_new = self.get_or_create(
                member=member, group=group, defaults={"by_id": by, "is_current": False}
            )
            if row.is_current == is_current:
                if is_new:
                    row.delete()
                return False
            row.is_current, row.by_id, row.changed_at = is_current, by, timezone.now()
            row.save()
            User.objects.filter(pk=member.pk).update(ban_changed_at=row.changed_at.timestamp())
        return True

    def of(self, group: str) -> "list[GroupModerator]":
        """Return the moderators of a group, the longest serving first. One query."""
        rows = self.filter(group=group, is_current=True, member__left_at=None)
        return list(rows.select_related("member", "by").order_by("changed_at", "pk"))

    def names_by_group(self) -> dict[str, list[str]]:
        """Return the names of the moderators of each group, the longest serving first. One query."""
        rows = self.filter(is_current=True, member__left_at=None, member__is_active=True)
        found: dict[str, list[str]] = {}
        for slug, name in rows.order_by("changed_at", "pk").values_list("group", "member__username"):
            found.setdefault(slug, []).append(name)
        return found

    def to_tell(self, member: User) -> "list[GroupModerator]":
        """Return what changed since the member read the inbox, the newest first. One query, for most none."""
        if not member.has_news:
            return []
        read_until = datetime.fromtimestamp(member.inbox_read_until, UTC)
        return list(self.filter(member=member, changed_at__gt=read_until).select_related("by").order_by("-pk"))


class GroupModerator(Row):
    """A member who moderates a group, or did."""

    member = models.ForeignKey(User, models.CASCADE, related_name="group_moderations")
    group = models.CharField(max_length=SLUG_LIMIT, db_column="slug")
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(default=timezone.now, help_text="When it began or ended.")
    is_current = models.BooleanField(default=True)

    objects = GroupModerators()

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["member", "group"], name="group_moderator_once"),)

    by_name = name_of("by")


def follow_merged_groups(targets: Mapping[str, str]) -> int:
    """Move moderators and bans of merged groups to their targets, by slug; return how many. Idempotent."""
    changed = 0
    for slug, target in targets.items():
        with transaction.atomic():
            bans, rows = Ban.objects.filter(group=slug), GroupModerator.objects.filter(group=slug)
            members = {*bans.values_list("member", flat=True), *rows.values_list("member", flat=True)}
            changed += bans.update(group=target)
            for row in rows.select_related("member"):
                if row.is_current:
                    GroupModerator.objects.set(row.member, target, by=row.by_id, is_current=True)
                row.delete()
                changed += 1
            forget(*members)
    return changed


def named_groups() -> set[str]:
    """Return the slugs of the groups that have moderators or bans. Two queries."""
    bans = Ban.objects.exclude(group="").values_list("group", flat=True)
    return {*GroupModerator.objects.values_list("group", flat=True), *bans}
