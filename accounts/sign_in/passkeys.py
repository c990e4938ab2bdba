"""Passkeys: WebAuthn credentials with which members sign in, take a second step and confirm who they are.

All are discoverable and verify their user, by a fingerprint or a PIN, so that each is a way in by itself. The
session keeps the challenge of each ceremony for one use.
"""

import json
import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from accounts.models import Passkey, User
from articles.configuration.choices import chosen, site_address

ADD, SIGN_IN, SECOND_STEP, CONFIRM = PURPOSES = ("add", "sign-in", "second-step", "confirm")
"""What a ceremony is for: its challenge is valid for nothing else."""

MOST_PASSKEYS = 20  # passkeys of one member

LONGEST_RESPONSE = 12_000
"""Characters of a browser's response: a credential's id has up to 1,023 bytes, and its key up to about 600."""

_SECONDS = 300
_IN_SESSION = "passkey"

_log = logging.getLogger(__name__)


class PasskeyError(Exception):
    """The browser's response does not prove what it should. `is_copied`: a copy of the passkey may be in use."""

    def __init__(self, is_copied: bool = False) -> None:
        super().__init__()
        self.is_copied = is_copied


class TooManyPasskeys(Exception):
    """The member has as many as a member can have."""


def _library() -> Any:
    """Return webauthn, which takes 5 MB: only processes in which a passkey is used load it."""
    import webauthn.helpers.structs  # noqa: PLC0415

    return webauthn


def options_for_adding(request: HttpRequest, member: User) -> dict[str, Any]:
    """Begin to create a passkey; return the options for the browser."""
    webauthn = _library()
    structs = webauthn.helpers.structs
    known = [urlsafe_base64_decode(one) for one in member.passkeys.values_list("credential_id", flat=True)]
    handle = salted_hmac("accounts.passkeys", str(member.pk), algorithm="sha256").digest()
    options = webauthn.generate_registration_options(
        rp_id=_host(request),
        rp_name=chosen.SITE_NAME,
        user_id=handle,
        user_name=member.username,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=one) for one in known],
    )
    return _begun(request, ADD, options)


def options_for_use(request: HttpRequest, purpose: str, member: User | None) -> dict[str, Any]:
    """Begin to use a passkey of the member, or of anyone; return the options for the browser."""
    webauthn = _library()
    structs = webauthn.helpers.structs
    known = member.passkeys.values_list("credential_id", flat=True) if member else ()
    options = webauthn.generate_authentication_options(
        rp_id=_host(request),
        allow_credentials=[structs.PublicKeyCredentialDescriptor(id=urlsafe_base64_decode(one)) for one in known],
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return _begun(request, purpose, options)


def _begun(request: HttpRequest, purpose: str, options: Any) -> dict[str, Any]:
    kept = {"for": purpose, "challenge": urlsafe_base64_encode(options.challenge), "until": time.time() + _SECONDS}
    request.session[_IN_SESSION] = kept
    return dict(_library().helpers.options_to_json_dict(options))


def add(request: HttpRequest, member: User, response: str, name: str) -> Passkey:
    """Create a passkey from the browser's response. Raises PasskeyError and TooManyPasskeys."""
    expected = _expected(request, ADD)
    verified = _verified(_library().verify_registration_response, response, expected)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        if member.passkeys.count() >= MOST_PASSKEYS:
            raise TooManyPasskeys
        passkey, is_new = Passkey.objects.get_or_create(
            credential_id=urlsafe_base64_encode(verified.credential_id),
            defaults={
                "user": member,
                "name": name,
                "public_key": urlsafe_base64_encode(verified.credential_public_key),
                "sign_count": verified.sign_count,
                "is_synced": _is_synced(verified),
            },
        )
    if not is_new:
        raise PasskeyError
    return passkey


def use(request: HttpRequest, purpose: str, response: str, member: User | None = None) -> Passkey:
    """Return the passkey that the browser's response proves, of this member or of anyone. Raises PasskeyError."""
    expected = _expected(request, purpose)
    passkey = Passkey.objects.select_related("user").filter(credential_id=_named_in(response)).first()
    if passkey is None or (member is not None and passkey.user_id != member.pk):
        raise PasskeyError
    verified = _verified(
        _library().verify_authentication_response,
        response,
        expected,
        credential_public_key=urlsafe_base64_decode(passkey.public_key),
        credential_current_sign_count=0,  # compared below
    )
    _note_use(passkey, verified.new_sign_count, is_synced=_is_synced(verified))
    return passkey


def _is_synced(verified: Any) -> bool:
    return bool(verified.credential_device_type == "multi_device")


def _note_use(passkey: Passkey, count: int, *, is_synced: bool) -> None:
    """Note a use, unless it betrays a copy (WebAuthn Level 3, 6.1.1 and 7.2). Raises PasskeyError.

    A passkey that was not synced stays so: a copy could claim to be. One query decides: of two uses at once with
    the same count, one is refused.
    """
    same = Passkey.objects.filter(Q(is_synced=is_synced) | Q(is_synced=None), pk=passkey.pk)
    if not is_synced:
        same = same.filter(sign_count__lt=count) if count else same.filter(sign_count=0)
    if same.update(sign_count=count, is_synced=is_synced, last_used_at=timezone.now()):
        return
    if not Passkey.objects.filter(pk=passkey.pk).exists():  # removed meanwhile
        raise PasskeyError
    _log.warning("the counter of passkey %d of account %d went back, or its kind", passkey.pk, passkey.user_id)
    raise PasskeyError(is_copied=True)


def _expected(request: HttpRequest, purpose: str) -> dict[str, Any]:
    """Return what a response has to contain, and end the challenge. Raises PasskeyError without one."""
    kept = request.session.pop(_IN_SESSION, None)
    if not kept or kept["for"] != purpose or kept["until"] < time.time():
        raise PasskeyError
    return {
        "expected_challenge": urlsafe_base64_decode(kept["challenge"]),
        "expected_rp_id": _host(request),
        "expected_origin": site_address(request),
        "require_user_verification": True,
    }


def _verified(verify: Callable[..., Any], response: str, expected: dict[str, Any], **more: Any) -> Any:
    if len(response) > LONGEST_RESPONSE:
        raise PasskeyError
    try:
        return verify(credential=response, **expected, **more)
    except Exception as error:  # the parsers of the library raise many kinds for what a stranger can send
        _log.info("a passkey was refused: %r", error)
        raise PasskeyError from None


def _named_in(response: str) -> str:
    """Return the id of the credential in the browser's response; "" if there is none."""
    if len(response) > LONGEST_RESPONSE:
        return ""
    try:
        name = json.loads(response)["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""


def _host(request: HttpRequest) -> str:
    """Return the domain that passkeys are for: without a port."""
    return urlsplit(site_address(request)).hostname or ""
