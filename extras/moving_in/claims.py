"""Claims of accounts that an import made: whoever shows that one is theirs gets it, once."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from extras.moving_in.models import MovedAccount


def take(member: User) -> MovedAccount | None:
    """Let an account be claimed from now on; return its row as it was. None if it does not wait for its owner.

    Of two who claim at once, one gets it. Call it in the transaction of what else the claim changes.
    """
    moved = MovedAccount.objects.filter(user=member, claimed_at=None).select_related("source").first()
    waits = MovedAccount.objects.filter(user=member, claimed_at=None)
    return moved if moved and waits.update(claimed_at=timezone.now(), address="") else None


def note_login(user: User, **_signal: Any) -> None:
    """Let the login of a member claim the account, by the old password or any other way that it has.

    The address from the source becomes theirs, and is yet to be verified. No query for members who signed up.
    """
    if user.imported:
        with transaction.atomic():
            if (moved := take(user)) and moved.address and not user.email:
                User.objects.filter(pk=user.pk).update(email=User.objects.normalize_email(moved.address))


def note_rehash(instance: User, update_fields: Collection[str] | None, **_signal: Any) -> None:
    """Let an old password that was right claim the account where no session begins, as in an app's login."""
    if update_fields and {*update_fields} == {"password"}:
        note_login(instance)
