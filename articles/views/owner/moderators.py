"""Moderators: administrators make members moderators, by name, and choose what each may do."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _, gettext_lazy

from accounts.models import User
from accounts.moderators import GROUP, PERMISSIONS
from accounts.web.form_pages import private_form, show_form
from articles.domain.moderation_log import Action, Actor
from articles.models import ArticlePermissions
from articles.views.owner.administrator import administrators_only
from articles.web.forms.fields import Checkboxes
from articles.web.identity import NamedMemberForm, actor, member_named
from articles.web.wiring import repository

_CODES = [name.partition(".")[2] for name in PERMISSIONS]


def _choices() -> list[tuple[str, Any]]:
    labels = dict(ArticlePermissions._meta.permissions)
    return [(code, labels[code]) for code in _CODES]


class PermissionsForm(forms.Form):
    permissions = forms.MultipleChoiceField(
        required=False, label=gettext_lazy("Permissions"), choices=_choices, widget=Checkboxes
    )


class ModeratorForm(PermissionsForm, NamedMemberForm):
    """A new moderator, by name."""

    def clean_name(self) -> str:
        name = super().clean_name()
        if self.member.is_superuser:
            raise ValidationError(_("Administrators may do everything already."), code="administrator")
        return name

    def clean_permissions(self) -> list[str]:
        chosen: list[str] = self.cleaned_data["permissions"]
        if not chosen:
            raise ValidationError(_("Choose at least one permission."), code="none")
        return chosen


def permissions_of(member: User) -> list[str]:
    """Return the codes of the moderators' permissions that the member has, by a group or directly."""
    held = member.get_all_permissions()
    return [code for code, name in zip(_CODES, PERMISSIONS, strict=True) if name in held]


def permit(member: User, codes: Collection[str], administrator: Actor) -> bool:
    """Give a member exactly these of the moderators' permissions; return whether that changes anything.

    A member with all that the group of moderators has joins it, and so gets what is added to it later. Other
    permissions stay, except those of a group that grants some of these: the member leaves it. Raises StoreError;
    then nothing is changed.
    """
    with transaction.atomic():
        before = permissions_of(member)
        granted, revoked = [c for c in codes if c not in before], [c for c in before if c not in codes]
        if not granted and not revoked:
            return False
        moderators = Group.objects.filter(name=GROUP).first()
        usual = set(moderators.permissions.values_list("codename", flat=True)) if moderators else set()
        ours = Permission.objects.filter(content_type__app_label="articles", codename__in=_CODES)
        member.groups.remove(*Group.objects.filter(permissions__in=ours).distinct())
        member.user_permissions.remove(*ours)
        if moderators and set(codes) == usual:
            member.groups.add(moderators)
        else:
            member.user_permissions.add(*ours.filter(codename__in=codes))
        details = {"granted": ",".join(granted), "revoked": ",".join(revoked)}
        told = {name: text for name, text in details.items() if text}
        repository().moderation_log.note(Action.CHANGE_PERMISSIONS, administrator, member.username, "", told)
    return True


@private_form(administrators_only)
def index(request: HttpRequest) -> HttpResponse:
    """Show administrators and moderators; make a member a moderator."""
    form = ModeratorForm(request.POST or None, initial={"permissions": _CODES})
    if request.method == "POST" and form.is_valid():
        permit(form.member, form.cleaned_data["permissions"], actor(request))
        messages.success(request, _("%(name)s is a moderator now.") % {"name": form.member.username})
        return redirect("articles:owner_moderators")
    is_able = Q(is_superuser=True) | Q(groups__isnull=False) | Q(user_permissions__isnull=False)
    able = User.objects.filter(is_able, is_active=True, left_at=None).distinct().order_by("canonical_name")
    labels = dict(_choices())
    permitted = [(one, permissions_of(one)) for one in able if not one.is_superuser]
    moderators = [(one, None if codes == _CODES else [labels[code] for code in codes]) for one, codes in permitted]
    administrators = [one for one in able if one.is_superuser]
    context = {"administrators": administrators, "moderators": [pair for pair in moderators if pair[1] != []]}
    return show_form(request, "owner/moderators.html", form, **context)


@private_form(administrators_only)
def edit(request: HttpRequest, name: str) -> HttpResponse:
    """Choose what a member may do as a moderator; with nothing, the member is none. Raises Http404."""
    member = member_named(name)
    if member.is_superuser:
        raise Http404("an administrator")
    form = PermissionsForm(request.POST or None, initial={"permissions": permissions_of(member)})
    if request.method == "POST" and form.is_valid():
        codes = [] if "remove" in request.POST else form.cleaned_data["permissions"]
        if not permit(member, codes, actor(request)):
            messages.success(request, _("Nothing has changed."))
        elif codes:
            messages.success(request, _("The permissions of %(name)s have changed.") % {"name": member.username})
        else:
            messages.success(request, _("%(name)s is no longer a moderator.") % {"name": member.username})
        return redirect("articles:owner_moderators")
    return show_form(request, "owner/moderator.html", form, member=member)
