"""The second step of a login: turned on and off, and never left without a factor or a way back."""

from contextlib import suppress

from django.conf import settings
from django.db import transaction

from accounts.mail import Kind, language_of, tell
from accounts.models import Authenticator, User
from accounts.sign_in import codes
from accounts.sign_in.ways import LastWayError, removing_a_way
from accounts.web.backend import needs_second_factor


class FactorNeededError(Exception):
    """The site demands a second factor of the member, who would have none left."""


def warn(member: User) -> None:
    """Mail the member that someone has taken the first step and enters wrong codes."""
    with language_of(member):
        tell(member, Kind.WRONG_CODES, {"passwords": settings.PASSWORDS})


def has_app(member: User) -> bool:
    return Authenticator.objects.filter(pk=member.pk).exists()


def turn_on(member: User) -> list[str]:
    """Ask for a second step from now on. Return new recovery codes; none if it was on already."""
    with transaction.atomic():
        if not User.objects.select_for_update().get(pk=member.pk).second_factor:
            member.second_factor = True
            member.save(update_fields=["second_factor"])
            return codes.new_recovery_codes(member)
    return []


def turn_off(member: User) -> bool:
    """Ask for no second step any more; return whether it was on. Passkeys stay. Raises FactorNeededError."""
    if needs_second_factor(member):
        raise FactorNeededError
    was_on = member.second_factor
    reset(member)
    return was_on


def reset(member: User) -> None:
    """Remove the app and the codes. If the site demands a factor, the next login sets one up. Idempotent."""
    with transaction.atomic():
        Authenticator.objects.filter(pk=member.pk).delete()
        member.recovery_codes.all().delete()
        User.objects.filter(pk=member.pk).update(second_factor=False)
    member.second_factor = False


def reset_lost(member: User) -> None:
    """Remove every factor of a member who has lost the device, also passkeys, unless these are the only way in."""
    reset(member)
    with suppress(LastWayError), removing_a_way(member):
        member.passkeys.all().delete()


def remove_app(member: User) -> bool:
    """Remove the authenticator app; return whether there was one. Raises FactorNeededError."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        removed = bool(Authenticator.objects.filter(pk=member.pk).delete()[0])
        _settle(member)
    return removed


def remove_passkey(member: User, passkey_id: int) -> bool:
    """Remove a passkey; return whether there was one. Raises LastWayError and FactorNeededError."""
    with removing_a_way(member):
        removed = bool(member.passkeys.filter(pk=passkey_id).delete()[0])
        _settle(member)
    return removed


def _settle(member: User) -> None:
    """Turn the second step off if no factor is left."""
    if member.second_factor and not has_app(member) and not member.passkeys.exists():
        turn_off(member)
