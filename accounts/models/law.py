"""What laws such as the DSA ask a site to record: statements of reasons with their appeals, and legal notices.

Texts and names are forgotten after a while; what can be counted stays for `COUNTED`: see docs/law.md.
"""

import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Case, Q, Value, When
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from accounts.models.members import Row, User, some_of
from accounts.models.moderation import Appealable, Ban, Sweep

APPEAL_TIME = timedelta(days=183)
"""Time for which a decision can be appealed: six months, as Article 20 of the DSA says."""

STATEMENTS_KEPT = timedelta(days=365)
"""Time after which the texts of a statement and whom it concerned are forgotten, counted from the last step."""

NOTICES_KEPT = timedelta(days=183)
"""Time after the decision after which the texts of a legal notice and who sent it are forgotten."""

OPEN_NOTICES_KEPT = timedelta(days=365)  # the same for a notice that no moderator decides
COUNTED = timedelta(days=3 * 365)  # time for which statements and notices are counted
_FORGOTTEN_AT_ONCE = 500  # rows that one run of housekeeping forgets, and deletes, of each kind


class Ground(models.TextChoices):
    """What a decision rests on."""

    RULES = "rules", _("A rule of this site")
    LAW = "law", _("A law")


class Act(models.TextChoices):
    """What moderators decided against a member."""

    REMOVAL = "removal", _("Removal of an article or a comment")
    LOCK = "lock", _("Lock of a discussion")
    PROFILE = "profile", _("Removal of a profile text")
    SWEEP = "sweep", _("Removal of recent articles and comments")
    BAN = "ban", pgettext_lazy("decision", "Ban")
    VOTES = "votes", _("Exclusion of votes from ranking")


SHOWN_ELSEWHERE = (Act.REMOVAL, Act.LOCK, Act.BAN)
"""Acts that an inbox shows anyway: their statements are news only once an appeal is answered."""


class Statements(models.Manager["Statement"]):
    """Find statements."""

    def to_show(self, member: User) -> "Sequence[Statement]":
        """Return the statements that are news, the newest first. One query, for most members none."""
        if not member.has_news:
            return []
        since = datetime.fromtimestamp(member.inbox_read_until, tz=timezone.get_current_timezone())
        is_new = Q(made_at__gt=since) & ~Q(act__in=SHOWN_ELSEWHERE)
        is_answered = Q(answered_at__gt=since) & ~Q(act=Act.BAN)
        is_reversed = Q(reversed_at__gt=since) & ~Q(act__in=SHOWN_ELSEWHERE)
        return list(self.filter(is_new | is_answered | is_reversed, member=member)[:_FORGOTTEN_AT_ONCE])

    def latest_about(self, member: User, subjects: Collection[int]) -> dict[int, int]:
        """Return the numbers of the member's latest statements about these subjects. One query."""
        about = self.filter(member=member, subject__in=set(subjects)).order_by("made_at", "pk")
        return dict(about.values_list("subject", "pk"))

    def mailed_about(self, member: User, since: float) -> set[tuple[bool, int]]:
        """Return what statements' own mail tells of acts since this time. Two queries.

        Each whether an upheld appeal reversed a decision, or it was made; and its subject.
        """
        moment = datetime.fromtimestamp(since, tz=timezone.get_current_timezone())
        about = self.filter(member=member)
        made = about.filter(made_at__gt=moment).exclude(ground="").values_list("subject", flat=True)
        upheld = about.filter(answered_at__gt=moment, upheld=True).values_list("subject", flat=True)
        return {(False, one) for one in made} | {(True, one) for one in upheld}

    def left_to_mail(self, bans: Collection[Ban]) -> list[Ban]:
        """Return those of these bans whose last change no statement's mail tells. One query, none without bans."""
        rows = self.filter(ban__in=bans).values_list("ban", "ground", "upheld") if bans else ()
        about = {ban: (ground, upheld) for ban, ground, upheld in rows}

        def is_told(ban: Ban) -> bool:
            ground, upheld = about.get(ban.pk, ("", None))
            if ban.answered_at:
                return upheld is not None and (ban.lifted_at is None or upheld)
            return ban.lifted_at is None and ground != ""

        return [ban for ban in bans if not is_told(ban)]

    def with_open_appeals(self) -> "models.QuerySet[Statement]":
        """Return those whose appeals no moderator has answered, the oldest first. Bans have their own."""
        waiting = self.filter(answered_at=None, reversed_at=None, member__isnull=False).exclude(appealed_at=None)
        return waiting.exclude(act=Act.BAN).select_related("member", "moderator").order_by("appealed_at", "pk")

    def note_reversed(self, act: Act, **about: Any) -> None:
        """Note that moderators took a decision back. `about`: which, by its subject, member, ban or sweep.

        What is not mailed yet is not mailed any more, unless it answers an appeal.
        """
        rows, now = self.filter(act=act.value, reversed_at=None, **about), timezone.now()
        if act not in SHOWN_ELSEWHERE:
            User.objects.filter(pk__in=rows.values("member")).update(ban_changed_at=now.timestamp())
        unanswered = Q(answered_at=None) & (Q(ban=None) | Q(ban__answered_at=None))
        rows.filter(unanswered).update(is_to_mail=False)
        rows.update(reversed_at=now)

    def send_appeal(self, statement: "Statement", text: str) -> bool:
        """Appeal against a decision; return whether this call did."""
        first = self.filter(pk=statement.pk, appealed_at=None, member=statement.member)
        return first.update(appeal=text, appealed_at=timezone.now()) == 1

    def answer(self, statement: "Statement", text: str, moderator: int, *, upheld: bool, is_to_mail: bool) -> bool:
        """Answer the appeal; return whether this call did."""
        waiting, now = self.filter(pk=statement.pk, answered_at=None).exclude(appealed_at=None), timezone.now()
        with transaction.atomic():
            changes = {"answer": text, "answered_at": now, "answered_by": moderator, "upheld": upheld}
            is_answered = waiting.update(**changes, is_to_mail=is_to_mail) == 1
            if is_answered:
                User.objects.filter(pk=statement.member_id).update(ban_changed_at=now.timestamp())
        return is_answered

    def forget(self, rows: "models.QuerySet[Statement]") -> int:
        """Forget texts and members of these rows, which are then only counted; return how many."""
        people = dict.fromkeys(("member", "moderator", "answered_by"))
        texts = dict.fromkeys(("reason", "cited", "facts", "appeal", "answer"), "")
        return rows.update(**people, **texts, subject=0, is_to_mail=False)

    def expire(self) -> int:
        """Forget statements whose time is over, and delete those no longer counted; return how many."""
        now = timezone.now()
        some_of(self.filter(made_at__lt=now - COUNTED), _FORGOTTEN_AT_ONCE).delete()
        old = now - STATEMENTS_KEPT
        is_over = Q(answered_at__lt=old) | Q(appealed_at=None)
        return self.forget(
            some_of(self.filter(is_over, made_at__lt=old, member__isnull=False), _FORGOTTEN_AT_ONCE)
        )


class Statement(Appealable):
    """What moderators decided against a member, why, and what became of the member's appeal."""

    member = models.ForeignKey(User, models.SET_NULL, null=True, related_name="statements")
    act = models.CharField(max_length=10)
    subject = models.BigIntegerField(default=0, help_text="The comment, or the root of an article; 0 for others.")
    ban = models.ForeignKey(Ban, models.SET_NULL, null=True, related_name="+", db_constraint=False)
    sweep = models.ForeignKey(Sweep, models.SET_NULL, null=True, related_name="+", db_constraint=False)
    reason = models.TextField(help_text="The public one.")
    ground = models.CharField(max_length=5, default="", help_text="rules or law; empty if it was not asked for.")
    cited = models.TextField(default="", help_text="Which rule, or which law.")
    facts = models.TextField(default="", help_text="Only the member and moderators read them.")
    is_automated = models.BooleanField(default=False)
    by_notice = models.BooleanField(default=False, help_text="Whether a legal notice led to it.")
    moderator = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField(default=timezone.now, db_index=True)
    is_to_mail = models.BooleanField(default=False)
    upheld = models.BooleanField(null=True, help_text="Whether the appeal was; null without an answer.")
    reversed_at = models.DateTimeField(null=True, help_text="When moderators took the decision back.")

    objects = Statements()

    class Meta(Row.Meta):
        ordering = ["-made_at", "-pk"]

    @property
    def ground_label(self) -> str:
        """What the decision rests on; "" if that was not asked for."""
        return str(Ground(self.ground).label) if self.ground else ""

    @property
    def appealed(self) -> "Statement | Ban":
        """What has the appeal and the answer: a ban its own."""
        return self.ban or self

    @property
    def may_be_appealed(self) -> bool:
        is_open = self.act != Act.BAN and self.appealed_at is None and self.reversed_at is None
        return is_open and self.made_at > timezone.now() - APPEAL_TIME

    @property
    def appeal_until(self) -> datetime:
        return self.made_at + APPEAL_TIME


class NoticeReason(models.TextChoices):
    """Why a reader reports content."""

    ILLEGAL = "illegal", _("It is illegal")
    CHILD_ABUSE = "child-abuse", _("It shows the sexual abuse of children")
    RULES = "rules", _("It is against the rules of this site")


class Outcome(models.TextChoices):
    """What moderators decided on a legal notice."""

    KEPT = "kept", pgettext_lazy("legal notice", "The content stays.")
    REMOVED = "removed", pgettext_lazy("legal notice", "The content was removed.")


class LegalNotices(models.Manager["LegalNotice"]):
    """Find legal notices."""

    def waiting(self) -> "models.QuerySet[LegalNotice]":
        """Return those that moderators have not decided: on the abuse of children first, then the oldest."""
        is_urgent = Case(When(reason=NoticeReason.CHILD_ABUSE.value, then=Value(0)), default=Value(1))
        waiting = self.filter(decided_at=None, forgotten_at=None).select_related("member")
        return waiting.order_by(is_urgent, "made_at", "pk")

    def find(self, code: str) -> "LegalNotice | None":
        """Return the notice with this code; None without one, or once it is forgotten."""
        return self.filter(code=code[:64]).first() if code.isascii() else None

    def decide(self, notice: "LegalNotice", outcome: Outcome, answer: str, moderator: int) -> bool:
        """Record the decision; return whether this call did. The sender gets it by mail."""
        waiting = self.filter(pk=notice.pk, decided_at=None, forgotten_at=None)
        to_mail = Case(When(email="", then=Value("")), default=Value("decision"))
        changes = {"answer": answer, "decided_at": timezone.now(), "decided_by": moderator, "to_mail": to_mail}
        return waiting.update(outcome=outcome.value, **changes) == 1

    def forget(self, rows: "models.QuerySet[LegalNotice]") -> int:
        """Forget texts and people of these rows, which are then only counted; return how many."""
        people = dict.fromkeys(("code", "member", "decided_by"))
        texts = dict.fromkeys(("address", "cited", "explanation", "name", "email", "answer", "to_mail"), "")
        return rows.update(**people, **texts, forgotten_at=timezone.now())

    def expire(self) -> int:
        """Forget notices whose time is over, and delete those no longer counted; return how many."""
        now = timezone.now()
        some_of(self.filter(made_at__lt=now - COUNTED), _FORGOTTEN_AT_ONCE).delete()
        is_over = Q(decided_at__lt=now - NOTICES_KEPT) | Q(decided_at=None, made_at__lt=now - OPEN_NOTICES_KEPT)
        return self.forget(some_of(self.filter(is_over, forgotten_at=None), _FORGOTTEN_AT_ONCE))


def new_code() -> str:
    return secrets.token_urlsafe(18)


class LegalNotice(Row):
    """What a reader, mostly without an account, reports to the moderators, and what they decided."""

    code = models.CharField(max_length=64, null=True, unique=True, default=new_code)  # noqa: DJ001 - null once forgotten
    address = models.CharField(max_length=500, help_text="Path of the page; it may not exist.")
    member = models.ForeignKey(
        User,
        models.SET_NULL,
        null=True,
        related_name="notices_about",
        help_text="Whose profile it is, if it is one.",
    )
    reason = models.CharField(max_length=11)
    cited = models.TextField(default="", help_text="Which law or rule.")
    explanation = models.TextField()
    name = models.TextField(default="")
    email = models.EmailField(default="")
    language = models.CharField(max_length=10)
    made_at = models.DateTimeField(default=timezone.now, db_index=True)
    to_mail = models.CharField(max_length=8, default="", help_text="What is to be mailed: receipt or decision.")
    outcome = models.CharField(max_length=7, default="")
    answer = models.TextField(default="")
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    forgotten_at = models.DateTimeField(null=True)

    objects = LegalNotices()

    class Meta(Row.Meta):
        ordering = ["-made_at", "-pk"]

    @property
    def reason_label(self) -> str:
        return str(NoticeReason(self.reason).label)

    @property
    def outcome_label(self) -> str:
        """What was decided; "" while it is open."""
        return str(Outcome(self.outcome).label) if self.outcome else ""
