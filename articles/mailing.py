"""Mail to members that housekeeping sends: about the notices of an inbox and about bans, and weekly digests.
`moderation.mail` sends what waits for moderators the same way.

Each is claimed once: a claim is a moment in the member's row of the accounts database, up to which mail is sent.
The claim and the background task that sends the mail are one transaction, so none is lost. Mails are plain text
and HTML, in the member's language.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager
from functools import partial
from html import unescape
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import F, QuerySet
from django.template import engines
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html, strip_tags
from django.utils.translation import gettext
from markupsafe import Markup

from accounts.mail import DIGEST, NOTICES, reply_address, send_later, site_origin, unsubscribe_token
from accounts.models import BAN_SCOPES, Ban, Statement, User
from articles.domain.articles import Article
from articles.domain.moderation_log import REVERSING, STATED
from articles.domain.notices import EXCERPT_CHARACTERS, Notice, NoticeKind, NoticePointer
from articles.repository import Repository
from articles.text.mails import MARKER
from articles.text.markdown import plain
from articles.web import preferences
from articles.web.identity import named
from articles.web.preferences import hiding_of, slugs_from
from owner.choices import chosen

MAILS_PER_RUN = 50
"""Mails of one kind that one run sends."""


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
    """Claim mails and let tasks send them, until the deadline, at most `MAILS_PER_RUN`; return how many.

    Raises TaskQueueFull, DatabaseError: then what is left is not claimed.
    """
    sent = 0
    for one in islice(mails, MAILS_PER_RUN):
        with transaction.atomic():
            if one.claim():
                send_later(one.message, one.member)
                sent += 1
        if time.monotonic() >= deadline:
            break
    return sent


_BUTTONS = 'class="foot"'
_OWN_LINK = re.compile('(?<=href=")(?=/)')


class _Row(NamedTuple):
    """A notice as the mail shows it."""

    html: Markup
    text: str
    address: str
    reply: str = ""
    """The address for a reply by mail; "" if none is possible."""


def notices_to(
    member: User, notices: Sequence[Notice], count: int, bans: Sequence[Ban] = ()
) -> EmailMultiAlternatives:
    """Return a mail about bans, if any, and notices in the member's language; `count` is their total number.

    A reply to a mail about one comment is a reply to that comment. If there are several, each has its own address.
    """
    with language_of(member):
        rows = [_ban_row(ban, site_origin()) for ban in bans]
        rows += [_notice_row(member, notice, site_origin()) for notice in notices]
        reply = rows[0].reply if count == 1 else ""
        context = {"count": count, "rows": rows, "marker": MARKER if reply else ""}
        message = message_to(member, "inbox/mail", NOTICES, context)
        if reply:
            message.extra_headers["Reply-To"] = reply
        return message


def digest_to(member: User, articles: Sequence[Article]) -> EmailMultiAlternatives:
    """Return a mail with the best articles of the week, in the member's language."""
    with language_of(member):
        rows = [(article, site_origin() + reverse("articles:article", args=[article.id])) for article in articles]
        return message_to(member, "inbox/digest", DIGEST, {"rows": rows})


def language_of(member: User) -> AbstractContextManager[None]:
    """Return a context in which texts are in the member's language."""
    return translation.override(member.language or chosen.language)


def message_to(member: User, template: str, what: str, context: dict[str, Any]) -> EmailMultiAlternatives:
    """Return a mail of this template that can be unsubscribed from with one click (RFC 8058).

    `what`: what the link ends, of `accounts.mail`. Call it in the member's language.
    """
    origin = site_origin()
    stop = origin + reverse("accounts:unsubscribe", args=[unsubscribe_token(member, what)])
    context = {
        "name": member.username,
        "site_name": chosen.SITE_NAME,
        "language": preferences.tag(),
        "inbox": origin + reverse("articles:inbox"),
        "stop": stop,
    } | context
    subject = " ".join(render_to_string(f"{template}_subject.txt", context).split())
    headers = {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    text = render_to_string(f"{template}.txt", context)
    message = EmailMultiAlternatives(subject, text, to=[member.email], headers=headers)
    message.attach_alternative(render_to_string(f"{template}.html", context), "text/html")
    return message


def _macros(template: str) -> Any:
    return engines["jinja2"].env.get_template(template).module  # type: ignore[attr-defined]


def _ban_row(ban: Ban, origin: str) -> _Row:
    macros, path = _macros("bans/facts.html"), reverse("articles:appeal")
    text = gettext("Appeal against a ban") if ban.may_be_appealed else gettext("Decisions about you")
    path = path if ban.may_be_appealed else reverse("articles:statements")
    link = format_html('<p><a href="{}">{}</a></p>', path, text)
    return _drawn_row(f"<li>{macros.facts(ban, BAN_SCOPES)}{macros.texts(ban)}{link}</li>", path, origin)


def _notice_row(member: User, notice: Notice, origin: str) -> _Row:
    reply = reply_address(member.pk, notice.comment_id) if notice.takes_reply and notice.comment_id else ""
    mailto = f"mailto:{quote(reply, safe='@')}?subject={quote(f'Re: {notice.title}')}" if reply else ""
    excerpt = plain(notice.html)[:EXCERPT_CHARACTERS]
    drawn = str(_macros("inbox/notice.html").draw_notice(notice, excerpt, mailto=mailto))
    return _drawn_row(drawn, path_of(notice), origin)._replace(reply=reply)


def sentence_of(notice: Notice) -> str:
    """Return a notice as one line of text, in the active language."""
    return _text_of(_macros("inbox/notice.html").sentence(notice, notice.title))


def path_of(notice: Notice) -> str:
    """Return the path of what a notice is about."""
    if notice.comment_id and notice.is_readable:
        return reverse("articles:comment", args=[notice.comment_id])
    return reverse("articles:article", args=[notice.article])


def _text_of(drawn: str) -> str:
    return " ".join(unescape(strip_tags(drawn)).split())


def _drawn_row(drawn: str, path: str, origin: str) -> _Row:
    lines = [_text_of(one) for one in drawn.split("</p>") if _BUTTONS not in one]
    html = Markup(_OWN_LINK.sub(origin, drawn))  # nosec B704 # noqa: S704 - the template escapes
    return _Row(html, "\n".join(filter(None, lines)), origin + path)


SETTLE_SECONDS = 300
"""Age at which a notice is mailed: until then, the comment may be edited, deleted, or read on the site."""

NOTICES_PER_MAIL = 25
"""Newest notices that one mail lists."""

_MEMBERS_PER_READ = 200


def _stated_act(pointer: NoticePointer) -> tuple[bool, int] | None:
    """Return the act as `Statements.mailed_about` does; None if no statement can be about it."""
    return (pointer.word in REVERSING, pointer.subject) if pointer.word in (*STATED, *REVERSING) else None


class _Due(NamedTuple):
    """A member with notices that are old enough to be mailed, newest first, or with news of bans."""

    member: User
    pointers: Sequence[NoticePointer]
    bans: Sequence[Ban]
    stated: Set[tuple[bool, int]]
    """Acts that statements of reasons tell by their own mail: see `Statements.mailed_about`."""

    @property
    def last_at(self) -> float:
        """Time of the newest of these, in Unix seconds."""
        return max([one.at for one in self.pointers[:1]] + [ban.changed_at for ban in self.bans], default=0)

    @property
    def wanted(self) -> list[NoticePointer]:
        kinds = self.member.mail_kinds.split(",")
        new = [one for one in self.pointers if one.kind.value in kinds and one.at > self.member.inbox_read_until]
        return [one for one in new if _stated_act(one) not in self.stated]


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
            may_be_stated = any(map(_stated_act, pointers))
            stated = Statement.objects.mailed_about(member, member.mailed_until) if may_be_stated else set()
            due = _Due(member, pointers, _bans_to_mail(member, until), stated)
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
    return Statement.objects.left_to_mail([ban for ban in bans if known < ban.changed_at <= until])


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
        followed, hidden = slugs_from(member.followed_groups), hiding_of(member)
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
