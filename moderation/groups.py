"""Moderators of a group, whom moderators of the whole site assign, and bans from a group, which both decide."""

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from pydantic import BaseModel, Field

from accounts.models import Ban as BanRow, BanScope, GroupModerator, User
from accounts.moderators import ASSIGN_GROUPS, BAN_MEMBERS
from accounts.web.form_pages import page_named, private_act, private_form, show_form
from articles.api import schemas
from articles.api.groups import GroupName
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import MODERATORS, router
from articles.domain.lists import Group
from articles.domain.moderation_log import Action, Actor
from articles.text.lines import clean_reason
from articles.text.slugs import requested_slug
from articles.web.forms.fields import reason_field
from articles.web.groups import forget_liveliness
from articles.web.identity import NamedMemberForm, actor, member_named, needs
from articles.web.rights import acting, check_not_own, may, may_reverse
from articles.web.wiring import repository
from moderation import bans
from moderation.bans import ban_lengths
from moderation.statements import FIELDS, GroundsForm
from moderation.subjects import reason_in


def assign(group: Group, member: User, moderator: Actor, reason: str, *, moderates: bool) -> bool:
    """Make a member a moderator, or end that; return whether it is new. Raises OwnMatter, StoreError."""
    check_not_own(member.pk, moderator.id)
    with transaction.atomic():
        is_changed = GroupModerator.objects.set(member, group.slug, by=moderator.id, is_current=moderates)
        if is_changed:
            details = {"slug": group.slug} | ({"to": "moderator"} if moderates else {})
            repository().moderation_log.note(
                Action.CHANGE_PERMISSIONS, moderator, member.get_username(), reason, details
            )
    if is_changed:
        forget_liveliness()
    return is_changed


class MemberForm(NamedMemberForm):
    """A member, by name, and why."""

    reason = reason_field()


class GroupBanForm(GroundsForm, MemberForm):
    """Whom to ban from a group, for how long, and why."""

    days = forms.TypedChoiceField(
        coerce=int, choices=ban_lengths, initial=7, label=pgettext_lazy("ban", "Duration")
    )
    field_order = ("name", "days", "reason")


def _group(slug: str) -> Group:
    """Return the group with this name, in any spelling. Raises GroupNotFound."""
    return repository().groups.get(requested_slug(slug))


@private_form(needs(ASSIGN_GROUPS, in_groups=True, carries=["name", "reason"]))
def moderators(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the moderators of a group; assign one, as a moderator of the whole site."""
    acting(request, ASSIGN_GROUPS, [slug])
    group, form = _group(slug), MemberForm(request.POST or None)
    if request.method == "POST":
        moderator = acting(request, ASSIGN_GROUPS)
        if form.is_valid():
            assign(group, form.member, moderator, form.cleaned_data["reason"], moderates=True)
            messages.success(request, _("%(name)s is a moderator now.") % {"name": form.member.get_username()})
            return redirect("articles:group_moderators", group.slug)
    context = {"moderators": GroupModerator.objects.of(group.slug), "may_assign": may(request.user, ASSIGN_GROUPS)}
    return show_form(request, "groups/moderators.html", form, group=group, own=actor(request).id, **context)


_moderators_page = page_named("articles:group_moderators", "slug")
_bans_page = page_named("articles:group_bans", "slug")


@private_act(needs(ASSIGN_GROUPS), page=_moderators_page, button=gettext_lazy("Remove as moderator"))
def end_by_form(request: HttpRequest, slug: str) -> HttpResponse:
    """End what makes a member a moderator of the group. A form that arrives twice succeeds."""
    group, form = _group(slug), MemberForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a reason."))
    else:
        assign(group, form.member, actor(request), form.cleaned_data["reason"], moderates=False)
        told = _("%(name)s is no longer a moderator.")
        messages.success(request, told % {"name": form.member.get_username()})
    return redirect("articles:group_moderators", group.slug)


@private_form(needs(BAN_MEMBERS, in_groups=True, carries=["name", "days", "reason", *FIELDS]))
def group_bans(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the current bans from a group; ban a member from it."""
    moderator = acting(request, BAN_MEMBERS, [slug])
    group, form = _group(slug), GroupBanForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        days, reason = form.cleaned_data["days"], form.cleaned_data["reason"]
        what = (form.member, BanScope.GROUP, reason)
        bans.ban(*what, days=days, moderator=moderator, group=group.slug, grounds=form.grounds)
        messages.success(request, _("%(name)s is banned.") % {"name": form.member.get_username()})
        return redirect("articles:group_bans", group.slug)
    found = _current_bans(group)
    liftable = {one.pk for one in found if one.member_id != moderator.id and may_reverse(one, moderator)}
    context = {"group": group, "own": moderator.id, "bans": found, "liftable": liftable}
    return show_form(request, "groups/bans.html", form, **context)


MOST_BANS = 200  # current bans from a group that are shown, the newest


def _current_bans(group: Group) -> list[BanRow]:
    bans = BanRow.objects.current().filter(group=group.slug)
    return list(bans.select_related("member", "moderator")[:MOST_BANS])


@private_act(needs(BAN_MEMBERS, in_groups=True), page=_bans_page, button=gettext_lazy("Lift the ban"))
def lift_by_form(request: HttpRequest, slug: str, ban_id: int) -> HttpResponse:
    """Lift a ban from the group. A form that arrives twice succeeds."""
    moderator = acting(request, BAN_MEMBERS, [slug])
    found = get_object_or_404(BanRow.objects.select_related("member", "moderator"), pk=ban_id, group=slug)
    if reason := reason_in(request):
        bans.lift_ban(found, reason, moderator)
        messages.success(request, _("The ban has been lifted."))
    return redirect("articles:group_bans", slug)


class ModeratorChange(BaseModel):
    """Whether a member moderates a group, and why."""

    moderates: bool = Field(description="False ends it.", examples=[True])
    reason: schemas.PublicReason = Field(examples=["Knows the field."])


class GroupModerators(BaseModel):
    """The moderators of a group."""

    group: str = Field(description="The group's name.")
    moderators: list[str] = Field(description="Their names, the longest serving first.")


class GroupBan(bans.Ban):
    """A current ban from a group."""

    name: str = Field(description="The member's name.")


class GroupBans(BaseModel):
    """The current bans from a group, newest first, at most 200."""

    group: str = Field(description="The group's name.")
    bans: list[GroupBan]

    @classmethod
    def of_group(cls, group: Group) -> "GroupBans":
        rows = [
            GroupBan(name=one.member.get_username(), **bans.Ban.of(one).model_dump())
            for one in _current_bans(group)
        ]
        return cls(group=group.slug, bans=rows)


@router.put("groups/{slug}/moderators/{name}", auth=MODERATORS)
def assign_moderator(
    request: HttpRequest, slug: GroupName, name: MemberName, change: ModeratorChange
) -> GroupModerators:
    """Make a member a moderator of a group, or end that.

    Only for moderators of the whole site who can manage groups. Idempotent.
    """
    moderator, group = acting(request, ASSIGN_GROUPS), _group(slug)
    member, reason = member_named(name), clean_reason(change.reason)
    assign(group, member, moderator, reason, moderates=change.moderates)
    rows = GroupModerator.objects.of(group.slug)
    return GroupModerators(group=group.slug, moderators=[row.member.get_username() for row in rows])


@router.get("groups/{slug}/bans", auth=MODERATORS)
def list_group_bans(request: HttpRequest, slug: GroupName) -> GroupBans:
    """The current bans from a group. Only for moderators of the group, and members who can ban."""
    acting(request, BAN_MEMBERS, [requested_slug(slug)])
    return GroupBans.of_group(_group(slug))


@router.put("groups/{slug}/bans/{name}", auth=MODERATORS)
def change_group_ban(request: HttpRequest, slug: GroupName, name: MemberName, change: bans.BanChange) -> GroupBans:
    """Ban a member from a group, or lift the ban.

    Only for moderators of the group, and members who can ban. The member can neither post articles into the group
    nor comment on articles that are in it. A ban replaces the current one from the group. Repeated within a
    minute, it changes nothing.
    """
    moderator, group = acting(request, BAN_MEMBERS, [requested_slug(slug)]), _group(slug)
    member, reason = member_named(name), clean_reason(change.reason)
    current = member.bans.current().filter(group=group.slug).select_related("member", "moderator").first()
    if change.banned:
        what, grounds = (member, BanScope.GROUP, reason), change.grounds
        bans.ban(*what, days=change.days, moderator=moderator, group=group.slug, grounds=grounds)
    elif current:
        bans.lift_ban(current, reason, moderator)
    return GroupBans.of_group(group)
