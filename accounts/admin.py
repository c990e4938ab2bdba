"""Members and permission groups in Django's admin site."""

import re
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UsernameField
from django.contrib.auth.models import Group
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db import DataError, transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts import account_deletion
from accounts.models import LOOKS_TAKEN, NAME_RULE, PermissionGroup, User
from accounts.sign_in.changes import Change, tell_change

_ROW_ID = re.compile(r"\A[0-9]{1,18}\Z", re.ASCII)


class AddMemberForm(AdminUserCreationForm):  # type: ignore[type-arg]
    """Add a member. Unlike the sign-up form, accepts reserved names."""

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": UsernameField}
        help_texts = {"username": NAME_RULE}

    def clean_username(self) -> str:
        """Raise ValidationError for a taken name, including names of deleted accounts, kept only as digests."""
        username: str = self.cleaned_data["username"]
        if User.objects.is_taken(username):
            raise ValidationError(_("This name is taken."), code="taken")
        if User.objects.is_look_taken(username):
            raise ValidationError(LOOKS_TAKEN, code="look")
        return username


class ChangePasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg]
    """Set a member's password, or disable it. A new one is mailed by `accounts.sign_in.changes`."""

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        if not user.has_usable_password():
            tell_change(user, Change.PASSWORD)
        return user


class StrictMixin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Answer malformed values in URLs and forms with 400 or a redirect where Django would answer 500."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Reject regular expressions: an invalid one is a database error."""
        is_expression = lookup.rpartition("__")[2] in ("regex", "iregex")
        return not is_expression and super().lookup_allowed(lookup, value, request)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        try:
            return super().get_changelist_instance(request)
        except (ValueError, OverflowError, DataError) as error:
            raise IncorrectLookupParameters from error

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if not all(map(_ROW_ID.match, request.POST.getlist(ACTION_CHECKBOX_NAME))):
            raise BadRequest("a selected row id is not a number")
        return super().changelist_view(request, extra_context)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except OverflowError as error:
            raise BadRequest("a number exceeds the range of the database") from error


admin.site.unregister(Group)


def _permitted(*actions: str) -> Any:
    """Return a check of Django's permissions for groups, any of these: the proxy has none of its own."""
    return lambda _admin, request, _obj=None: any(request.user.has_perm(f"auth.{one}_group") for one in actions)


@admin.register(PermissionGroup)
class PermissionGroupAdmin(StrictMixin, GroupAdmin):
    """Django's groups, renamed so that they are not confused with groups of articles."""

    has_view_permission = _permitted("view", "change")
    has_add_permission = _permitted("add")
    has_change_permission = _permitted("change")
    has_delete_permission = _permitted("delete")


@admin.register(User)
class MemberAdmin(StrictMixin, UserAdmin):  # type: ignore[type-arg]
    """Members. A name cannot be changed, and deleting runs the same steps as a member's own deletion."""

    add_form = AddMemberForm
    change_password_form = ChangePasswordForm
    fieldsets = (
        (None, {"fields": ("username", "password", "email")}),
        (_("Permissions"), {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        (_("History"), {"fields": ("imported", "date_joined", "last_login", "left_at")}),
    )
    add_fieldsets = (
        (
            None,
            {"classes": ("wide",), "fields": ("username", "email", "usable_password", "password1", "password2")},
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
        """Return the fields that record history and, for an existing member, the name."""
        history = ("imported", "date_joined", "last_login", "left_at")
        return history if obj is None else ("username", *history)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Reject a deleted account: its row reserves the id and the name."""
        return (obj is None or obj.left_at is None) and super().has_delete_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:  # noqa: ARG002
        """Return the contents of the confirmation page, which lists accounts only: articles and votes stay."""
        members = [member for member in objs if member.left_at is None]
        notice = _("%(name)s: articles and votes stay, shown under “[deleted]”. The name can never be used again.")
        last_administrator = _(
            "Deleting %(name)s would leave no administrator. Make another member an administrator first."
        )
        protected = [last_administrator % {"name": member} for member in members if _is_needed(member, members)]
        counts = {str(self.opts.verbose_name_plural): len(members)}
        return [notice % {"name": member} for member in members], counts, set(), protected

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "email" in form.changed_data:
            tell_change(obj, Change.ADDRESS)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        self.delete_queryset(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: Iterable[User]) -> None:  # noqa: ARG002
        for member in queryset:
            try:
                account_deletion.begin(member.pk)
            except account_deletion.LastAdministratorError as error:
                raise PermissionDenied from error
        transaction.on_commit(account_deletion.advance_briefly)


def _is_needed(member: User, selected: list[User]) -> bool:
    """Return whether the member is an administrator and no other would be left without the selected ones."""
    selected_ids = [user.pk for user in selected]
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk__in=selected_ids)
    return member.is_superuser and member.is_active and not others.exists()
