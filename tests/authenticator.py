"""An authenticator in software, whose answers can be wrong: what a browser would send, as JSON."""

import json
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url, encode_cbor

PRESENT, VERIFIED, ELIGIBLE, BACKED_UP, ATTESTED = 0x01, 0x04, 0x08, 0x10, 0x40


class Authenticator:
    """Keeps one passkey for a host."""

    def __init__(self, name: bytes = b"a passkey of sixteen bytes") -> None:
        self._key, self.name, self.count = ec.generate_private_key(ec.SECP256R1()), name, 0

    def create(self, options: dict[str, Any], origin: str = "http://testserver", flags: int = VERIFIED) -> str:
        """Answer the options of a new passkey."""
        numbers = self._key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        key = encode_cbor({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        attested = bytes(16) + len(self.name).to_bytes(2, "big") + self.name + key
        data = self._data(options["rp"]["id"], flags | ATTESTED) + attested
        attestation = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options, origin)
        return self._answer(clientDataJSON=client, attestationObject=attestation)

    def use(
        self, options: dict[str, Any], origin: str = "http://testserver", flags: int = VERIFIED, host: str = ""
    ) -> str:
        """Answer the options of a login."""
        self.count += 1
        data = self._data(host or options["rpId"], flags)
        client = self._client("webauthn.get", options, origin)
        signature = self._key.sign(data + sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _data(self, host: str, flags: int) -> bytes:
        return sha256(host.encode()).digest() + bytes([flags | PRESENT]) + self.count.to_bytes(4, "big")

    def _client(self, kind: str, options: dict[str, Any], origin: str) -> bytes:
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": origin}).encode()

    def _answer(self, **response: bytes) -> str:
        name = bytes_to_base64url(self.name)
        fields = {field: bytes_to_base64url(value) for field, value in response.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": fields})
