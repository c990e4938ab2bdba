"""The accounts app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    """Members with their passwords and tokens, and the group of moderators."""

    name = "accounts"
    verbose_name = _("accounts")

    def ready(self) -> None:
        from accounts import account_deletion  # noqa: F401, PLC0415 - connects its receivers
        from accounts.moderators import make_moderators_group  # noqa: PLC0415 - models are ready only now

        post_migrate.connect(make_moderators_group, dispatch_uid="accounts.make_moderators_group")
