"""Messages to push services (RFC 8030), encrypted for the device (RFC 8291), signed by the site (RFC 8292).

Push services are named by browsers, so by strangers: they are reached as links are, by `outgoing.fetching`.
"""

import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from email.utils import parseaddr
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from joserfc import jwt
from joserfc.jwk import ECKey

from articles.configuration.choices import chosen
from articles.configuration.encryption import derived
from articles.text.lines import InvalidInput
from outgoing import posting
from outgoing.fetching import Answer, NotFetched, checked

KEPT_SECONDS = 86_400  # for which a push service keeps a message for a device that is off

_TOKEN_SECONDS = 12 * 3600
_LONGEST_ADDRESS = 1_000
_POINT_BYTES, _AUTH_BYTES, _SALT_BYTES = 65, 16, 16
_RECORD_BYTES = 4096


def is_on() -> bool:
    """Return whether the site pushes: by its setting, or without one if it has an https address."""
    return bool(settings.WEB_PUSH) if settings.WEB_PUSH != "" else settings.SITE_URL.startswith("https://")


def public_key() -> str:
    """Return the key by which browsers know the site (VAPID, RFC 8292), in base64url."""
    return _encoded(_point(_site_key(settings.SECRET_KEY).public_key()))


@cache
def _site_key(secret_key: str) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(derived("push", secret_key)) >> 1 | 1  # in the range of the curve's keys
    return ec.derive_private_key(number, ec.SECP256R1())


def clean_subscription(raw: Mapping[str, Any]) -> dict[str, str]:
    """Return a subscription as browsers describe it, flat: `endpoint`, `p256dh`, `auth`. Raises InvalidInput."""
    try:
        keys = raw["keys"]
        flat = {"endpoint": str(raw["endpoint"]), "p256dh": str(keys["p256dh"]), "auth": str(keys["auth"])}
        _key_of(_decoded(flat["p256dh"]))
        if len(flat["endpoint"]) > _LONGEST_ADDRESS or len(_decoded(flat["auth"])) != _AUTH_BYTES:
            raise InvalidInput("push-subscription")
        flat["endpoint"] = checked(flat["endpoint"], https=True).href
    except (LookupError, TypeError, ValueError, NotFetched):
        raise InvalidInput("push-subscription") from None
    return flat


def send(subscription: Mapping[str, str], text: bytes, topic: str, member: int = 0) -> Answer:
    """Send a message in place of its topic's. `member`: whom slowness delays. Raises NotFetched, Resting."""
    endpoint = subscription["endpoint"]
    headers = {
        "Authorization": f"vapid t={_token(endpoint)}, k={public_key()}",
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(KEPT_SECONDS),
        "Topic": topic,
        "Urgency": "normal",
    }
    body = encrypted(text, _decoded(subscription["p256dh"]), _decoded(subscription["auth"]))
    return posting.post(f"member {member}", endpoint, headers, body)


def _token(endpoint: str) -> str:
    """Return what proves to a push service who sends, and how to reach them."""
    is_public = settings.SITE_URL.startswith("https://")
    sender = settings.SITE_URL if is_public else f"mailto:{parseaddr(chosen.EMAIL_FROM)[1]}"
    service = urlsplit(endpoint)
    claims = {
        "aud": f"{service.scheme}://{service.netloc}",
        "exp": int(time.time()) + _TOKEN_SECONDS,
        "sub": sender,
    }
    return jwt.encode({"typ": "JWT", "alg": "ES256"}, claims, ECKey.import_key(_site_key(settings.SECRET_KEY)))


def encrypted(
    text: bytes,
    device: bytes,
    auth: bytes,
    *,
    own: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """Return a text that only the device reads; `own` and `salt` are random unless they are given."""
    own, salt = own or ec.generate_private_key(ec.SECP256R1()), salt or os.urandom(_SALT_BYTES)
    public = _point(own.public_key())
    secret = own.exchange(ec.ECDH(), _key_of(device))
    common = _derived(secret, auth, b"WebPush: info\0" + device + public, 32)
    key = _derived(common, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(common, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + _RECORD_BYTES.to_bytes(4) + len(public).to_bytes() + public
    return head + AESGCM(key).encrypt(nonce, text + b"\2", None)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _key_of(point: bytes) -> ec.EllipticCurvePublicKey:
    """Return the key of a point on the curve. Raises ValueError."""
    if len(point) != _POINT_BYTES:
        raise ValueError("not uncompressed")
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    """Return the bytes of base64url with or without padding. Raises ValueError."""
    return urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
