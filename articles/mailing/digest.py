"""The weekly mail with the best articles of the groups that a member follows."""

import time
from collections.abc import Iterator
from functools import partial

from django.db.models import F

from accounts.models import User
from articles.mailing.message import digest_to
from articles.mailing.sending import MAILS_PER_RUN, Mail, recipients, send_each
from articles.repository import Repository
from articles.web.preferences import slugs_from

WEEK = 7 * 86400
"""Seconds between two digests of a member, and age up to which they contain articles."""

ARTICLES_PER_DIGEST = 10

_ARTICLES_LOOKED_AT = 100
"""Number of first articles of the followed groups among which the best of the week are chosen."""


def send_digests(repository: Repository, budget: float) -> int:
    """Send digests that are due, for about `budget` seconds; return their number. Raises StoreError.

    Raises errors as `send_each`.
    """
    return send_each(_mails(repository, repository.store.now()), time.monotonic() + budget)


def _mails(repository: Repository, now: float) -> Iterator[Mail]:
    """Yield digests, the longest waiting first. Two round trips for each."""
    wanted = recipients().filter(digest=True, digested_at__lte=now - WEEK).order_by("digested_at", "pk")
    for member in list(wanted[:MAILS_PER_RUN]):
        followed, hidden = slugs_from(member.followed_groups), slugs_from(member.hidden_groups)
        page = repository.following.get_page(followed, size=_ARTICLES_LOOKED_AT, hidden=hidden)
        recent = [article for article in page.articles if article.posted_at > now - WEEK]
        claim = partial(_claim, member, now)
        if recent:
            yield Mail(member.pk, digest_to(member, recent[:ARTICLES_PER_DIGEST]), claim)
        else:
            claim()


def _claim(member: User, now: float) -> bool:
    """Claim this week's digest; return whether no other process did, and the member still wants it."""
    same = User.objects.filter(
        pk=member.pk, digested_at=member.digested_at, digest=True, verified_email=F("email")
    )
    return same.update(digested_at=now) == 1
