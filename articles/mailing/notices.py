"""Find members with notices to mail, and send each at most once: a mail is claimed before it is sent.

A claim is the moment up to which a member's notices are mailed. If the process dies after it, the mail is lost;
none is sent twice. Nothing is claimed while the mail server cannot be reached.
"""

import logging
import smtplib
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from django.core.mail import get_connection
from django.db.models import F, QuerySet

from accounts.models import User
from articles.domain.discussion.notices import NoticePointer
from articles.mailing.message import message_to
from articles.repository import Repository

SETTLE_SECONDS = 300
"""Age from which on a notice is mailed: until then, a comment may be edited or deleted, or read on the site."""

MAILS_PER_RUN = 50
"""Mails that one run sends."""

NOTICES_PER_MAIL = 25
"""Newest notices that one mail lists."""

_MEMBERS_PER_READ = 200

_log = logging.getLogger(__name__)


class _Due(NamedTuple):
    """A member with notices that are old enough to be mailed, newest first."""

    member: User
    pointers: Sequence[NoticePointer]

    @property
    def wanted(self) -> list[NoticePointer]:
        kinds = self.member.mail_kinds.split(",")
        return [one for one in self.pointers if one.kind.value in kinds and one.at > self.member.inbox_read_until]


def send_due(repository: Repository, budget: float) -> int:
    """Send mail about notices, for about `budget` seconds; return the number of mails. Raises StoreError.

    Raises OSError, and smtplib.SMTPException, if the mail server cannot be reached: then nothing is claimed.
    """
    deadline, sent = time.monotonic() + budget, 0
    due = _due(repository, deadline)
    first = next(due, None)
    if first is None:
        return 0
    with get_connection() as server:
        for one in (first, *islice(due, MAILS_PER_RUN - 1)):
            notices = repository.inbox.read(one.wanted[:NOTICES_PER_MAIL])
            message = message_to(one.member, notices, len(one.wanted)) if notices else None
            if _claim(one) and message:
                message.connection = server
                try:
                    message.send()
                    sent += 1
                except smtplib.SMTPServerDisconnected:
                    _log.warning("a mail to member %d may be lost: the mail server hung up", one.member.pk)
                    break
                except (OSError, smtplib.SMTPException) as failure:
                    _log.warning("a mail to member %d was not sent: %s", one.member.pk, type(failure).__name__)
            if time.monotonic() >= deadline:
                break
    return sent


def _recipients() -> QuerySet[User]:
    """Return the members who want mail and have verified their address."""
    members = User.objects.filter(is_active=True, left_at=None, verified_email=F("email"))
    return members.exclude(mail_kinds="").exclude(email="").order_by("pk")


class _Round:
    """How far this process has come with the members: a run goes on where the one before ended."""

    last = 0


def _due(repository: Repository, deadline: float) -> Iterator[_Due]:
    """Yield members with notices to mail, until the last member or the deadline. One round trip for each batch."""
    until = repository.store.now() - SETTLE_SECONDS
    while batch := list(_recipients().filter(pk__gt=_Round.last)[:_MEMBERS_PER_READ]):
        found = repository.inbox.list_between([(one.pk, one.mailed_until) for one in batch], until)
        for member, pointers in zip(batch, found, strict=True):
            _Round.last = member.pk
            due = _Due(member, pointers)
            if due.wanted:
                yield due
        if time.monotonic() >= deadline:
            return
    _Round.last = 0


def _claim(due: _Due) -> bool:
    """Note that these notices are mailed; return whether no other process did, and the member still wants mail."""
    member = due.member
    same = User.objects.filter(
        pk=member.pk, mailed_until=member.mailed_until, mail_kinds=member.mail_kinds, verified_email=F("email")
    )
    return same.update(mailed_until=due.pointers[0].at) == 1
