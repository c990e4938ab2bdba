"""Signed links in mails: to verify an address, and to unsubscribe. Neither needs a login."""

from django.core import signing

from accounts.models import User

VERIFY_DAYS = 3
"""Days for which a link that verifies an address works."""

NOTICES, DIGEST = "notices", "digest"
"""What members can unsubscribe from."""

_VERIFY, _UNSUBSCRIBE = "accounts.verify", "accounts.unsubscribe"


def verification_token(member: User) -> str:
    """Return the token of a link that verifies the member's current address."""
    return signing.dumps([member.pk, member.email], salt=_VERIFY)


def member_verifying(token: str) -> User | None:
    """Return the member whose current address a link verifies; None if it is invalid, old, or for another one."""
    try:
        user_id, address = signing.loads(token, salt=_VERIFY, max_age=VERIFY_DAYS * 86400)
    except signing.BadSignature:
        return None
    return User.objects.filter(pk=user_id, email=address, is_active=True).first()


def unsubscribe_token(member: User, what: str = NOTICES) -> str:
    """Return the token of a link that unsubscribes from this mail, valid as long as the secret key is kept."""
    return signing.dumps([member.pk, what], salt=_UNSUBSCRIBE)


def read_unsubscribe_token(token: str) -> tuple[User, str] | None:
    """Return the member and the mail that a link unsubscribes from; None if it is invalid."""
    try:
        user_id, what = signing.loads(token, salt=_UNSUBSCRIBE)
    except signing.BadSignature:
        return None
    member = User.objects.filter(pk=user_id).first()
    return (member, what) if member else None
