"""A small OpenID Connect provider in this process, which tells the truth unless a test lets it lie."""

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from django.http import HttpResponse
from django.test import Client
from joserfc import jwk, jws, jwt
from joserfc.jws import JWSRegistry

from extras.providers.provider import Provider
from tests.html import nodes_of, tree_of

KEY, OTHER_KEY = (jwk.RSAKey.generate_key(2048, {"kid": "one"}) for _ in range(2))
SECRET = "the-secret-of-the-site-long-enough-for-a-signature"
STEPS = ("discovery", "token", "keys", "userinfo")

ANY_ALGORITHM = JWSRegistry(algorithms=["RS256", "ES256", "HS256", "none"])


def left_for(response: HttpResponse) -> str:
    """Return the address to which a page of the site leads by itself."""
    assert response.status_code == 200, response.status_code
    found = [node.attrs for node in nodes_of(tree_of(response.content)) if node.name == "meta"]
    (refresh,) = [attrs["content"] for attrs in found if attrs.get("http-equiv") == "refresh"]
    return refresh.partition("url=")[2]


def signed(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    return jwt.encode(header, claims, key, registry=ANY_ALGORITHM)


def unsigned(header: dict[str, Any], claims: dict[str, Any], _key: Any) -> str:
    return ".".join(encoded(json.dumps(part).encode()) for part in (header, claims)) + "."


def signed_depth(header: dict[str, Any], _claims: dict[str, Any], key: Any) -> str:
    """Return a signed token whose claims are lists in lists."""
    return jws.serialize_compact(header, b"[" * 100_000, key, registry=ANY_ALGORITHM)


def signed_with_public_key(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    """Return a token with the public key as the secret of its signature, which the library refuses to make."""
    text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{encoded(hmac.digest(key.as_pem(private=False), text.encode(), 'sha256'))}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class OwnProvider:
    """The provider. Each lie is an attribute, which a test changes."""

    def __init__(self, name: str = "club") -> None:
        own = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                own.answer(self)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.name, self.url = name, f"http://127.0.0.1:{self._server.server_port}"
        self.issuer = self.url
        self.requests: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.end = threading.Event()
        self._numbers = count()
        # Lies
        self.metadata: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {}
        self.key: Any = KEY
        self.sign = signed
        self.keys: list[dict[str, Any]] = [KEY.as_dict(private=False)]
        self.userinfo: Any = {}
        self.emails: Any = []
        self.token: dict[str, Any] = {}
        self.trouble: dict[str, str] = {}  # what goes wrong at a step: away, slow, huge, redirect, broken or 500

    def stop(self) -> None:
        self.end.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def settings(self, **facts: Any) -> dict[str, Provider]:
        facts = {"issuer": self.issuer, "scopes": "openid email profile", "label": self.name.capitalize()} | facts
        return {self.name: Provider(self.name, client_id="site", client_secret=SECRET, **facts)}

    # What a test does with it

    def authorise(self, address: str) -> dict[str, str]:
        """Return the answer to a login that began at this address: the query of the site's address."""
        asked = dict(parse_qsl(urlsplit(address).query))
        code = f"code {next(self._numbers)}"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def begin(self, browser: Client, where: str = "/login/with/{}/", **fields: str) -> dict[str, str]:
        """Leave the site for the provider; return the answer with which the person comes back."""
        return self.authorise(left_for(browser.post(where.format(self.name), fields)))

    def back(self, browser: Client, answer: dict[str, str], **options: Any) -> Any:
        return browser.get(f"/login/with/{self.name}/back/", answer, **options)

    def log_in(self, browser: Client, subject: str = "alice", **fields: str) -> Any:
        """Log in as this person."""
        self.claims["sub"] = subject
        return self.back(browser, self.begin(browser, **fields))

    # Its addresses

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = urlsplit(request.path).path
        step = next((one for one in STEPS if path == f"/{one}"), "discovery")
        self.requests.append(step if path != "/emails" else "emails")
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0)).decode()
        if path == "/authorize":
            asked = dict(parse_qsl(urlsplit(request.path).query))
            request.send_response(302)
            request.send_header("Location", f"{asked['redirect_uri']}?{urlencode(self.authorise(request.path))}")
            request.end_headers()
            return
        match self.trouble.get(step):
            case "away":
                request.connection.close()
            case "slow":
                self.end.wait()
            case "dripping":
                request.send_response(200)
                request.end_headers()
                with suppress(OSError):
                    while not self.end.wait(0.02):
                        request.wfile.write(b" ")
            case "huge":
                request.send_response(200)
                request.end_headers()
                with suppress(OSError):
                    while not self.end.is_set():
                        request.wfile.write(b" " * 65_536)
            case "redirect":
                request.send_response(302)
                request.send_header("Location", f"{self.url}/elsewhere")
                request.end_headers()
            case "nested":
                self._send(request, b"[" * 100_000)
            case "broken":
                self._send(request, b"<html>")
            case "500":
                self._send(request, b"{}", 500)
            case _:
                content = self._content(path, body)
                status = 400 if "error" in content else 200
                self._send(request, json.dumps(content).encode(), status)

    def _send(self, request: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _content(self, path: str, body: str) -> Any:
        match path:
            case "/token":
                return self._token({name: values[0] for name, values in parse_qs(body).items()})
            case "/keys":
                return {"keys": self.keys}
            case "/userinfo":
                return self.userinfo if self.userinfo else {"sub": self.claims.get("sub", "alice")}
            case "/emails":
                return self.emails
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        } | self.metadata

    def _token(self, form: dict[str, str]) -> dict[str, Any]:
        asked = self.codes.pop(form["code"], None)
        if asked is None or form["client_secret"] != SECRET or form["redirect_uri"] != asked["redirect_uri"]:
            return {"error": "invalid_grant"}
        if encoded(hashlib.sha256(form["code_verifier"].encode()).digest()) != asked["code_challenge"]:
            return {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "alice",
            "aud": asked["client_id"],
            "exp": now + 300,
            "iat": now,
            "nonce": asked.get("nonce"),
        }
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        header = {"alg": "RS256", "kid": "one"} | self.header
        signed = self.sign(header, claims, self.key)
        return {"access_token": "t", "token_type": "Bearer", "id_token": signed} | self.token
