"""The group of moderators, made once; what the operator changes about it afterwards stays.

A permission that comes later is added here, for new sites, and given once to groups that are there by a migration.
"""

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.db import transaction

GROUP = "Moderators"
PERMISSIONS = ("assign_groups", "edit_any_article", "remove_articles", "tune_ranking", "see_views")


def make_moderators_group(*, using: str, apps: Apps = installed_apps, **_: Any) -> None:
    """Receiver of `post_migrate`: the group with all its permissions, or nothing.

    The signal comes once for each app, and the permissions of an app are made only when its turn comes. So
    this waits until all of them are there, and does nothing in a database without the tables for them.
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
