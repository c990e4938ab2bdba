"""Mail to moderators about what began to wait for their decision: flags, requests to withdraw, held posts,
appeals, sign-ups, legal notices. Also sends statements of reasons, and receipts and decisions of legal notices.

Each moderator chooses how often. `articles.mailing` says how each mail is sent at most once.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from math import floor
from typing import NamedTuple, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext, pgettext
from django_tasks import task

from accounts.mail import Kind, draw_later, language_of, letter_to, send_drawn
from accounts.models import (
    WAITING_MAIL,
    AboutFlag,
    Ban,
    GroupModerator,
    HeldPost,
    LegalNotice,
    Statement,
    User,
    WaitingAccount,
)
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from articles.domain.flags import FlagReason, QueueEntry
from articles.mailing import Mail, recipients, send_each
from articles.repository import Repository
from articles.web import rights
from articles.web.wiring import patient_repository
from moderation import legal_notices, statements
from moderation.flags import REASONS
from tasks import MAIL

M = TypeVar("M", bound=Model)

SETTLE_SECONDS = 5  # age at which something is mailed: until then, another process may not have saved it yet
ROWS_PER_MAIL = 25

_MOST_FOUND = 200  # flagged articles and comments, appeals, and sign-ups that a run reads of each


class Row(NamedTuple):
    """What waits, and the path of the page on which it is decided."""

    text: str
    address: str


class Waiting:
    """What began to wait after a moment and up to another one. Reads each kind once, if needed."""

    def __init__(self, repository: Repository, since: float, until: float) -> None:
        """`since` and `until`: in whole Unix seconds."""
        self._repository, self._since, self._until = repository, since, until

    @cached_property
    def _flagged(self) -> list[QueueEntry]:
        return self._repository.flags.list_flagged(self._since, self._until, _MOST_FOUND)

    @cached_property
    def _profiles(self) -> list[AboutFlag]:
        """The first open flag on each profile text."""
        flags = AboutFlag.objects.list_waiting(_MOST_FOUND)
        return list({flag.member_id: flag for flag in reversed(flags)}.values())

    @cached_property
    def _appeals(self) -> list[Ban | Statement]:
        found = Ban.objects.with_open_appeals(), Statement.objects.with_open_appeals()
        return [*self._of_period(found[0], "appealed_at"), *self._of_period(found[1], "appealed_at")]

    @cached_property
    def _sign_ups(self) -> list[WaitingAccount]:
        return self._of_period(WaitingAccount.objects.select_related("user"), "since")

    @cached_property
    def _notices(self) -> list[LegalNotice]:
        return self._of_period(LegalNotice.objects.waiting(), "made_at")

    @cached_property
    def _authors(self) -> dict[int, int]:
        """Who posted what the legal notices are about."""
        return rights.authors_about(self._notices)

    @cached_property
    def _held(self) -> list[HeldPost]:
        return self._of_period(HeldPost.objects.waiting(), "held_at")

    def _of_period(self, rows: QuerySet[M], moment: str) -> list[M]:
        """Return the first rows whose moment, in whole seconds, is after `since` and up to `until`."""
        begin, end = (datetime.fromtimestamp(one + 1, UTC) for one in (self._since, self._until))
        return list(rows.filter(**{f"{moment}__gte": begin, f"{moment}__lt": end})[:_MOST_FOUND])

    def rows_for(self, moderator: User, since: float) -> list[Row]:
        """Return what waits since then that the moderator decides; not what the moderator alone flagged."""
        mine, removes = moderator.pk or 0, rights.may(moderator, REMOVE_ARTICLES)
        found = list[tuple[float, Row]]()
        if removes:  # first: they can be urgent
            found += [
                (one.made_at.timestamp(), _notice_row(one))
                for one in self._notices
                if mine not in (one.member_id, self._authors.get(rights.subject_of(one)))
            ]
        found += [
            (one.appealed_at.timestamp() if one.appealed_at else 0, _appeal_row(one))
            for one in self._appeals
            if rights.may_answer(moderator, one) and not rights.why_not(rights.check_answer, one, mine)
        ]
        if removes:
            found += [(one.since.timestamp(), _sign_up_row(one)) for one in self._sign_ups]
            found += [(one.held_at.timestamp(), _held_row(one)) for one in self._held if one.author_id != mine]
            flags = [one for one in self._profiles if mine not in (one.member_id, one.flagger_id)]
            found += [(one.at, _profile_row(one)) for one in flags]
        found += [
            (one.first_at, _flag_row(one))
            for one in self._flagged
            if rights.decides(moderator, REMOVE_ARTICLES, one.article)
            and one.author != mine
            and {flag.member for flag in one.flags} != {mine}
        ]
        return [row for at, row in found if since < floor(at) <= self._until]


def _notice_row(notice: LegalNotice) -> Row:
    text = gettext("A report from outside: %(reason)s") % {"reason": notice.reason_label}
    return Row(text, f"{reverse('articles:queue')}#notice-{notice.pk}")


def _appeal_row(one: Ban | Statement) -> Row:
    name = one.member.get_username() if one.member else ""
    if isinstance(one, Ban):
        text, place = gettext("%(name)s appeals against a ban.") % {"name": name}, f"appeal-{one.pk}"
    else:
        text = gettext("%(name)s appeals against a decision: %(act)s")
        text, place = text % {"name": name, "act": statements.title_of(one)}, f"appeal-statement-{one.pk}"
    return Row(text, f"{reverse('articles:queue')}#{place}")


def _sign_up_row(account: WaitingAccount) -> Row:
    text = gettext("%(name)s signed up and waits for approval.") % {"name": account.user.get_username()}
    return Row(text, reverse("articles:sign_ups"))


def _held_row(held: HeldPost) -> Row:
    on_article = gettext("A comment on “%(title)s” waits for approval.")
    text = on_article if held.article else gettext("“%(title)s” waits for approval.")
    return Row(text % {"title": held.title}, f"{reverse('articles:queue')}#held-{held.pk}")


def _profile_row(flag: AboutFlag) -> Row:
    name, reason = flag.member.get_username(), str(REASONS[FlagReason(flag.reason)])
    text = gettext("The profile of %(name)s is flagged: %(reason)s") % {"name": name, "reason": reason}
    return Row(text, reverse("articles:member_about", args=[name]))


def _flag_row(entry: QueueEntry) -> Row:
    if set(entry.reasons) == {FlagReason.WITHDRAWAL}:
        text = gettext("The poster of “%(title)s” asks to withdraw it.")
    elif entry.comment:
        text = gettext("A comment on “%(title)s” is flagged: %(reasons)s")
    else:
        text = gettext("“%(title)s” is flagged: %(reasons)s")
    reasons = pgettext("between the words of a list", ", ").join(str(REASONS[one]) for one in entry.reasons)
    address = f"{reverse('articles:queue')}#flagged-{entry.subject}"
    return Row(text % {"title": entry.article.title, "reasons": reasons}, address)


def send_waiting(repository: Repository, budget: float) -> int:
    """Mail moderators and what the law demands for about `budget` seconds; return how many. Raises StoreError."""
    mails = chain(statements.mails(), legal_notices.mails(), _mails(repository))
    return send_each(mails, time.monotonic() + budget)


def _mails(repository: Repository) -> Iterator[Mail]:
    until = floor(repository.store.now() - SETTLE_SECONDS)
    due = list(_due(until))
    waiting = Waiting(repository, min((one.waiting_mailed_until for one in due), default=until), until)
    for moderator in due:
        since = moderator.waiting_mailed_until
        if waiting.rows_for(moderator, since):
            send = partial(draw_later, deliver_waiting, moderator, Kind.WAITING, since, until)
            yield Mail(partial(_claim, moderator, until), send)


@task(queue_name=MAIL)
def deliver_waiting(member_id: int, message_id: str, since: float, until: float) -> None:
    """Mail a moderator what began to wait in this time and still does. Raises NotYet, StoreError."""
    moderator = recipients().filter(moderators(), pk=member_id).exclude(waiting_mail="").first()
    if moderator is None:
        return
    with language_of(moderator):
        rows = Waiting(patient_repository(), since, until).rows_for(moderator, since)
        if rows:
            context = {"count": len(rows), "rows": rows[:ROWS_PER_MAIL]}
            send_drawn(letter_to(moderator, Kind.WAITING, context), message_id)


def _due(until: float) -> QuerySet[User]:
    """Return the moderators who want mail, and whose last one is old enough. One query."""
    is_due = Q(pk__in=())
    for often, seconds in WAITING_MAIL.items():
        is_due |= Q(waiting_mail=often, waiting_mailed_until__lte=until - seconds)
    return recipients().filter(moderators(), is_due).order_by("pk")


def moderators() -> Q:
    """Return the condition on members that they may decide what waits."""
    of_groups = Q(pk__in=GroupModerator.objects.filter(is_current=True).values("member"))
    return rights.have_any(REMOVE_ARTICLES, BAN_MEMBERS) | of_groups


def _claim(moderator: User, until: float) -> bool:
    """Claim what waits; return whether no other process did, and the moderator still wants mail."""
    same = User.objects.filter(
        pk=moderator.pk,
        waiting_mail=moderator.waiting_mail,
        waiting_mailed_until=moderator.waiting_mailed_until,
        verified_email=F("email"),
    )
    return same.update(waiting_mailed_until=until) == 1
