"""Members who invited others, and what pages say of them."""

import re
from datetime import timedelta

from django.utils import timezone

from accounts.models import Invitation, User


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def grow(*edges):
    """Record who invited whom, by names; create accounts that are missing."""
    names = {name for edge in edges for name in edge}
    known = set(User.objects.filter(username__in=names).values_list("username", flat=True))
    User.objects.bulk_create_imported(sorted(names - known))
    ids = dict(User.objects.filter(username__in=names).values_list("username", "pk"))
    expiry = timezone.now() + timedelta(days=1)
    Invitation.objects.bulk_create(
        Invitation(inviter_id=ids[one], invited_id=ids[other], code=f"{one}-{other}", expires_at=expiry)
        for one, other in edges
    )
