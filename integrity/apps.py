"""The integrity app."""

from collections.abc import Callable

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class IntegrityConfig(AppConfig):
    """Ballot records of closed articles, and their chain."""

    name = "integrity"
    verbose_name = _("integrity")

    def ready(self) -> None:
        from accounts import account_deletion  # noqa: PLC0415 - models are ready only now
        from articles.backup import accounts  # noqa: PLC0415
        from integrity import former  # noqa: PLC0415

        accounts.loaded.connect(former.remake, dispatch_uid="integrity.former")
        account_deletion.register_step("ballots", _destroy_key)


def _destroy_key(user: int, _name: str, _progress: str, _more: Callable[[], bool], _is_last: bool) -> str:
    """Destroy the key of a deleted account: its commitments mean nothing from then on."""
    from integrity.models import BallotKey  # noqa: PLC0415

    BallotKey.objects.filter(member=user).delete()
    return ""
