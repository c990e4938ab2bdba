"""OpenID Connect with a provider: where it is, the address that leads to it, and who comes back from it.

authlib builds requests and checks claims, joserfc checks signatures. They take 20 MB: `provider.visit`
imports this module when it is needed. What a provider says is read with distrust: a lie, its own or an attacker's,
is Refused. Whatever prevents an answer is ProviderAway.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from extras.providers.http import bounded
from extras.providers.provider import GITHUB, TENANT, Declined, Person, Provider, ProviderAway, Refused, Unproven

ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
)
"""Signatures that are accepted: those with a private key. `none`, and the client secret as a key, are not."""

KEPT_SECONDS = 3600  # for which a process keeps what a provider says about itself
KEYS_EVERY = 60  # seconds between two looks for an unknown key: tokens with invented keys cause no flood
AWAY_SECONDS = 10  # for which a process does not ask a provider again that was away
LEEWAY = 60  # seconds by which clocks may differ

_LONGEST = 255
_LATEST = 1 << 53  # seconds: later times are not exact in JSON

GITHUB_METADATA: dict[str, Any] = {
    "issuer": GITHUB,
    "authorization_endpoint": f"{GITHUB}/login/oauth/authorize",
    "token_endpoint": f"{GITHUB}/login/oauth/access_token",
    "userinfo_endpoint": "https://api.github.com/user",
    "emails_endpoint": "https://api.github.com/user/emails",
    "token_endpoint_auth_methods_supported": ["client_secret_post"],
}
"""What GitHub says about itself in its documentation: it has no discovery."""

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_FURTHER_ENDPOINTS = ("userinfo_endpoint", "end_session_endpoint")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Known:
    """What this process knows about a provider. Times are of the monotonic clock."""

    metadata: dict[str, Any] = field(default_factory=dict)
    read_at: float = 0
    keys: KeySet | None = None
    keys_read_at: float = 0
    away_until: float = 0


_known: dict[str, _Known] = {}


def forget() -> None:
    """Forget what this process knows about providers."""
    _known.clear()


def _about(provider: Provider) -> _Known:
    return _known.setdefault(provider.issuer, _Known())


class Visit:
    """What one page asks a provider, within the time of one exchange."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._about = _about(provider)
        self._session = OAuth2Session(
            provider.client_id, provider.client_secret, scope=provider.scopes, code_challenge_method="S256"
        )
        bounded(self._session)

    # Discovery

    def metadata(self) -> dict[str, Any]:
        """Return what the provider says about itself. Raises ProviderAway."""
        now, about = time.monotonic(), self._about
        if self.provider.is_github:
            return GITHUB_METADATA
        if now < about.away_until:
            raise ProviderAway("it did not answer a moment ago")
        if about.metadata and now < about.read_at + KEPT_SECONDS:
            return about.metadata
        base = self.provider.issuer.replace(TENANT, "common").removesuffix("/")
        read: dict[str, Any] = self._get(f"{base}/.well-known/openid-configuration")
        if read.get("issuer") != self.provider.issuer:
            raise ProviderAway(f"it calls itself {str(read.get('issuer'))[:_LONGEST]!r}")
        for name in (*_ENDPOINTS, *(one for one in _FURTHER_ENDPOINTS if one in read)):
            if not self._is_endpoint(read.get(name)):
                raise ProviderAway(f"its {name} is missing, or has no TLS")
        about.metadata, about.read_at = read, now
        return read

    def _is_endpoint(self, address: object) -> bool:
        """Return whether an address has TLS; one on this machine needs none, if the provider has none."""
        if not isinstance(address, str):
            return False
        parts, issuer = urlsplit(address), urlsplit(self.provider.issuer)
        is_as_plain = issuer.scheme == parts.scheme == "http" and parts.hostname == issuer.hostname
        return bool(parts.hostname) and (parts.scheme == "https" or is_as_plain)

    def algorithms(self) -> list[str]:
        """Return the algorithms that both the provider and the site know. Raises ProviderAway."""
        offered = self.metadata().get("id_token_signing_alg_values_supported") or ["RS256"]
        return sorted(ALGORITHMS.intersection(str(one) for one in offered))

    def end_session_address(self) -> str:
        """Return where the provider logs out; "" if nowhere. Raises ProviderAway."""
        return str(self.metadata().get("end_session_endpoint") or "")

    # The way there

    def address(self, back: str, *, fresh: bool) -> tuple[str, dict[str, Any]]:
        """Return the address that leads to the provider, and what the session keeps until the person is back.

        `back`: the site's own address for this provider. `fresh`: the provider shall ask who it is. Raises
        ProviderAway.
        """
        kept = {"state": generate_token(32), "nonce": generate_token(32), "verifier": generate_token(64)}
        further: dict[str, str] = {} if self.provider.is_github else {"nonce": kept["nonce"]}
        if fresh:
            further |= {"prompt": "login", "max_age": "0"}
        address, _state = self._session.create_authorization_url(
            self.metadata()["authorization_endpoint"],
            state=kept["state"],
            code_verifier=kept["verifier"],
            redirect_uri=back,
            **further,
        )
        return address, kept | {"at": int(time.time()), "fresh": fresh}

    # The way back

    def person(self, kept: Mapping[str, Any], answer: Mapping[str, str], back: str) -> Person:
        """Return who came back, after all checks. Raises Declined, Refused and ProviderAway."""
        metadata = self.metadata()
        self._check_answer(metadata, answer)
        token = self._token(metadata, kept["verifier"], answer["code"], back)
        if self.provider.is_github:
            if kept["fresh"]:
                raise Unproven("it has no ID tokens")
            return self._github_user(metadata, token)
        claims = self._claims(token, kept)
        if "userinfo_endpoint" in metadata and not self._has_all(claims):
            further = self._get(metadata["userinfo_endpoint"], token)
            if further.get("sub") != claims["sub"]:
                raise Refused("userinfo is about someone else")
            claims = further | claims
        return _as_person(self.provider, claims)

    def _check_answer(self, metadata: Mapping[str, Any], answer: Mapping[str, str]) -> None:
        """Check that the answer is of this provider (RFC 9207), and has a code."""
        issuer, is_announced = answer.get("iss"), metadata.get("authorization_response_iss_parameter_supported")
        if (issuer is not None or is_announced is True) and not self.provider.issues_as(issuer or ""):
            raise Refused("the answer is of another issuer")
        match answer.get("error"):
            case None:
                pass
            case "access_denied" | "login_required" | "interaction_required" | "consent_required":
                raise Declined
            case "server_error" | "temporarily_unavailable":
                raise ProviderAway("it reports a failure of its own")
            case error:
                raise Refused(f"error {error[:_LONGEST]!r}")
        if not answer.get("code"):
            raise Refused("no code")

    def _token(self, metadata: Mapping[str, Any], verifier: str, code: str, back: str) -> dict[str, Any]:
        methods = metadata.get("token_endpoint_auth_methods_supported") or ()
        post = "client_secret_post"
        self._session.token_endpoint_auth_method = post if post in methods else "client_secret_basic"
        try:
            token: dict[str, Any] = self._session.fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
                redirect_uri=back,
            )
        except OAuthError as error:
            if error.error in ("invalid_client", "unauthorized_client"):
                raise ProviderAway("it does not accept the site's client id and secret") from error
            raise Refused(f"the code was refused: {str(error.error)[:_LONGEST]!r}") from error
        except (requests.RequestException, ValueError, TypeError, RecursionError) as error:
            raise self._away(error) from error
        if not isinstance(token.get("access_token"), str):
            raise Refused("no access token")
        return token

    def _claims(self, token: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return the claims of the ID token. Raises Refused, ProviderAway."""
        text = token.get("id_token")
        if not isinstance(text, str):
            raise Refused("no ID token")
        try:
            decoded = self._decoded(text)
            _check_times(decoded.claims)
            if kept["fresh"]:
                _check_proof(decoded.claims, kept["at"])
            options: dict[str, Any] = {"aud": {"essential": True, "value": self.provider.client_id}}
            params = {
                "nonce": kept["nonce"],
                "client_id": self.provider.client_id,
                "access_token": token["access_token"],
            }
            CodeIDToken(decoded.claims, decoded.header, options, params).validate(leeway=LEEWAY)
        except (JoseError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Refused(f"ID token: {type(error).__name__}: {error}") from error
        claims = decoded.claims
        if not self._is_issuer(claims):
            raise Refused("ID token: of another issuer")
        if not (isinstance(claims["sub"], str) and 0 < len(claims["sub"]) <= _LONGEST):
            raise Refused("ID token: no subject")
        return claims

    def _is_issuer(self, claims: Mapping[str, Any]) -> bool:
        issuer = claims["iss"]
        expected = self.provider.issuer.replace(TENANT, str(claims.get("tid")))
        return isinstance(issuer, str) and issuer == expected and self.provider.issues_as(issuer)

    def _decoded(self, text: str) -> jwt.Token:
        """Return a token whose signature is right; read the keys again if its key is unknown."""
        registry = JWSRegistry(algorithms=self.algorithms(), strict_check_header=False)
        try:
            return jwt.decode(text, self._keys(), registry=registry)
        except InvalidKeyIdError:
            if time.monotonic() < self._about.keys_read_at + KEYS_EVERY:
                raise
            return jwt.decode(text, self._keys(again=True), registry=registry)

    def _keys(self, *, again: bool = False) -> KeySet:
        about = self._about
        if again or about.keys is None or time.monotonic() > about.keys_read_at + KEPT_SECONDS:
            read = self._get(self.metadata()["jwks_uri"])
            try:
                public = [key for key in read["keys"] if key.get("kty") in ("RSA", "EC", "OKP")]
                about.keys = KeySet.import_key_set({"keys": public})
            except (JoseError, ValueError, TypeError, LookupError, AttributeError) as error:
                raise ProviderAway("its keys cannot be read") from error
            about.keys_read_at = time.monotonic()
        return about.keys

    def _has_all(self, claims: Mapping[str, Any]) -> bool:
        rule = self.provider.moderators
        return "email" in claims and (rule is None or _claim(claims, rule[0]) is not None)

    def _github_user(self, metadata: Mapping[str, Any], token: Mapping[str, Any]) -> Person:
        user = self._get(metadata["userinfo_endpoint"], token)
        if not isinstance(user.get("id"), int):
            raise Refused("no user id")
        asks = "email" in self.provider.scopes
        addresses = self._get(metadata["emails_endpoint"], token, list) if asks else []
        verified = [one for one in addresses if isinstance(one, dict) and one.get("verified") is True]
        first = next((one.get("email") for one in verified if one.get("primary") is True), None)
        claims = {"iss": GITHUB, "sub": str(user["id"]), "preferred_username": user.get("login")}
        claims |= {"name": user.get("name"), "email": first, "email_verified": first is not None}
        return _as_person(self.provider, claims)

    # Requests

    def _get(self, address: str, token: Mapping[str, Any] | None = None, kind: type = dict) -> Any:
        """Return the JSON at an address, of this kind. Raises ProviderAway."""
        headers = {"Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token['access_token']}"
        try:
            answer = self._session.request("GET", address, withhold_token=True, headers=headers)
            answer.raise_for_status()
            read = answer.json()
            if not isinstance(read, kind):
                raise ValueError(f"no JSON {kind.__name__} at {address}")
        except (requests.RequestException, ValueError, RecursionError) as error:
            raise self._away(error) from error
        return read

    def _away(self, error: Exception) -> ProviderAway:
        if isinstance(error, requests.ConnectionError):  # others cost no time
            self._about.away_until = time.monotonic() + AWAY_SECONDS
        return ProviderAway(str(error)[:_LONGEST])


def _check_times(claims: Mapping[str, Any]) -> None:
    """Raise ValueError for a time that is none: the libraries take `true` for 1, and compare with infinity."""
    for name in ("exp", "iat", "nbf"):
        if name in claims and not _is_time(claims[name]):
            raise ValueError(f"{name} is no time")


def _check_proof(claims: Mapping[str, Any], asked_at: int) -> None:
    """Raise Unproven unless the person has logged in there since the site asked for it."""
    at = claims.get("auth_time")
    if not _is_time(at) or not asked_at - LEEWAY <= at <= time.time() + LEEWAY:
        raise Unproven(f"a login of {str(at)[:_LONGEST]!r}, asked for at {asked_at}")


def _is_time(value: Any) -> TypeGuard[float]:
    """Return whether a claim is a NumericDate (RFC 7519): a number of seconds since 1970."""
    return type(value) in (int, float) and 0 <= value <= _LATEST


def _as_person(provider: Provider, claims: Mapping[str, Any]) -> Person:
    """Return who the claims are about. They are used where they have the right kind and length."""

    def text(name: str) -> str:
        value = claims.get(name)
        return value.strip() if isinstance(value, str) and len(value) <= _LONGEST and value.isprintable() else ""

    email = text("email")
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    preferred, rule = text("preferred_username"), provider.moderators  # at some providers, an address
    names = [preferred.partition("@")[0], text("nickname"), email.partition("@")[0], text("name")]
    return Person(
        provider.name,
        claims["iss"],
        claims["sub"],
        (email or preferred or text("name"))[:254],
        email,
        email != "" and claims.get("email_verified") is True,
        list(dict.fromkeys(filter(None, names))),
        rule is not None and _has_value(_claim(claims, rule[0]), rule[1]),
    )


def _claim(claims: Mapping[str, Any], path: str) -> Any:
    """Return the claim with this name, or inside others by a dotted one; None without it."""
    if path in claims:
        return claims[path]
    name, _dot, rest = path.partition(".")
    inner = claims.get(name)
    return _claim(inner, rest) if rest and isinstance(inner, dict) else None


def _has_value(claim: Any, value: str) -> bool:
    """Return whether a claim is the value, or a list that has it."""
    return value in claim if isinstance(claim, list) else claim == value or (claim is True and value == "true")
