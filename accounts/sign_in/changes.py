"""Changes of how a member signs in. Each is mailed, so that members notice what they did not do."""

from enum import Enum
from typing import Any

from django.conf import settings
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils.translation import gettext as _, gettext_noop

from accounts.mail import Kind, language_of, tell
from accounts.models import User
from articles.configuration.choices import chosen


class Change(Enum):
    """What has changed, as the mail says it. Extras have others."""

    PASSWORD = gettext_noop("The password of your account on %(site)s has been changed")
    NAME = gettext_noop("Your name on %(site)s is now %(name)s")
    ADDRESS = gettext_noop("The email address of your account on %(site)s has been changed or removed")
    PASSKEY_ADDED = gettext_noop("A passkey has been added to your account on %(site)s")
    PASSKEY_REMOVED = gettext_noop("A passkey has been removed from your account on %(site)s")
    APP_ADDED = gettext_noop("An authenticator app has been set up for your account on %(site)s")
    APP_REMOVED = gettext_noop("The authenticator app has been removed from your account on %(site)s")
    TURNED_ON = gettext_noop("The second step of your account on %(site)s has been turned on")
    TURNED_OFF = gettext_noop("The second step of your account on %(site)s has been turned off")
    NEW_CODES = gettext_noop("New recovery codes have been created for your account on %(site)s")
    RESET = gettext_noop("The second step of your account on %(site)s has been reset")
    TOKEN_ADDED = gettext_noop("The token “%(name)s” can now use your account on %(site)s")
    DELETED = gettext_noop("Your account on %(site)s has been deleted")


_DETAILS: dict[Enum, str] = {
    Change.NAME: gettext_noop("Log in with it from now on."),
    Change.ADDRESS: gettext_noop("Password reset links no longer go to this address."),
    Change.APP_ADDED: gettext_noop("Logging in takes its code from now on."),
    Change.NEW_CODES: gettext_noop("The former ones no longer work."),
    Change.RESET: gettext_noop(
        "A moderator or the operator did it. Your app, your passkeys and your recovery codes no longer work, and "
        "you are logged out everywhere."
    ),
}


def tell_change(member: User, change: Enum, name: str = "") -> None:
    """Mail a member what has changed, in their language. `name`: a new one, or that of what has changed."""
    with language_of(member):
        context = {
            "change": change.name,
            "sentence": _(change.value) % {"site": chosen.SITE_NAME, "name": name},
            "detail": _(_DETAILS[change]) if change in _DETAILS else "",
            "passwords": settings.PASSWORDS,
        }
        tell(member, Kind.SIGN_IN_CHANGED, context)


@receiver(post_save, sender=User)
def tell_new_password(instance: User, *, created: bool, **_signal: Any) -> None:
    """Mail a member whose password was set, by a page, an administrator or a command."""
    if not created and vars(instance).get("_password") is not None:  # not the same one hashed again
        tell_change(instance, Change.PASSWORD)
