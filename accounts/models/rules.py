"""Moderators' rules with their versions, the posts that rules hold for approval, and digests of recent texts."""

from datetime import datetime, timedelta

from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.models.members import Row, User, name_of

KEPT_DAYS = 30  # days for which decided posts and digests of texts are kept


class Rules(models.Manager["ModeratorRule"]):
    """Find rules, and count what they do."""

    def on(self) -> "models.QuerySet[ModeratorRule]":
        """Return the rules that are on and have not expired, with the definition of their current version."""
        valid = self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), is_on=True)
        return valid.filter(versions__number=F("version")).annotate(definition=F("versions__definition"))

    def count_hits(self, names: list[str]) -> None:
        """Count that these rules acted. One query."""
        self.filter(name__in=names).update(hits=F("hits") + 1)

    def count_reversals(self, names: list[str]) -> None:
        """Count that a moderator reversed what these rules did. One query."""
        self.filter(name__in=names).update(reversals=F("reversals") + 1)


class ModeratorRule(Row):
    """A rule. Its name is its own for good, because the moderation log knows it by the name."""

    name = models.CharField(max_length=60, unique=True)
    version = models.PositiveIntegerField(default=0)
    tried = models.PositiveIntegerField(default=0, help_text="The last version that was tried.")
    is_on = models.BooleanField(default=False)
    expires_at = models.DateTimeField(null=True, help_text="Null: it has no end.")
    hits = models.PositiveIntegerField(default=0)
    reversals = models.PositiveIntegerField(default=0)

    objects = Rules()

    class Meta(Row.Meta):
        ordering = ["-is_on", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_acting(self) -> bool:
        """Whether it is on and has not expired."""
        return self.is_on and (self.expires_at is None or self.expires_at > timezone.now())

    @property
    def current(self) -> "RuleVersion":
        """The version that acts. One query."""
        return self.versions.get(number=self.version)


class RuleVersion(Row):
    """What a rule said, from one change to the next. The owner of the rule is who wrote its current version."""

    rule = models.ForeignKey(ModeratorRule, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    written_at = models.DateTimeField(default=timezone.now)

    class Meta(Row.Meta):
        ordering = ["-number"]
        constraints = (models.UniqueConstraint(fields=["rule", "number"], name="rule_version_once"),)

    author_name = name_of("author")


WAITING, POSTED, REFUSED = "waiting", "posted", "refused"  # states of a held post


class HeldPosts(models.Manager["HeldPost"]):
    """Find held posts, and decide on them."""

    def waiting(self) -> "models.QuerySet[HeldPost]":
        """Return what waits for a decision, the oldest first."""
        return self.filter(state=WAITING).select_related("author", "rule").order_by("pk")

    def to_show(self, author: User) -> "list[HeldPost]":
        """Return the decisions that are news to the author. One query, for most members none."""
        if not author.has_news_of_held:
            return []
        read_until = datetime.fromtimestamp(author.inbox_read_until, timezone.get_default_timezone())
        return list(self.filter(author=author, decided_at__gt=read_until))

    def decide(self, held: "HeldPost", state: str, moderator_id: int, reason: str = "") -> bool:
        """Record a decision, which is news to the author; return whether this call did. Call it in a transaction.

        A posted text is stored with its article or comment, and deleted here.
        """
        now = timezone.now()
        changes = {"state": state, "moderator": moderator_id, "decided_at": now, "reason": reason}
        changes |= {"text": "", "link": ""} if state == POSTED else {}
        is_decided = self.filter(pk=held.pk, state=WAITING).update(**changes) == 1
        if is_decided:
            User.objects.filter(pk=held.author_id).update(held_decided_at=now.timestamp())
        return is_decided

    def expire(self) -> int:
        """Delete what was decided long ago; return how many."""
        return self.filter(decided_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)).delete()[0]


class HeldPost(Row):
    """An article or a comment that a rule holds until a moderator decides."""

    author = models.ForeignKey(User, models.CASCADE, related_name="held_posts")
    rule = models.ForeignKey(ModeratorRule, models.SET_NULL, null=True, related_name="held_posts")
    article = models.PositiveBigIntegerField(null=True, help_text="That a comment is on; null for an article.")
    parent = models.CharField(max_length=22, default="", help_text="Id of the comment that it replies to.")
    title = models.TextField(default="", help_text="Of the article, or of that which a comment is on.")
    link = models.TextField(default="")
    text = models.TextField(default="")
    groups = models.TextField(default="", help_text="Slugs, comma-separated.")
    held_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=7, default=WAITING)
    decided_at = models.DateTimeField(null=True)
    moderator = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    reason = models.TextField(default="", help_text="Why moderators refused it.")
    posted_as = models.CharField(max_length=22, default="", help_text="Id of the article or the comment.")

    objects = HeldPosts()

    class Meta(Row.Meta):
        ordering = ["-pk"]

    @property
    def is_waiting(self) -> bool:
        return self.state == WAITING

    @property
    def slugs(self) -> list[str]:
        return [slug for slug in self.groups.split(",") if slug]


class TextDigests(models.Manager["TextDigest"]):
    """Recognise texts that several members post."""

    def note(self, digest: str, author_id: int) -> None:
        """Note that a member posted a text. One query."""
        self.create(digest=digest, author_id=author_id)

    def count_others(self, digest: str, author_id: int, days: int) -> int:
        """Return how many other members posted the text in the last days. One query."""
        since = timezone.now() - timedelta(days=days)
        noted = self.filter(digest=digest, noted_at__gt=since).exclude(author=author_id)
        return noted.values("author").distinct().count()

    def expire(self) -> int:
        """Delete what no rule asks for any more; return how many."""
        return self.filter(noted_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)).delete()[0]


class TextDigest(Row):
    """That a member posted a text, of which only a digest is kept. Written only while a rule asks for it."""

    digest = models.CharField(max_length=32)
    author = models.ForeignKey(User, models.CASCADE, related_name="text_digests")
    noted_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = TextDigests()

    class Meta(Row.Meta):
        indexes = (models.Index(fields=["digest", "noted_at"], name="text_digest"),)


@transaction.atomic
def write_version(rule: ModeratorRule, definition: dict[str, object], author_id: int) -> RuleVersion:
    """Add a version, which is off until it is tried and switched on."""
    locked = ModeratorRule.objects.select_for_update().get(pk=rule.pk)
    rule.version, rule.is_on, rule.expires_at = locked.version + 1, False, None
    rule.save(update_fields=["version", "is_on", "expires_at"])
    return rule.versions.create(number=rule.version, definition=definition, author_id=author_id)
