"""Mail about the notices of an inbox and about bans, and the weekly mail with articles of followed groups."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from django.db.models import F

from accounts.models import Ban, User
from articles.domain.discussion.notices import NoticeKind, NoticePointer
from articles.mailing.message import digest_to, notices_to
from articles.mailing.sending import MAILS_PER_RUN, Mail, recipients, send_each
from articles.repository import Repository
from articles.web.identity import named
from articles.web.preferences import slugs_from

SETTLE_SECONDS = 300
"""Age at which a notice is mailed: until then, the comment may be edited, deleted, or read on the site."""

NOTICES_PER_MAIL = 25
"""Newest notices that one mail lists."""

_MEMBERS_PER_READ = 200


class _Due(NamedTuple):
    """A member with notices that are old enough to be mailed, newest first, or with news of bans."""

    member: User
    pointers: Sequence[NoticePointer]
    bans: Sequence[Ban]

    @property
    def last_at(self) -> float:
        """Time of the newest of these, in Unix seconds."""
        return max([one.at for one in self.pointers[:1]] + [ban.changed_at for ban in self.bans], default=0)

    @property
    def wanted(self) -> list[NoticePointer]:
        kinds = self.member.mail_kinds.split(",")
        return [one for one in self.pointers if one.kind.value in kinds and one.at > self.member.inbox_read_until]


def send_due(repository: Repository, budget: float) -> int:
    """Send mail about notices, for about `budget` seconds; return the number of mails. Raises StoreError.

    Raises errors as `send_each`.
    """
    deadline = time.monotonic() + budget
    return send_each(_mails(repository, deadline), deadline)


def _mails(repository: Repository, deadline: float) -> Iterator[Mail]:
    for due in _due(repository, deadline):
        notices = named(repository.inbox.read(due.wanted[:NOTICES_PER_MAIL]))
        if notices or due.bans:
            count = len(due.wanted) + len(due.bans)
            yield Mail(due.member.pk, notices_to(due.member, notices, count, due.bans), partial(_claim, due))


class _Round:
    """How far this process has come with the members: a run continues where the previous one ended."""

    last = 0


def _due(repository: Repository, deadline: float) -> Iterator[_Due]:
    """Yield members with notices to mail, until the last member or the deadline. One round trip for each batch."""
    until = repository.store.now() - SETTLE_SECONDS
    members = recipients().exclude(mail_kinds="").order_by("pk")
    while batch := list(members.filter(pk__gt=_Round.last)[:_MEMBERS_PER_READ]):
        found = repository.inbox.list_between([(one.pk, one.mailed_until) for one in batch], until)
        for member, pointers in zip(batch, found, strict=True):
            _Round.last = member.pk
            due = _Due(member, pointers, _bans_to_mail(member, until))
            if due.wanted or due.bans:
                yield due
        if time.monotonic() >= deadline:
            return
    _Round.last = 0


def _bans_to_mail(member: User, until: float) -> list[Ban]:
    """Return the bans of which the member wants news that are old enough. One query, for most members none."""
    is_wanted, known = NoticeKind.MODERATION.value in member.mail_kinds.split(","), member.inbox_read_until
    known = max(known, member.mailed_until)
    bans = Ban.objects.to_show(member) if is_wanted and known < member.ban_changed_at else []
    return [ban for ban in bans if known < ban.changed_at <= until]


def _claim(due: _Due) -> bool:
    """Claim these notices; return whether no other process did, and the member still wants mail."""
    member = due.member
    same = User.objects.filter(
        pk=member.pk, mailed_until=member.mailed_until, mail_kinds=member.mail_kinds, verified_email=F("email")
    )
    return same.update(mailed_until=due.last_at) == 1


WEEK = 7 * 86400
"""Seconds between two digests of a member, and age up to which they contain articles."""

ARTICLES_PER_DIGEST = 10

_ARTICLES_LOOKED_AT = 100
"""Number of first articles of the followed groups among which the best of the week are chosen."""


def send_digests(repository: Repository, budget: float) -> int:
    """Send digests that are due, for about `budget` seconds; return their number. Raises StoreError.

    Raises errors as `send_each`.
    """
    return send_each(_digests(repository, repository.store.now()), time.monotonic() + budget)


def _digests(repository: Repository, now: float) -> Iterator[Mail]:
    """Yield digests, the longest waiting first. Two round trips for each."""
    wanted = recipients().filter(digest=True, digested_at__lte=now - WEEK).order_by("digested_at", "pk")
    for member in list(wanted[:MAILS_PER_RUN]):
        followed, hidden = slugs_from(member.followed_groups), slugs_from(member.hidden_groups)
        page = repository.following.get_page(followed, size=_ARTICLES_LOOKED_AT, hidden=hidden)
        recent = [article for article in page.articles if article.posted_at > now - WEEK]
        claim = partial(_claim_digest, member, now)
        if recent:
            yield Mail(member.pk, digest_to(member, recent[:ARTICLES_PER_DIGEST]), claim)
        else:
            claim()


def _claim_digest(member: User, now: float) -> bool:
    """Claim this week's digest; return whether no other process did, and the member still wants it."""
    same = User.objects.filter(
        pk=member.pk, digested_at=member.digested_at, digest=True, verified_email=F("email")
    )
    return same.update(digested_at=now) == 1
