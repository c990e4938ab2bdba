"""Changes of how a member signs in. Each is mailed, so that members notice what they did not do."""

from enum import Enum

from django.conf import settings
from django.utils.translation import gettext_noop as noop
from django.utils.translation import gettext as _

from accounts.mail import Kind, tell
from accounts.models import User
from owner.choices import chosen


class Change(Enum):
    """What has changed, as the mail says it."""

    PASSWORD = noop("The password of your account on %(site)s has been changed")
    ADDRESS = noop("The email address of your account on %(site)s has been changed or removed")
    PASSKEY_ADDED = noop("A passkey has been added to your account on %(site)s")
    PASSKEY_REMOVED = noop("A passkey has been removed from your account on %(site)s")
    APP_ADDED = noop("An authenticator app has been set up for your account on %(site)s")
    APP_REMOVED = noop("The authenticator app has been removed from your account on %(site)s")
    TURNED_ON = noop("The second step of your account on %(site)s has been turned on")
    TURNED_OFF = noop("The second step of your account on %(site)s has been turned off")
    NEW_CODES = noop("New recovery codes have been created for your account on %(site)s")
    RESET = noop("The second step of your account on %(site)s has been reset")
    IDENTITY_ADDED = noop("You can now log in to %(site)s with %(name)s")
    IDENTITY_REMOVED = noop("You can no longer log in to %(site)s with %(name)s")
    TOKEN_ADDED = noop("The token “%(name)s” can now use your account on %(site)s")
    PROGRAM_ALLOWED = noop("The app “%(name)s” can now use your account on %(site)s")
    DELETED = noop("Your account on %(site)s has been deleted")


_DETAILS = {
    Change.ADDRESS: noop("Password reset links no longer go to this address."),
    Change.APP_ADDED: noop("Logging in takes its code from now on."),
    Change.NEW_CODES: noop("The former ones are not valid any more."),
    Change.RESET: noop(
        "A moderator or the operator did it. Your app, your passkeys and your recovery codes do not work any more, "
        "and you are logged out everywhere."
    ),
}


def tell_change(member: User, change: Change, name: str = "") -> None:
    """Mail a member what has changed. `name`: of the provider or the program."""
    context = {
        "change": change.name,
        "sentence": _(change.value) % {"site": chosen.SITE_NAME, "name": name},
        "detail": _(_DETAILS[change]) if change in _DETAILS else "",
        "passwords": settings.PASSWORDS,
    }
    tell(member, Kind.SIGN_IN_CHANGED, context)
