"""Members in the administration."""

import re
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UsernameField
from django.contrib.auth.models import Group
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db import DataError, transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts import account_deletion
from accounts.models import PermissionGroup, User

_ROW = re.compile(r"\A[0-9]{1,18}\Z", re.ASCII)


class AddMemberForm(AdminUserCreationForm):  # type: ignore[type-arg]
    """The operator may use any valid name, reserved ones too."""

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": UsernameField}

    def clean_username(self) -> str:
        """Refuse the names of deleted accounts too, which the unique field does not know."""
        username: str = self.cleaned_data["username"]
        if User.objects.is_taken(username):
            raise ValidationError(_("This name is taken."), code="taken")
        return username


class StrictMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Answers odd values in addresses and forms as Django answers most of them, and not with 500."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Not regular expressions: one that is none is an error of the database."""
        is_expression = lookup.rpartition("__")[2] in ("regex", "iregex")
        return not is_expression and super().lookup_allowed(lookup, value, request)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        try:
            return super().get_changelist_instance(request)
        except (ValueError, OverflowError, DataError) as error:
            raise IncorrectLookupParameters from error

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if not all(map(_ROW.match, request.POST.getlist(ACTION_CHECKBOX_NAME))):
            raise BadRequest("a row that is none was chosen")
        return super().changelist_view(request, extra_context)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except OverflowError as error:
            raise BadRequest("a number is too large for the database") from error


admin.site.unregister(Group)


@admin.register(PermissionGroup)
class PermissionGroupAdmin(StrictMixin, GroupAdmin):
    """Django's groups with their permissions, under a name that does not mean groups of articles."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("auth.view_group") or request.user.has_perm("auth.change_group")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("auth.add_group")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("auth.change_group")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("auth.delete_group")


@admin.register(User)
class MemberAdmin(StrictMixin, UserAdmin):  # type: ignore[type-arg]
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

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        labels = {"groups": {"label": _("Permission groups")}}
        return super().formfield_for_manytomany(db_field, request, **labels.get(db_field.name, {}), **kwargs)

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
                account_deletion.begin(member.pk)
            except account_deletion.LastAdministratorError as error:
                raise PermissionDenied from error
        transaction.on_commit(account_deletion.advance_briefly)


def _is_needed(member: User, leaving: list[User]) -> bool:
    """Whether no administrator would be left when these leave."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk__in=[one.pk for one in leaving])
    return member.is_superuser and member.is_active and not others.exists()
