"""Claims of accounts that an import made: the owner proves that an account is theirs, and gets it once.

The proof is the old password, see `hashers`, or a link. The site mails it to the address from the source, a
moderator passes it on, or a newcomer gets it whose provider vouches for that address.
"""

import logging
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, override
from django_tasks import task

from accounts import account_deletion, names
from accounts.mail import TooManyMails, letter, mail_due, mail_origin, send_now
from accounts.models import User
from articles.domain.errors import ArticleMerged, ArticleRemoved
from articles.domain.moderation_log import Actor
from articles.web.wiring import repository
from extras.moving_in.models import Arrival, Kind, MovedAccount, Source
from tasks import MAIL, OUT, TaskQueueFull, add

DAYS = 3  # for which a link works
MAIL_OF_LINKS = "moving_in/mail.html"
_MOST_ACCOUNTS = 10  # in one mail, as in that of a new password
_SALT = "moving_in.claim"

_log = logging.getLogger(__name__)


def waiting() -> QuerySet[MovedAccount]:
    """Return the accounts that wait for their owners."""
    return MovedAccount.objects.filter(claimed_at=None, user__is_active=True).select_related("user", "source")


def sources() -> list[str]:
    """Return where accounts that wait come from: hosts, or else names. One query."""
    own = MovedAccount.objects.filter(source=OuterRef("pk"), claimed_at=None)
    return [one.place for one in Source.objects.filter(Exists(own)).order_by("pk")]


def take(member: User) -> MovedAccount | None:
    """Let an account be claimed from now on; return its row as it was. None if it does not wait for its owner.

    Of two who claim at once, one gets it. Call it in the transaction of what else the claim changes.
    """
    moved = MovedAccount.objects.filter(user=member, claimed_at=None).first()
    waits = MovedAccount.objects.filter(user=member, claimed_at=None)
    return moved if moved and waits.update(claimed_at=timezone.now(), address="") else None


# By the old password


def note_login(user: User, **_signal: Any) -> None:
    """Let the login of a member claim the account, by the old password or any other way that it has.

    The address from the source becomes theirs, and is yet to be verified. No query for members who signed up.
    """
    if user.imported:
        with transaction.atomic():
            if (moved := take(user)) and moved.address and not user.email:
                User.objects.filter(pk=user.pk).update(email=User.objects.normalize_email(moved.address))


def note_rehash(instance: User, update_fields: Collection[str] | None, **_signal: Any) -> None:
    """Let an old password that was right claim the account where no session begins, as in an app's login."""
    if update_fields and {*update_fields} == {"password"}:
        note_login(instance)


# Leaving


@task(queue_name=OUT)
def leave_with_posts(number: int) -> None:
    """Delete the comments of an account, withdraw its articles, and delete it. Idempotent.

    Raises StoreError, DatabaseError.
    """
    if (member := User.objects.filter(pk=number, left_at=None).first()) is None:
        return
    comments, articles = repository().comments, repository().articles
    while mine := comments.get_page_by(number)[0]:
        for one in mine:
            comments.delete(one.id, number)
    for article, _at in repository().members.iterate_posted(number):
        with suppress(ArticleRemoved, ArticleMerged):
            articles.withdraw(article, Actor(number, member.username), is_late=True)
    account_deletion.begin(number)


# By a link


def path_of(moved: MovedAccount, address: str) -> str:
    """Return the path of a link that claims an account, which will have this address; "" for none."""
    return reverse("articles:claim_by_link", args=[signing.dumps([moved.pk, address], salt=_SALT)])


def read(token: str) -> tuple[int, str]:
    """Return the account that a link is of, and the address that it proves; 0 if it is not valid, or too old."""
    try:
        number, address = signing.loads(token, salt=_SALT, max_age=DAYS * 86400)
    except signing.BadSignature:
        return 0, ""
    return number, address


def send_links(request: HttpRequest, typed: str, account: int = 0) -> None:
    """Let a task mail links to accounts with this address or name; it does the looking up, too.

    `account`: the one whose link goes to this address instead.
    """
    try:
        add(send_claim_links, typed, *mail_origin(request).split("://"), get_language(), account)
    except TaskQueueFull:
        _log.error("links to claim accounts were not sent: too many mails wait")


@task(queue_name=MAIL)
def send_claim_links(typed: str, protocol: str, domain: str, language: str, account: int = 0) -> None:
    """Mail links to those addresses, from the source, of accounts with this one or this name, here or there.

    `account`: see `send_links`. Raises as `accounts.mail.send_now`.
    """
    if account:
        send(list(waiting().filter(pk=account)), typed, f"{protocol}://{domain}", language)
        return
    arrived = Arrival.objects.filter(kind=Kind.MEMBER, old_id=typed).values_list("new_id", flat=True)
    named = Q(user__canonical_name=names.canonical(typed)) | Q(pk__in=[int(number) for number in arrived])
    found, by_address = waiting().exclude(address=""), defaultdict[str, list[MovedAccount]](list)
    for moved in found.filter(named | Q(address__iexact=typed)).order_by("pk")[:_MOST_ACCOUNTS]:
        by_address[moved.address].append(moved)
    for address, accounts in by_address.items():
        send(accounts, address, f"{protocol}://{domain}", language)


def send(accounts: Collection[MovedAccount], address: str, origin: str, language: str) -> None:
    """Mail the links of accounts, if any, never stored as those to a new password. Raises as `send_now`."""
    if not accounts:
        return
    context = {
        "name": min(one.user.username for one in accounts) if len(accounts) == 1 else "",
        "accounts": [(one.user.username, one.source.place, origin + path_of(one, address)) for one in accounts],
        "days": DAYS,
    }
    try:
        mail_due.send(sender=MAIL_OF_LINKS, to=address, what="")
    except TooManyMails:
        _log.warning("a mail (%s) was not sent: the address has got too many", MAIL_OF_LINKS)
        return
    with override(language):
        send_now(letter(MAIL_OF_LINKS, address, context).message())
