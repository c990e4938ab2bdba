"""Webhooks: addresses to which events are sent, added by a member, or by administrators for the site."""

import json
from base64 import b64encode
from datetime import timedelta
from secrets import token_bytes
from typing import Any, NamedTuple

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models.members import Row, User, some_of
from articles.configuration import encryption

MOST_WEBHOOKS = 10  # webhooks of one member, and of the site
MOST_OF_MEMBERS = 1_000  # webhooks of all members: housekeeping looks for each at what happened
LOGGED = 50  # deliveries of a webhook that are kept, with what was sent
MOST_WAITING = 1_000  # deliveries of a webhook that can wait; what happens meanwhile is not delivered

BODIES_KEPT = timedelta(days=7)
_KEYS_KEPT = timedelta(days=8)  # longer than voting is open: so long, nothing is delivered twice
OLD_KEY_KEPT = timedelta(days=1)  # time for which deliveries are also signed with the key before the present one


class WebhookLimitError(Exception):
    """The member, the site, or all members together have as many webhooks as are possible."""


class WebhookManager(models.Manager["Webhook"]):
    """Add webhooks, and find those that something is to be delivered to."""

    def listening(self, allowed: str) -> models.QuerySet["Webhook"]:
        """Return the webhooks that are on. `allowed`: whose, as WEBHOOKS says."""
        of_site, of_members = Q(user=None), Q(user__is_active=True, user__left_at=None)
        owners = {"off": Q(pk__in=()), "site": of_site, "members": of_site | of_members}[allowed]
        return self.filter(owners, off_since=None).select_related("user")

    @transaction.atomic
    def add(self, owner: User | None, address: str, host: str, **facts: Any) -> "Webhook":
        """Add a webhook with a key of its own. Raises WebhookLimitError."""
        if owner:
            User.objects.select_for_update().get(pk=owner.pk)
        if self.filter(user=owner).count() >= MOST_WEBHOOKS:
            raise WebhookLimitError
        if owner and self.exclude(user=None).count() >= MOST_OF_MEMBERS:
            raise WebhookLimitError("all")
        secret = encryption.encrypt(json.dumps([address, new_key()]))
        return self.create(user=owner, secret=secret, host=host, **facts)


class Secret(NamedTuple):
    """What only the owner of a webhook knows: its address, and the keys that sign, the present one first."""

    address: str
    keys: tuple[str, ...]


class Webhook(Row):
    """An address to which events are sent."""

    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="webhooks")
    """Its member; none for one of the site."""

    secret = models.TextField()  # address and keys; encrypted: see `articles.configuration.encryption`
    host = models.CharField(max_length=260)
    form = models.CharField(max_length=10)
    events = models.CharField(max_length=200)
    groups = models.TextField(blank=True)  # slugs of the groups that it is about, with commas; empty for all
    points = models.PositiveIntegerField(default=10)  # how many points an article has to reach
    language = models.CharField(max_length=20, blank=True)
    added_at = models.DateTimeField(default=timezone.now)
    since = models.FloatField()  # events before it are not sent; in Unix seconds of the store's clock
    rotated_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    off_since = models.DateTimeField(null=True)
    off_because = models.CharField(max_length=10, blank=True)
    """`gone`, `failing` or `key`; empty if its owner switched it off."""

    objects = WebhookManager()

    class Meta(Row.Meta):
        ordering = ["added_at", "pk"]

    def __str__(self) -> str:
        return f"webhook {self.pk} to {self.host}"

    @property
    def event_list(self) -> list[str]:
        return self.events.split(",")

    @property
    def slugs(self) -> list[str]:
        return [slug for slug in self.groups.split(",") if slug]

    def read_secret(self) -> Secret:
        """Return its address and keys. Raises `KeyChanged`."""
        address, *keys = json.loads(encryption.decrypt(self.secret))
        is_old_valid = self.rotated_at and timezone.now() - self.rotated_at < OLD_KEY_KEPT
        return Secret(address, tuple(keys if is_old_valid else keys[:1]))

    def rotate(self) -> None:
        """Give it a new key. The old one signs, too, for a day."""
        secret = self.read_secret()
        self.secret = encryption.encrypt(json.dumps([secret.address, new_key(), secret.keys[0]]))
        self.rotated_at = timezone.now()
        self.save(update_fields=["secret", "rotated_at"])

    def switch(self, *, on: bool, because: str = "") -> None:
        """Switch it on or off. Idempotent. What waits for one that is off is not delivered."""
        if on == (self.off_since is None):
            return
        now = timezone.now()
        self.off_since, self.off_because, self.failing_since = None if on else now, because, None
        self.since = now.timestamp()
        self.save(update_fields=["off_since", "off_because", "failing_since", "since"])
        if not on:
            self.deliveries.filter(state=Delivery.WAITING).update(state=Delivery.FAILED, problem="off")


def new_key() -> str:
    """Return a random key of 32 bytes, in base64 (Standard Webhooks takes 24 to 64)."""
    return b64encode(token_bytes(32)).decode()


class DeliveryManager(models.Manager["Delivery"]):
    """Keep the log short."""

    def forget(self, webhook: Webhook) -> None:
        """Forget what was sent beyond the log of a webhook. Two queries."""
        done = self.filter(webhook=webhook).exclude(state=Delivery.WAITING)
        if last := done.order_by("-pk").values_list("pk", flat=True)[LOGGED - 1 : LOGGED].first():
            done.filter(pk__lt=last).exclude(body="").update(body="")

    def expire(self) -> int:
        """Forget what was sent long ago; return how many deliveries are gone. Two queries."""
        now = timezone.now()
        self.filter(added_at__lt=now - BODIES_KEPT).exclude(body="").update(body="")
        return int(some_of(self.filter(added_at__lt=now - _KEYS_KEPT).order_by()).delete()[0])


class Delivery(Row):
    """Something that happened, for one webhook. Its key is what it is about: it is delivered once."""

    WAITING, DONE, FAILED = "waiting", "done", "failed"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    key = models.CharField(max_length=100)
    event = models.CharField(max_length=20)
    body = models.TextField()  # what happened, as `bodies.py` writes it; empty beyond the log
    added_at = models.DateTimeField(default=timezone.now, db_index=True)
    state = models.CharField(max_length=10, default=WAITING)
    status = models.PositiveSmallIntegerField(null=True)  # of the last response
    problem = models.CharField(max_length=100, blank=True)
    tried_at = models.DateTimeField(null=True)

    objects = DeliveryManager()

    class Meta(Row.Meta):
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["webhook", "key"], name="delivered_once")]


class WebhookPosition(Row):
    """Up to where housekeeping has read what happens: one row."""

    text = models.TextField()
