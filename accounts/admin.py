"""Members in the administration."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UsernameField
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts import departures
from accounts.models import User


class AddMemberForm(AdminUserCreationForm):  # type: ignore[type-arg]
    """The operator may use any valid name, reserved ones too."""

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": UsernameField}


@admin.register(User)
class MemberAdmin(UserAdmin):  # type: ignore[type-arg]
    """The name is fixed once the account is there. Deleting is what members do themselves in their settings."""

    add_form = AddMemberForm
    fieldsets = (
        (None, {"fields": ("username", "password", "email")}),
        (
            _("Permissions"),
            {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")},
        ),
        (_("History"), {"fields": ("imported", "date_joined", "last_login", "left_at")}),
    )
    add_fieldsets = (
        (
            None,
            {
                "classes": ("wide",),
                "fields": ("username", "email", "usable_password", "password1", "password2"),
            },
        ),
    )
    list_display = ("username", "email", "date_joined", "imported", "is_active", "is_staff")
    list_filter = ("is_active", "is_staff", "is_superuser", "imported", "groups")
    search_fields = ("username", "email")
    ordering = ("username",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:  # noqa: ARG002
        """Who joined when and how is a fact; so is the name from its creation on."""
        facts = ("imported", "date_joined", "last_login", "left_at")
        return facts if obj is None else ("username", *facts)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Not of an account that is deleted: its row keeps number and name from being used again."""
        return (obj is None or obj.left_at is None) and super().has_delete_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:  # noqa: ARG002
        """What the page that asks says: nothing goes with the account but what is the member's own."""
        members = [member for member in objs if member.left_at is None]
        told = _("%(name)s: articles and votes stay, under “[deleted]”; nobody can ever take the name again.")
        only = _("%(name)s is an administrator, and there would be none left. Make another member one first.")
        refused = [only % {"name": member} for member in members if _is_needed(member, members)]
        what = str(self.opts.verbose_name_plural)
        return [told % {"name": member} for member in members], {what: len(members)}, set(), refused

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        self.delete_queryset(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: Iterable[User]) -> None:  # noqa: ARG002
        for member in queryset:
            try:
                departures.begin(member.pk)
            except departures.LastAdministratorError as error:
                raise PermissionDenied from error
        transaction.on_commit(departures.go_on_for_a_moment)


def _is_needed(member: User, leaving: list[User]) -> bool:
    """Whether no administrator would be left when these leave."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk__in=[one.pk for one in leaving])
    return member.is_superuser and member.is_active and not others.exists()
