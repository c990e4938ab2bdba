"""Mail backends that accept or fail, and mail that tasks send."""

from collections.abc import Callable, Sequence
from itertools import count
from types import SimpleNamespace

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from tasks import MAIL, work_off


def clock_of_a_site(working: Callable[[], object] = lambda: work_off(MAIL)) -> SimpleNamespace:
    """Stand for `time` where a test mail is waited for: the site works while the one who waits sleeps."""
    return SimpleNamespace(monotonic=count(step=1).__next__, sleep=lambda _seconds: working())


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
