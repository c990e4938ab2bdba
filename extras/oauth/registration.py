"""What an app says of itself when it registers (RFC 7591): its name, and the addresses to which codes are sent."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from authlib.oauth2.rfc7591 import InvalidClientMetadataError, InvalidRedirectURIError
from django.core.exceptions import ValidationError

from accounts import names
from extras.oauth.models import App

MOST_BYTES = 10_000  # size of a registration

_MOST_ADDRESSES, _ADDRESS_CHARACTERS, _NAME_CHARACTERS = 5, 300, 50
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):[A-Za-z0-9:/?@!$&()*+,;=._~%\[\]-]+")
_LOOPBACK = re.compile(r"(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]{1,5})?")
"""Host and port of the device itself. `hostname` of urllib leaves out what follows an address in brackets."""


def register(body: bytes) -> App:
    """Register an app by a JSON document; facts that are not used are ignored. Raises OAuth2Error."""
    facts = _read(body)
    addresses = facts.get("redirect_uris", [])
    if not isinstance(addresses, list) or not 0 < len(addresses) <= _MOST_ADDRESSES:
        raise InvalidRedirectURIError(f"redirect_uris is a list of 1 to {_MOST_ADDRESSES}.")
    for one in addresses:
        if not is_address(one):
            raise InvalidRedirectURIError(
                "A redirect URI begins with https, with a scheme that contains a dot, or with http and a loopback "
                f"address; it has at most {_ADDRESS_CHARACTERS} characters, no fragment and no user."
            )
    if facts.get("token_endpoint_auth_method", "none") != "none":
        raise InvalidClientMetadataError("Apps have no secret: token_endpoint_auth_method is none.")
    return App.objects.register(_name(facts.get("client_name")), list(dict.fromkeys(addresses)))


def _read(body: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(body) if len(body) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise InvalidClientMetadataError(f"Send a JSON object of at most {MOST_BYTES} bytes.")
    return facts


def _name(name: object) -> str:
    try:
        cleaned = names.cleaned_token_name(name) if isinstance(name, str) else ""
    except ValidationError:
        cleaned = ""
    if not 0 < len(cleaned) <= _NAME_CHARACTERS:
        raise InvalidClientMetadataError(f"client_name is printable text of 1 to {_NAME_CHARACTERS} characters.")
    return cleaned


def is_address(address: object) -> bool:
    """Return whether codes can be sent to an address: one of the web, of the device itself, or of an app on it."""
    if not isinstance(address, str) or len(address) > _ADDRESS_CHARACTERS:
        return False
    match = _ADDRESS.fullmatch(address)
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if match is None or "@" in parts.netloc:
        return False
    if match[1] == "https":
        return bool(host)
    return bool(_LOOPBACK.fullmatch(parts.netloc)) if match[1] == "http" else "." in match[1]


def is_registered(app: App, address: str) -> bool:
    """Return whether the app registered the address. On the device itself, it may have another port (RFC 8252)."""
    known = app.addresses.split("\n")
    if address in known:
        return True
    return is_address(address) and _without_port(address) in {*map(_without_port, known)} - {None}


def _without_port(address: str) -> tuple[str, str, str] | None:
    """Return host, path and query of an address on the device itself; None for others."""
    parts = urlsplit(address)
    own = _LOOPBACK.fullmatch(parts.netloc) if parts.scheme == "http" else None
    return (own[1], parts.path, parts.query) if own else None


def home_of(address: str) -> str:
    """Return the host that gets the code, or the scheme of an app on the device; "" on the device itself."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return parts.netloc
    return "" if parts.scheme == "http" else parts.scheme
