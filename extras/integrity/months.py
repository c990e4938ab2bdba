"""The monthly report: what was voted, removed and decided, counted once after the month and never changed.

Numbers from 1 to 4 are published as "<5", and no sums from which they would follow.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, reduce
from operator import or_
from typing import Any, TypeAlias

from django.conf import settings
from django.db.models import Min, Q
from django.utils.translation import gettext_lazy as _, override

from accounts.models import BallotRecord, Ban, LegalNotice, Statement, User
from accounts.models.law import Act, Ground, NoticeReason, Outcome
from articles.domain import extras
from articles.domain.ballots import digest_of
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import SITE, Action, LogEntry
from articles.repository import Repository
from extras.integrity.models import MonthReport
from extras.integrity.texts import month_text
from moderation.flags import REASONS

FEW = 5  # smallest number above 0 that is published

Figure: TypeAlias = int | str
Period: TypeAlias = tuple[datetime, datetime]  # first and last moment

VOTES = {
    "articles_closed": _("Articles on which voting closed, with a ballot record"),
    "votes": _("Votes for them"),
    "opposes": _("Votes against them"),
    "votes_left_out": _("Votes for them, excluded from ranking"),
    "opposes_left_out": _("Votes against them, excluded from ranking"),
}

_BY_ACTION: dict[str, tuple[str, Any]] = {
    Action.REMOVE: ("articles_removed", _("Articles removed by moderators")),
    Action.RESTORE: ("articles_restored", _("Articles restored")),
    Action.WITHDRAW: ("articles_withdrawn", _("Articles withdrawn by their posters")),
    Action.REMOVE_COMMENT: ("comments_removed", _("Comments removed by moderators")),
    Action.RESTORE_COMMENT: ("comments_restored", _("Comments restored")),
    Action.REMOVE_ABOUT: ("profile_texts_removed", _("Profile texts removed")),
    Action.LOCK: ("discussions_locked", _("Discussions locked")),
    Action.REDACT: ("texts_redacted", _("Texts redacted")),
    Action.BAN: ("bans", _("Bans")),
    Action.LIFT_BAN: ("bans_lifted", _("Bans lifted")),
    Action.LEAVE_OUT_VOTES: ("members_left_out", _("Members whose votes were excluded from ranking")),
    Action.COUNT_VOTES: ("members_counted_again", _("Members whose votes were included again")),
    Action.CHECK_VOTES: ("rings_checked", _("Possible voting rings that moderators checked")),
    Action.BLOCK_HOST: ("hosts_blocked", _("Hosts blocked")),
    Action.DECLINE_SIGN_UP: ("sign_ups_declined", _("Sign-ups declined")),
}

_AUTOMATIC: dict[str, tuple[str, Any]] = {
    Action.REMOVE: ("articles_removed_automatically", _("Articles removed by flags")),
    Action.REMOVE_COMMENT: ("comments_removed_automatically", _("Comments removed by flags")),
    Action.LOCK: ("discussions_locked_automatically", _("Discussions locked by automatic rules")),
    Action.GROUPS: ("groups_changed_automatically", _("Articles put into or out of groups by automatic rules")),
    Action.APPLY_SUGGESTION: ("suggestions_applied", _("Suggestions applied")),
}
"""Decisions of the site itself, and of automatic rules."""

_REASONS = {reason: f"removed_{reason.value.replace('-', '_')}" for reason in REASONS}
OTHER_REASONS = "removed_other"

APPEALS = {
    "appeals": _("Appeals against bans"),
    "appeals_upheld": _("Appeals after which the ban was lifted"),
    "appeals_rejected": _("Appeals after which the ban remained"),
    "other_appeals": _("Appeals against other decisions"),
    "other_appeals_upheld": _("Appeals after which the decision was reversed"),
    "other_appeals_rejected": _("Appeals after which the decision remained"),
}
_GROUNDS = {ground: f"statements_{ground.value}" for ground in Ground}
STATEMENTS = {
    "statements_rules": _("Decisions against members that rest on a rule of this site"),
    "statements_law": _("Decisions against members that rest on a law"),
    "statements_after_notice": _("Decisions against members after a notice"),
}
_NOTICES = {reason: f"notices_{reason.value.replace('-', '_')}" for reason in NoticeReason}
_OUTCOMES = {outcome: f"notices_{outcome.value}" for outcome in Outcome}
NOTICES = {name: one.label for one, name in (_NOTICES | _OUTCOMES).items()}
SIGN_UPS = {
    "sign_ups_invited": _("Accounts by invitation"),
    "sign_ups_by_provider": _("Accounts by a sign-in provider"),
    "sign_ups_others": _("Other accounts"),
    "accounts_deleted": _("Accounts deleted by their members"),
}

SECTIONS: Mapping[str, tuple[object, Mapping[str, object]]] = {
    "votes": (_("Votes"), VOTES),
    "moderation": (_("Moderation"), dict(_BY_ACTION.values())),
    "reasons": (
        _("Removals by reason"),
        {name: REASONS[reason] for reason, name in _REASONS.items()} | {OTHER_REASONS: _("Other reasons")},
    ),
    "automatic": (_("Automatic decisions"), dict(_AUTOMATIC.values())),
    "statements": (_("Statements of reasons"), STATEMENTS),
    "appeals": (_("Appeals"), APPEALS),
    "notices": (_("Notices of illegal content"), NOTICES),
    "accounts": (_("Accounts"), SIGN_UPS),
}
"""What a report has, by section: a title, and the figures by name with what they count."""


def complete_months(repository: Repository, today: date, next_day: date) -> int:
    """Make the reports of the months that have ended since the site began; return how many. Idempotent.

    Each joins the first day after its month that has records and is not before `next_day`, the next of the chain,
    or today: so no day comes before it, also if records were made while no months were reported.
    """
    made, month = 0, _first_open_month(repository)
    has_records = settings.BALLOT_DAYS > 0 or BallotRecord.objects.exists()
    while month and (end := following(month)) <= today:
        numbers = count(repository, month, end)
        names = [name for name in numbers if has_records or name not in VOTES]
        text = month_text(f"{month:%Y-%m}", {name: _published(numbers[name]) for name in names})
        after = BallotRecord.objects.filter(day__gte=max(end, next_day)).aggregate(first=Min("day"))["first"]
        facts = {"day": min(after or today, today), "text": text, "digest": digest_of(text)}
        MonthReport.objects.get_or_create(month=month, defaults=facts)
        made, month = made + 1, end
    return made


def _first_open_month(repository: Repository) -> date | None:
    """Return the first month without a report: at first, that of the first account, act of moderators or record.

    Imported accounts are from before the site began. None if there is nothing yet.
    """
    if last := MonthReport.objects.order_by("-month").values_list("month", flat=True).first():
        return following(last)
    joined = User.objects.filter(imported=False).aggregate(first=Min("date_joined"))["first"]
    recorded = BallotRecord.objects.aggregate(first=Min("day"))["first"]
    acted = min((entry.at for entry in repository.moderation_log.iterate()), default=None)
    moments = [joined, acted and datetime.fromtimestamp(acted, UTC)]
    days = [recorded, *(moment and moment.astimezone(UTC).date() for moment in moments)]
    return min((day.replace(day=1) for day in days if day), default=None)


def following(month: date) -> date:
    """Return the first day of the next month."""
    return (month + timedelta(days=31)).replace(day=1)


def months_table() -> str:
    """Return all reports as CSV: a line for each month and figure."""
    lines = ["month,figure,number"]
    for report in MonthReport.objects.order_by("month"):
        found = json.loads(report.text)
        lines += (f"{found['month']},{name},{number}" for name, number in found["figures"].items())
    return "".join(f"{line}\r\n" for line in lines)


def _published(number: int) -> Figure:
    return number if number == 0 or number >= FEW else f"<{FEW}"


def count(repository: Repository, begin: date, end: date) -> Counter[str]:
    """Return all figures of the days from `begin` to before `end`."""
    first, last = (datetime.combine(day, time(), UTC) for day in (begin, end))
    found = Counter[str](dict.fromkeys((name for _title, figures in SECTIONS.values() for name in figures), 0))
    found.update(_count_votes(begin, end))
    begun, ended = first.timestamp(), last.timestamp()
    entries = (one for one in repository.moderation_log.iterate() if begun <= one.at < ended)
    found.update(name for one in entries for name in _names_of(one))
    period = first, last - timedelta.resolution
    found.update(_count_accounts(period))
    found.update(_count_legal(period))
    return found


def _count_votes(begin: date, end: date) -> Counter[str]:
    heads = BallotRecord.objects.filter(version=1, day__gte=begin, day__lt=end).values_list("head", flat=True)
    found = Counter[str]()
    for text in heads.iterator():
        head = json.loads(text)
        found.update({name: head[name] for name in ("votes", "opposes", "votes_left_out", "opposes_left_out")})
        found["articles_closed"] += 1
    return found


def _names_of(entry: LogEntry) -> Iterator[str]:
    """Yield the figures in which an entry of the moderation log counts."""
    kinds = _AUTOMATIC if entry.actor_name.startswith(SITE.name) else _BY_ACTION
    if entry.action in kinds:
        yield kinds[entry.action][0]
    if entry.action in (Action.REMOVE, Action.REMOVE_COMMENT):
        reason = _usual_reasons().get(entry.reason)
        yield _REASONS[reason] if reason else OTHER_REASONS


@cache
def _usual_reasons() -> Mapping[str, FlagReason]:
    """Return the reasons that the queue gives if no other is typed, in every language."""
    found = dict[str, FlagReason]()
    for language, _name in settings.LANGUAGES:
        with override(language):
            found |= {str(text): reason for reason, text in REASONS.items()}
    return found


def _count_legal(period: Period) -> Counter[str]:
    """Return statements and notices by the day they were made, appeals and decisions by the day of each."""
    appeals = Statement.objects.exclude(act=Act.BAN)
    answered = appeals.filter(answered_at__range=period)
    found = Counter[str](
        appeals=Ban.objects.filter(appealed_at__range=period).count(),
        appeals_upheld=Ban.objects.filter(answered_at__range=period, lifted_at__isnull=False).count(),
        appeals_rejected=Ban.objects.filter(answered_at__range=period, lifted_at=None).count(),
        other_appeals=appeals.filter(appealed_at__range=period).count(),
        other_appeals_upheld=answered.filter(upheld=True).count(),
        other_appeals_rejected=answered.filter(upheld=False).count(),
        statements_after_notice=Statement.objects.filter(made_at__range=period, by_notice=True).count(),
    )
    for ground, name in _GROUNDS.items():
        found[name] = Statement.objects.filter(made_at__range=period, ground=ground).count()
    for reason, name in _NOTICES.items():
        found[name] = LegalNotice.objects.filter(made_at__range=period, reason=reason).count()
    for outcome, name in _OUTCOMES.items():
        found[name] = LegalNotice.objects.filter(decided_at__range=period, outcome=outcome).count()
    return found


def _count_accounts(period: Period) -> dict[str, int]:
    joined = User.objects.filter(date_joined__range=period, imported=False)
    invited, of_others = Q(invitation__isnull=False), (Q((f"{one}__isnull", False)) for one in extras.sign_ups())
    by_provider = reduce(or_, of_others, Q(pk__in=()))
    return {
        "sign_ups_invited": joined.filter(invited).count(),
        "sign_ups_by_provider": joined.filter(~invited & by_provider).distinct().count(),
        "sign_ups_others": joined.filter(~invited & ~by_provider).count(),
        "accounts_deleted": User.objects.filter(left_at__range=period).count(),
    }
