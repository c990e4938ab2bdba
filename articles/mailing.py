"""Mail to members that housekeeping sends: about the notices of an inbox and about bans, and weekly digests.
`moderation.mail` sends what waits for moderators the same way.

Each is claimed once: a claim is a moment in the member's row of the accounts database, up to which mail is sent.
The claim and the background task that sends the mail are one transaction, so none is lost.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django_tasks import task
from markupsafe import Markup

from accounts.letters import notice_macros, text_of
from accounts.mail import Kind, Letter, TooManyMails, draw_later, language_of, letter_to, send_drawn
from accounts.models import BAN_SCOPES, Ban, Statement, User
from articles.domain.articles import Article
from articles.domain.moderation_log import REVERSING, STATED
from articles.domain.notices import EXCERPT_CHARACTERS, Notice, NoticeKind, NoticePointer
from articles.repository import Repository
from articles.text.markdown import plain
from articles.web import extras
from articles.web.identity import named
from articles.web.preferences import hiding_of, slugs_from
from articles.web.wiring import patient_repository
from tasks import MAIL

MAILS_PER_RUN = 50  # mails of one kind that one run sends


class Mail(NamedTuple):
    """A mail that may be due. `claim` returns 0 if another process sends it; `send` gives it to a task."""

    claim: Callable[[], int]
    send: Callable[[], None]


def recipients() -> QuerySet[User]:
    """Return the members whose address is verified."""
    members = User.objects.filter(is_active=True, left_at=None, verified_email=F("email"))
    return members.exclude(email="")


def send_each(mails: Iterator[Mail], deadline: float) -> int:
    """Claim mails and let tasks send them, until the deadline, at most `MAILS_PER_RUN`; return how many.

    Raises TaskQueueFull, DatabaseError: then what is left is not claimed.
    """
    sent = 0
    for one in mails:
        with suppress(TooManyMails), transaction.atomic():  # not claimed either: a later mail has it
            if one.claim():
                one.send()
                sent += 1
        if sent == MAILS_PER_RUN or time.monotonic() >= deadline:
            break
    return sent


def notices_to(member: User, notices: Sequence[Notice], count: int, bans: Sequence[Ban] = ()) -> Letter:
    """Return a mail about bans, if any, and notices in the member's language; `count` is their total number.

    A mail about one notice can be answered as that notice can; if there are several, each has a link to answer it.
    """
    with language_of(member):
        answers = [extras.answer(member, one) for one in notices]
        rows: list[str] = [_ban_row(ban) for ban in bans]
        rows += [_notice_row(notice, answer) for notice, answer in zip(notices, answers, strict=True)]
        context = {"count": count, "rows": rows, "subject": _line_of(rows[0])}
        if count > 1 or not answers or not (only := answers[0]):
            return letter_to(member, Kind.NOTICES, context)
        mail = letter_to(member, Kind.NOTICES, context | {"first_line": only.first_line})
        return mail._replace(headers=mail.headers | {"Reply-To": only.address})


def digest_to(member: User, articles: Sequence[Article]) -> Letter:
    """Return a mail with the best articles of the week, in the member's language."""
    with language_of(member):
        return letter_to(member, Kind.DIGEST, {"articles": articles})


def _ban_row(ban: Ban) -> SafeString:
    macros = notice_macros("bans/facts.html")
    text = gettext("Appeal against a ban") if ban.may_be_appealed else gettext("Decisions about you")
    path = reverse("articles:appeal") if ban.may_be_appealed else reverse("articles:statements")
    link = format_html('<p><a href="{}">{}</a></p>', path, text)
    return format_html("<li>{}{}{}</li>", macros.facts(ban, BAN_SCOPES), macros.texts(ban), link)


def _notice_row(notice: Notice, answer: extras.Answer | None) -> Markup:
    excerpt = Truncator(plain(notice.html)).chars(EXCERPT_CHARACTERS)
    macros = notice_macros("inbox/notice.html")
    link = answer and answer.link
    drawn: Markup = macros.draw_notice(notice, excerpt, answer=link, address=path_of(notice))
    return drawn


_TIME_AT_END = re.compile(r'\s*(<a class="permalink"[^>]*>)?<time[^>]*>[^<]*</time>(?(1)</a>)\s*(?=</p>)')


def _line_of(row: str) -> str:
    """Return what a row says first, without the time at the end of that."""
    return text_of(_TIME_AT_END.sub("", row, count=1)).partition("\n")[0].rstrip(".。")


def sentence_of(notice: Notice) -> str:
    """Return a notice as one line of text, in the active language."""
    return " ".join(text_of(notice_macros("inbox/notice.html").sentence(notice, notice.title)).split())


def path_of(notice: Notice) -> str:
    if notice.comment_id and notice.is_readable:
        return reverse("articles:comment", args=[notice.comment_id])
    return reverse("articles:article", args=[notice.article])


SETTLE_SECONDS = 300
"""Age at which a notice is mailed: until then, the comment may be edited, deleted, or read on the site."""

NOTICES_PER_MAIL = 25  # newest notices that one mail lists
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
        new = [one for one in self.pointers if one.kind in kinds and one.at > self.member.inbox_read_until]
        return [one for one in new if _stated_act(one) not in self.stated]


def send_due(repository: Repository, budget: float) -> int:
    """Mail notices for about `budget` seconds; return how many. Raises StoreError, and as `send_each`."""
    deadline = time.monotonic() + budget
    return send_each(map(_mail_of, _due(repository, deadline)), deadline)


def _mail_of(due: _Due) -> Mail:
    member, at = due.member, due.last_at
    claim = partial(_claim, member, "mailed_until", at, mail_kinds=member.mail_kinds)
    return Mail(claim, partial(draw_later, deliver_notices, member, Kind.NOTICES, member.mailed_until, at))


@task(queue_name=MAIL)
def deliver_notices(member_id: int, message_id: str, since: float, until: float) -> None:
    """Mail a member the notices of this time that can still be read, and the bans. Raises NotYet, StoreError."""
    if member := recipients().filter(pk=member_id).first():
        repository = patient_repository()
        (pointers,) = repository.inbox.list_between([(member_id, since)], until)
        due = _due_of(member, pointers, since, until)
        read, others = due.wanted[:NOTICES_PER_MAIL], due.wanted[NOTICES_PER_MAIL:]
        notices = [one for one in named(repository.inbox.read(read)) if is_still_shown(one)]
        if notices or due.bans:
            count = len(notices) + len(others) + len(due.bans)
            send_drawn(notices_to(member, notices, count, due.bans), message_id)


def is_still_shown(notice: Notice) -> bool:
    """Return whether what a notice is about can still be read; what moderators did always can."""
    return notice.kind in (NoticeKind.MODERATION, NoticeKind.FLAG) or notice.is_readable


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
            due = _due_of(member, pointers, member.mailed_until, until)
            if due.wanted or due.bans:
                yield due
        if time.monotonic() >= deadline:
            return
    _Round.last = 0


def _due_of(member: User, pointers: Sequence[NoticePointer], since: float, until: float) -> _Due:
    may_be_stated = any(map(_stated_act, pointers))
    stated = Statement.objects.mailed_about(member, since) if may_be_stated else set()
    return _Due(member, pointers, _bans_to_mail(member, since, until), stated)


def _bans_to_mail(member: User, since: float, until: float) -> list[Ban]:
    """Return the bans of which the member wants news that are old enough. One query, for most members none."""
    is_wanted, known = NoticeKind.MODERATION.value in member.mail_kinds.split(","), member.inbox_read_until
    known = max(known, since)
    bans = Ban.objects.to_show(member) if is_wanted and known < member.ban_changed_at else []
    return Statement.objects.left_to_mail([ban for ban in bans if known < ban.changed_at <= until])


def _claim(member: User, noted: str, at: float, **wanted: object) -> bool:
    """Note up to when mail is sent; return whether no other process did, and the member still wants this mail."""
    same = User.objects.filter(pk=member.pk, verified_email=F("email"), **wanted)
    return same.filter(**{noted: getattr(member, noted)}).update(**{noted: at}) == 1


WEEK = 7 * 86400  # seconds between two digests of a member, and age up to which they contain articles
ARTICLES_PER_DIGEST = 10
_ARTICLES_LOOKED_AT = 100
"""Number of first articles of the followed groups among which the best of the week are chosen."""


def send_digests(repository: Repository, budget: float) -> int:
    """Send digests for about `budget` seconds; return their number. Raises StoreError, and as `send_each`."""
    return send_each(_digests(repository, repository.store.now()), time.monotonic() + budget)


def _digests(repository: Repository, now: float) -> Iterator[Mail]:
    """Yield digests, the longest waiting first. Two round trips for each."""
    wanted = recipients().filter(digest=True, digested_at__lte=now - WEEK).order_by("digested_at", "pk")
    for member in list(wanted[:MAILS_PER_RUN]):
        claim = partial(_claim, member, "digested_at", now, digest=True)
        if _recent(repository, member, now):
            yield Mail(claim, partial(draw_later, deliver_digest, member, Kind.DIGEST, now))
        else:
            claim()


def _recent(repository: Repository, member: User, now: float) -> list[Article]:
    """Return the best articles of the week before in the groups that a member follows. Two round trips."""
    followed, hidden = slugs_from(member.followed_groups), hiding_of(member)
    page = repository.following.get_page(followed, size=_ARTICLES_LOOKED_AT, hidden=hidden)
    return [article for article in page.articles if article.posted_at > now - WEEK][:ARTICLES_PER_DIGEST]


@task(queue_name=MAIL)
def deliver_digest(member_id: int, message_id: str, now: float) -> None:
    """Mail a member the articles of the week before `now` that can still be read. Raises NotYet, StoreError."""
    member = recipients().filter(pk=member_id, digest=True).first()
    if member and (articles := _recent(patient_repository(), member, now)):
        send_drawn(digest_to(member, articles), message_id)
