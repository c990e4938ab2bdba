"""Mail backends that accept or fail, and mail that tasks send."""

from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from tasks import MAIL, work_off


def wait_until_sent() -> None:
    """Let tasks send the mail that waits."""
    work_off(MAIL)


class Accepting(BaseEmailBackend):
    """A backend that accepts everything, as a mail server does."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        return len(email_messages)


class Broken(BaseEmailBackend):
    """A backend that refuses every connection."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        raise ConnectionRefusedError
