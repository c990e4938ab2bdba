"""Sending mails, each at most once: a mail is claimed before it is sent.

A claim is a moment in the member's row of the accounts database, up to which mail is sent. If the process dies
after it, the mail is lost; none is sent twice. Nothing is claimed while the mail server cannot be reached.
"""

import logging
import smtplib
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from django.core.mail import EmailMultiAlternatives, get_connection
from django.db.models import F, QuerySet

from accounts.models import User

MAILS_PER_RUN = 50
"""Mails of one kind that one run sends."""

_log = logging.getLogger(__name__)


class Mail(NamedTuple):
    """A mail to a member that may be due. `claim` returns whether this process is to send it."""

    member: int
    message: EmailMultiAlternatives
    claim: Callable[[], bool]


def recipients() -> QuerySet[User]:
    """Return the members whose address is verified."""
    members = User.objects.filter(is_active=True, left_at=None, verified_email=F("email"))
    return members.exclude(email="")


def send_each(mails: Iterator[Mail], deadline: float) -> int:
    """Claim and send mails until the deadline, at most `MAILS_PER_RUN`; return how many were sent.

    Raises OSError, and smtplib.SMTPException, if the mail server cannot be reached: then nothing is claimed.
    """
    first, sent = next(mails, None), 0
    if first is None:
        return 0
    with get_connection() as server:
        for one in _with(first, islice(mails, MAILS_PER_RUN - 1)):
            if one.claim():
                one.message.connection = server
                try:
                    one.message.send()
                    sent += 1
                except smtplib.SMTPServerDisconnected:
                    _log.warning("a mail to member %d may be lost: the mail server hung up", one.member)
                    break
                except (OSError, smtplib.SMTPException) as failure:
                    _log.warning("a mail to member %d was not sent: %s", one.member, type(failure).__name__)
            if time.monotonic() >= deadline:
                break
    return sent


def _with(first: Mail, others: Iterator[Mail]) -> Iterator[Mail]:
    yield first
    yield from others
