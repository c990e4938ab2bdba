"""`manage.py createsuperuser`: Django's command, with the store, which gives the account its id."""

import os
from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from accounts.models import User
from articles.management.base import StoreCommand

_NO_TERMINAL = (
    "There is no terminal to ask for a name and a password: set DJANGO_SUPERUSER_USERNAME, DJANGO_SUPERUSER_EMAIL "
    "and DJANGO_SUPERUSER_PASSWORD, and run `manage.py createsuperuser --noinput`."
)
_NO_PASSWORD = "Set DJANGO_SUPERUSER_PASSWORD: without a password, the administrator could not log in."  # noqa: S105 - a sentence
_TAKEN = "Another account has this email address."


class Command(StoreCommand, createsuperuser.Command):
    """Create an administrator, whether or not the site is running.

    Unlike Django's, it fails where there is no terminal, checks a password from the environment, and accepts no
    address that another account has: that account's member would get the administrator's links.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        if options["interactive"] and not (self.stdin and self.stdin.isatty()):
            raise CommandError(_NO_TERMINAL)
        given = {} if options["interactive"] else os.environ
        address = options["email"] or given.get("DJANGO_SUPERUSER_EMAIL", "")
        if _is_taken(address):
            raise CommandError(_TAKEN)
        if not options["interactive"]:
            name = options["username"] or os.environ.get("DJANGO_SUPERUSER_USERNAME", "")
            _check_password(os.environ.get("DJANGO_SUPERUSER_PASSWORD", ""), User(username=name, email=address))
        super().handle(*args, **options)

    def get_input_data(self, field: Any, message: str, default: str | None = None) -> Any:
        """Ask for the value of a field; return None, after saying why, if it has to be asked for again."""
        value = super().get_input_data(field, message, default)
        if field.name == User.EMAIL_FIELD and _is_taken(value or ""):
            self.stderr.write(f"Error: {_TAKEN}")
            return None
        return value


def _is_taken(address: str) -> bool:
    return address != "" and User.objects.filter(email__iexact=address.strip()).exists()


def _check_password(password: str, user: User) -> None:
    if not password.strip():
        raise CommandError(_NO_PASSWORD)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error
