"""Apps that members let use the site in their name (OAuth 2.1): their registration, requests and grants."""

import secrets
from datetime import timedelta
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from accounts.models.members import Row, User, some_of
from accounts.models.tokens import Token, digest_of

MOST_UNUSED = 2_000  # apps without a grant that are kept: a further one replaces the oldest

UNUSED_KEPT = timedelta(days=30)

MOST_GRANTS = 20  # grants of one member: a further one replaces the grant that was refreshed longest ago
MOST_REQUESTS = 10_000  # codes of all apps that are kept: a further one replaces the oldest

REQUESTS_KEPT = timedelta(hours=1)
"""Time for which a code that was used is known, so that its second use revokes what it gave."""

GRANT_KEPT = timedelta(days=90)  # time without a refresh after which a grant ends

LONGEST_GRANT = timedelta(days=365)
"""Time after which the app has to ask the member again, as after the longest session."""

_ROWS = 1_000


class AppManager(models.Manager["App"]):
    """Register apps, and forget those that no member uses."""

    def unused(self) -> models.QuerySet["App"]:
        """Return the apps that no member uses, or is just about to."""
        return self.filter(grants=None, apprequest=None)

    @transaction.atomic
    def register(self, name: str, addresses: list[str]) -> "App":
        """Register an app under a client id of its own."""
        some_of(self.unused().order_by("-pk"), after=MOST_UNUSED - 1).delete()
        return self.create(client_id=secrets.token_urlsafe(16), name=name, addresses="\n".join(addresses))

    def expire(self) -> int:
        """Delete some apps that no member uses, ended grants, and old requests; return how many of all."""
        now, count = timezone.now(), 0
        for old in (
            AppRequest.objects.filter(expires_at__lt=now - REQUESTS_KEPT),
            Token.objects.filter(grant__isnull=False, expires_at__lt=now - GRANT_KEPT),
            Token.objects.filter(grant__isnull=False, created_at__lt=now - LONGEST_GRANT),
            Grant.objects.exclude(token__in=Token.objects.all()),  # revoked while this folder was not there
            self.unused().filter(created_at__lt=now - UNUSED_KEPT),
        ):
            found = list(old.values_list("pk", flat=True)[:_ROWS])
            count += len(found)
            old.filter(pk__in=found).delete()
        return count


class App(Row):
    """A program as it describes itself; its name is unverified."""

    client_id = models.CharField(max_length=30, unique=True)
    name = models.CharField(max_length=50)
    addresses = models.TextField()  # to which members are led back with a code, one a line
    created_at = models.DateTimeField(default=timezone.now)

    objects = AppManager()

    def __str__(self) -> str:
        return self.name


class GrantManager(models.Manager["Grant"]):
    """Give apps tokens, and renew them."""

    @transaction.atomic
    def give(self, app: App, member: User, scopes: str, access: str, refresh: str, life: timedelta) -> "Grant":
        """Create a grant with an access token, which is valid for `life`, and a refresh token."""
        User.objects.select_for_update().get(pk=member.pk)
        own = Token.objects.filter(user=member, grant__isnull=False).order_by("-expires_at")
        some_of(own, after=MOST_GRANTS - 1).delete()
        token = Token.objects.create(
            user=member, name=app.name, digest=digest_of(access), scopes=scopes, expires_at=timezone.now() + life
        )
        family = digest_of(family_of(refresh))
        return self.create(token=token, app=app, family=family, refresh=digest_of(refresh))

    @transaction.atomic
    def renew(self, grant: "Grant", access: str, refresh: str, life: timedelta) -> bool:
        """Replace both tokens; return False, and revoke the grant, if another request has renewed it already."""
        renewed = self.filter(pk=grant.pk, refresh=grant.refresh).update(refresh=digest_of(refresh))
        if not renewed:
            grant.token.delete()
            return False
        Token.objects.filter(pk=grant.pk).update(digest=digest_of(access), expires_at=timezone.now() + life)
        return True

    def find(self, refresh: str) -> "Grant | None":
        """Return the grant of a refresh token. One that was replaced is a copy, and revokes its grant."""
        alive = self.filter(token__created_at__gt=timezone.now() - LONGEST_GRANT)
        found = alive.select_related("token", "app").filter(family=digest_of(family_of(refresh))).first()
        if found and found.refresh != digest_of(refresh):
            found.token.delete()
            return None
        return found


def family_of(refresh: str) -> str:
    """Return the part of a refresh token that all those of its grant share."""
    return refresh.partition(".")[0]


class Grant(Row):
    """A member's permission for an app, which uses it with a token. Of the secrets, only digests are stored."""

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, db_constraint=False)
    app = models.ForeignKey(App, models.CASCADE, related_name="grants")
    family = models.CharField(max_length=64, unique=True)
    refresh = models.CharField(max_length=64)  # digest of the refresh token that is valid
    objects = GrantManager()

    def check_client(self, client: Any) -> bool:  # this and the next are what authlib asks of a token
        return bool(client.app.pk == self.app_id)

    def get_scope(self) -> str:
        return self.token.scopes


class RequestManager(models.Manager["AppRequest"]):
    """Keep the codes that members let apps have until the apps have used them, and a while longer."""

    def add(self, app: App, secret: str, life: timedelta, **facts: object) -> "AppRequest":
        """Add a code. It expires after `life`."""
        some_of(self.order_by("-pk"), after=MOST_REQUESTS - 1).delete()
        return self.create(app=app, digest=digest_of(secret), expires_at=timezone.now() + life, **facts)

    def find(self, secret: str) -> "AppRequest | None":
        return self.select_related("app", "token").filter(digest=digest_of(secret)).first()


class AppRequest(Row):
    """What a member allowed an app: an authorization code."""

    app = models.ForeignKey(App, models.CASCADE)
    user = models.ForeignKey(User, models.CASCADE)  # the member who decided
    digest = models.CharField(max_length=64, unique=True)  # of the authorization code
    scopes = models.CharField(max_length=40)
    address = models.TextField()  # to which the member is led back
    challenge = models.CharField(max_length=128)  # the S256 challenge of PKCE
    is_used = models.BooleanField(default=False)
    expires_at = models.DateTimeField(db_index=True)
    token = models.ForeignKey(Token, models.SET_NULL, null=True, db_constraint=False)  # what it gave
    objects = RequestManager()

    def get_redirect_uri(self) -> str:  # this and the next are what authlib asks of a code
        return self.address

    def get_scope(self) -> str:
        return self.scopes

    def use(self) -> bool:
        """Mark the code as used; return whether it was not before."""
        return bool(type(self).objects.filter(pk=self.pk, is_used=False).update(is_used=True))
