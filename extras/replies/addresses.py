"""Signed addresses, each of which takes the replies of one member to one comment."""

import re
from base64 import b32encode

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import base36_to_int, int_to_base36


def reply_address(member: int, comment: int) -> str:
    """Return the address that takes this member's replies to a comment by mail; "" if the site takes none.

    Mail servers may change the case of letters, and what is before the @ has at most 64 characters. It is valid as
    long as the secret key is kept, but only mail from the member's own address counts.
    """
    if not settings.REPLY_ADDRESS:
        return ""
    name, _at, domain = settings.REPLY_ADDRESS.partition("@")
    what = f"{int_to_base36(member)}-{int_to_base36(comment)}"
    return f"{name}+{what}-{_signature_of(what)}@{domain}"


def read_reply_address(text: str) -> tuple[int, int] | None:
    """Return the member and the comment of the first valid address for replies in a text; None without one."""
    name, _at, domain = map(re.escape, settings.REPLY_ADDRESS.partition("@"))
    form = rf"(?<![\w.+-]){name}\+(([0-9a-z]{{1,13}})-([0-9a-z]{{1,13}}))-([a-z2-7]{{16}})@{domain}(?![\w.-])"
    for what, member, comment, signature in re.findall(form, text.lower()):
        if constant_time_compare(_signature_of(what), signature):
            return base36_to_int(member), base36_to_int(comment)
    return None


def _signature_of(what: str) -> str:
    """Return 80 bits that only the secret key leads to, as 16 letters and digits."""
    digest = salted_hmac("accounts.reply", what, algorithm="sha256").digest()
    return b32encode(digest[:10]).decode().lower()
