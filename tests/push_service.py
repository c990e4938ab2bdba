"""A push service, and browsers that subscribe to it.

It speaks RFC 8030 over TLS, and takes a message only from the site to which the browser subscribed: it checks the
token (RFC 8292). A browser reads a message with its keys (RFC 8291).
"""

import json
import os
import socket
import ssl
import threading
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from outgoing.fetching import World
from tests.certificates import make_certificate

HOST, PUBLIC = "push.example.org", "93.184.216.34"


def encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class FakeBrowser:
    """A browser with a subscription."""

    def __init__(self, name: str = "firefox") -> None:
        self.endpoint = f"https://{HOST}/{name}"
        self._key, self._auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)

    @property
    def subscription(self) -> dict[str, Any]:
        """As `PushSubscription.toJSON()` has it."""
        keys = {"p256dh": encoded(point_of(self._key)), "auth": encoded(self._auth)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def read(self, body: bytes) -> dict[str, Any]:
        """Decrypt a message."""
        salt, length = body[:16], body[20]
        sender, text = body[21 : 21 + length], body[21 + length :]
        shared = self._key.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        )
        info = b"WebPush: info\0" + point_of(self._key) + sender
        common = HKDF(SHA256(), 32, self._auth, info).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(common)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(common)
        padded = AESGCM(key).decrypt(nonce, text, None)
        message: dict[str, Any] = json.loads(padded.rstrip(b"\0").removesuffix(b"\2"))
        return message


def check_token(authorization: str, origin: str, known: str) -> dict[str, Any]:
    """Return the claims of the site whose key is known. Raises for others."""
    assert authorization.startswith("vapid ")
    parts = dict(part.strip().split("=", 1) for part in authorization.removeprefix("vapid ").split(","))
    assert parts["k"] == known, "another site"
    signed, _dot, signature = parts["t"].rpartition(".")
    raw = decoded(signature)
    assert len(raw) == 64
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(known))
    numbers = (int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    public.verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(SHA256()))
    head, claims = (json.loads(decoded(part)) for part in signed.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    assert claims["aud"] == origin, "for another service"
    assert time.time() < claims["exp"] <= time.time() + 86_400
    assert claims["sub"].startswith(("mailto:", "https://"))
    found: dict[str, Any] = claims
    return found


class PushService:
    """Takes messages, and answers as it is told."""

    def __init__(self, folder: Path) -> None:
        certificate, key = make_certificate(folder, HOST)
        self.trust = ssl.create_default_context(cafile=str(certificate))
        self.taken: list[tuple[str, Mapping[str, str], bytes]] = []
        self.claims: list[dict[str, Any]] = []
        self.answers: list[tuple[int, Mapping[str, str]]] = []  # what it answers next, in this order; then 201
        self.seconds = 0.0  # it answers after
        self.hangs = False  # it does not answer until the site gives up
        self.addresses = [PUBLIC]
        self.known = ""  # the public key of the site that may send
        self.connected: list[str] = []
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self._server, self.port = server, server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def world(self) -> World:
        """The internet, in which the service has a public address."""

        def connect(address: tuple[str, int], timeout: float) -> socket.socket:
            self.connected.append(address[0])
            assert address[1] == 443
            return socket.create_connection(("127.0.0.1", self.port), timeout)

        return World(resolve=lambda _host, _port: self.addresses, connect=connect, trust=self.trust)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 5

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if service.hangs:
                    with suppress(OSError):
                        self.rfile.read(1)
                    return
                time.sleep(service.seconds)
                status, headers = service.answer(self.path, dict(self.headers), body)
                self.send_response(status)
                for name, value in {"Content-Length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Mapping[str, str]]:
        """Check a message as RFC 8030 and 8292 say, and keep it."""
        try:
            self.claims.append(check_token(headers["Authorization"], f"https://{HOST}", self.known))
        except Exception as refused:
            return 403, {"X-Reason": str(refused)}
        if not headers.get("TTL", "").isdecimal():
            return 400, {}
        if headers.get("Content-Encoding") != "aes128gcm" or len(headers.get("Topic", "")) > 32:
            return 400, {}
        if len(body) > 4096:
            return 413, {}
        if self.answers:
            return self.answers.pop(0)
        self.taken.append((path, headers, body))
        return 201, {"Location": f"https://{HOST}/m/{len(self.taken)}"}
