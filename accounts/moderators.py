"""Create the group of moderators once; later changes by the operator are kept.

A new permission is added here for new sites, and granted to existing groups once, by a migration.
"""

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.db import transaction

GROUP = "Moderators"

ASSIGN_GROUPS = "articles.assign_groups"
"""A member with this permission assigns articles to groups, and creates, renames and merges groups."""

EDIT_ANY_ARTICLE = "articles.edit_any_article"

REMOVE_ARTICLES = "articles.remove_articles"
"""A member with this permission removes articles and comments, decides on flags, and approves new accounts."""

TUNE_RANKING = "articles.tune_ranking"
SEE_VIEWS = "articles.see_views"

BAN_MEMBERS = "articles.ban_members"  # a member with this permission bans members, and answers their appeals
REDACT = "articles.redact"  # a member with this permission redacts texts, which nothing reverses

PERMISSIONS = (ASSIGN_GROUPS, EDIT_ANY_ARTICLE, REMOVE_ARTICLES, TUNE_RANKING, SEE_VIEWS, BAN_MEMBERS, REDACT)


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
        content_type__app_label="articles", codename__in=[name.partition(".")[2] for name in PERMISSIONS]
    )
    if len(permissions) == len(PERMISSIONS):
        with transaction.atomic(using=using):
            groups.create(name=GROUP).permissions.set(permissions)
