"""Members in the administration."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UsernameField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import User


class AddMemberForm(AdminUserCreationForm):  # type: ignore[type-arg]
    """The operator may use any valid name, reserved ones too."""

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": UsernameField}


@admin.register(User)
class MemberAdmin(UserAdmin):  # type: ignore[type-arg]
    """The name is fixed once the account is there."""

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
