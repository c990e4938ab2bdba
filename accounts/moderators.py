"""Create the group of moderators once; later changes by the operator are kept.

A new permission is added here for new sites, and granted to existing groups once, by a migration.
"""

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.db import transaction

GROUP = "Moderators"
PERMISSIONS = ("assign_groups", "edit_any_article", "remove_articles", "tune_ranking", "see_views", "ban_members")


def make_moderators_group(*, using: str, apps: Apps = installed_apps, **_: Any) -> None:
    """Create the group with all its permissions, or do nothing. Receiver of `post_migrate`.

    The signal is sent once per app, and an app's permissions are created only with its own signal. Calls before
    all permissions exist, or without the tables for them, do nothing.
    """
    try:
        group_model = apps.get_model("auth", "Group")
        permission_model = apps.get_model("auth", "Permission")
    except LookupError:
        return
    groups = group_model._default_manager.using(using)
    if groups.filter(name=GROUP).exists():
        return
    permissions = permission_model._default_manager.using(using).filter(
        content_type__app_label="articles", codename__in=PERMISSIONS
    )
    if len(permissions) == len(PERMISSIONS):
        with transaction.atomic(using=using):
            groups.create(name=GROUP).permissions.set(permissions)
