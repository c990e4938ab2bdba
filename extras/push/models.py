"""Devices to which members have notices pushed, and their choice of these.

A device is a browser while the member is logged in there, or a program. It refers to its login or its token
without a constraint in the database, so that these can be deleted after this folder was.
"""

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models.members import Row, User, some_of
from accounts.models.tokens import Token
from accounts.sessions import MemberSession, is_logged_in
from articles.configuration import encryption

MOST_DEVICES = 10  # devices of one member: a further one replaces the oldest

FORGOTTEN_AFTER = timedelta(days=1)  # time for which messages to a device may fail before it is forgotten


class DeviceManager(models.Manager["Device"]):
    """Add devices, and find those to which something can be pushed."""

    def reachable(self, user: User | None = None) -> models.QuerySet["Device"]:
        """Return the devices, of one member or of all, that do not fail, or fail for long without a task."""
        stuck = Q(failing_since__lt=timezone.now() - 2 * FORGOTTEN_AFTER)
        devices = self.filter(Q(failing_since=None) | stuck)
        return devices.filter(user=user) if user else devices

    @transaction.atomic
    def add(
        self, user: User, subscription: dict[str, str], *, token: Token | None, session: MemberSession | None
    ) -> "Device":
        """Add the device of a login or of a token, in place of the one that it had. Idempotent."""
        digest = sha256(subscription["endpoint"].encode()).hexdigest()
        member = User.objects.select_for_update().get(pk=user.pk)
        if not member.devices.exists():
            Choice.objects.change(member)  # what came before is not pushed
        own = Q(token=token) if token else Q(session=session)
        self.filter(own | Q(digest=digest)).delete()
        secret = encryption.encrypt(json.dumps(subscription))
        device = self.create(user=member, token=token, session=session, digest=digest, secret=secret)
        some_of(member.devices.order_by("-added_at", "-pk"), after=MOST_DEVICES).delete()
        return device


class Device(Row):
    """A browser or a program that has a subscription of a push service. It ends with its login or its token."""

    user = models.ForeignKey(User, models.CASCADE, related_name="devices")
    session = models.OneToOneField(MemberSession, models.CASCADE, null=True, db_constraint=False)
    token = models.OneToOneField(Token, models.CASCADE, null=True, db_constraint=False)
    digest = models.CharField(max_length=64, unique=True)
    """Of the subscription's address: a browser of two members has the last one's notices."""

    secret = models.TextField()  # address and keys of the subscription, encrypted
    added_at = models.DateTimeField(default=timezone.now)
    failing_since = models.DateTimeField(null=True)
    """When the push service first did not take a message, of those since the last one that it took."""

    objects = DeviceManager()

    class Meta(Row.Meta):
        ordering = ["added_at", "pk"]

    @property
    def label(self) -> str:
        """What its member knows it by."""
        return self.token.name if self.token else self.session.label if self.session else ""

    @property
    def subscription(self) -> dict[str, Any]:
        """The subscription's `endpoint`, `p256dh` and `auth`. Raises `KeyChanged`."""
        content: dict[str, Any] = json.loads(encryption.decrypt(self.secret))
        return content

    @property
    def is_logged_in(self) -> bool:
        """Whether its login or its token is still valid, or will be renewed. At most one query."""
        if self.token:
            return not self.token.is_expired or self.token.is_renewed
        return self.session_id is not None and is_logged_in(self.user, self.session_id)


class ChoiceManager(models.Manager["Choice"]):
    """Read and change choices. A member without a row has the default."""

    def of(self, member: User) -> "Choice":
        return self.filter(member=member).first() or Choice(member=member)

    def change(self, member: User, **facts: str) -> None:
        """Change a member's choice, from now on. Idempotent."""
        self.update_or_create(member=member, defaults={**facts, "pushed_until": timezone.now().timestamp()})


class Choice(Row):
    """What is pushed to a member's devices."""

    member = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="push_choice")
    kinds = models.CharField(max_length=60, blank=True, default="reply,mention,waiting")
    """Comma-separated: kinds of notices, and "waiting"."""

    pushed_until = models.FloatField(default=0)
    """In Unix seconds: what came later may still be pushed."""

    objects = ChoiceManager()

    @property
    def kind_list(self) -> list[str]:
        return [kind for kind in self.kinds.split(",") if kind]
