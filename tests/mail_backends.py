"""Mail backends that block or fail."""

import threading
from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend


class Patient(BaseEmailBackend):
    """A backend that blocks until the test releases it."""

    may_send = threading.Event()
    sent: list[str] = []

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        self.may_send.wait(60)
        for message in email_messages:
            self.sent.extend(message.to)
        return len(email_messages)


class Broken(BaseEmailBackend):
    """A backend that refuses every connection."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        raise ConnectionRefusedError
