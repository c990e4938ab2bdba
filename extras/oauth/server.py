"""The authorization server: authlib's grants, with this site's apps, requests and tokens.

Every app is a public client: it has no secret, and proves by PKCE that it is the one that asked. Access tokens are
tokens of the API like those that members create. Codes and refresh tokens work once; the second use of one revokes
what it gave.
"""

import re
import secrets
from collections.abc import Collection
from datetime import timedelta
from functools import cache
from typing import Any

from authlib.common.urls import add_params_to_uri
from authlib.integrations.django_oauth2 import AuthorizationServer, RevocationEndpoint
from authlib.integrations.django_oauth2.requests import DjangoOAuth2Payload, DjangoOAuth2Request
from authlib.oauth2.rfc6749 import OAuth2Request
from authlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone

from accounts.models import READ, SCOPES, Token, User
from accounts.models.tokens import digest_of
from articles.configuration.choices import site_address
from extras.oauth import registration
from extras.oauth.models import App, AppRequest, Grant, family_of

CODE_LIFE, ACCESS_LIFE = timedelta(minutes=1), timedelta(hours=1)

_GRANTS = (AuthorizationCodeGrant.GRANT_TYPE, RefreshTokenGrant.GRANT_TYPE)
_CLIENT_ID = re.compile("[A-Za-z0-9_-]{22}")
_CHARACTERS = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]*")
"""What these consist of (RFC 6749, appendix A). authlib raises ValueError for others in its errors."""

PARAMETERS = frozenset(
    (
        "client_id", "response_type", "redirect_uri", "scope", "code_challenge", "code_challenge_method",
        "grant_type", "code", "code_verifier", "refresh_token", "token", "token_type_hint",
    )
)  # fmt: skip
"""What apps send, besides `state`, which can be any text, and what other servers know."""


def metadata(request: HttpRequest) -> dict[str, Any]:
    """Return what apps need to know of the server (RFC 8414)."""
    issuer = site_address(request)
    return {
        "issuer": issuer,
        "authorization_endpoint": issuer + reverse("articles:authorize"),
        "token_endpoint": issuer + reverse("articles:app_token"),
        "registration_endpoint": issuer + reverse("articles:register_app"),
        "revocation_endpoint": issuer + reverse("articles:revoke_app_token"),
        "scopes_supported": [*SCOPES],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [*_GRANTS],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": issuer + reverse("api:docs"),
    }


def described(app: App) -> dict[str, Any]:
    """Return what the site knows of an app (RFC 7591)."""
    return {
        "client_id": app.client_id,
        "client_id_issued_at": int(app.created_at.timestamp()),
        "client_name": app.name,
        "redirect_uris": app.addresses.split("\n"),
        "grant_types": [*_GRANTS],
        "response_types": ["code"],
        "scope": " ".join(SCOPES),
        "token_endpoint_auth_method": "none",
    }


def check(fields: QueryDict) -> None:
    """Raise InvalidRequestError unless each parameter comes once, in the characters that OAuth has for it."""
    known = [values for name, values in fields.lists() if name in PARAMETERS]
    if not all(len(values) == 1 and _CHARACTERS.fullmatch(values[0]) for values in known):
        raise InvalidRequestError("Each parameter comes once, in printable ASCII.")


def limited(asked: str, allowed: Collection[str]) -> str:
    """Return those of the scopes that are allowed. Every token can read."""
    return " ".join(one for one in SCOPES if one == READ or (one in asked.split() and one in allowed))


class _Client:
    """An app, as authlib asks about it."""

    def __init__(self, app: App) -> None:
        self.app = app

    def get_default_redirect_uri(self) -> str:
        return ""  # apps name it

    def get_allowed_scope(self, scope: str | None) -> str:
        return limited(scope or "", SCOPES)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return registration.is_registered(self.app, redirect_uri)

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, _grant_type: str) -> bool:
        return True


def _active(member: int | None) -> User | None:
    return User.objects.filter(pk=member, is_active=True, left_at=None).first()


class _Request(DjangoOAuth2Request):  # type: ignore[misc]
    """A request of Django, at an address that authlib takes for secure: the operator decides on https."""

    def __init__(self, request: HttpRequest) -> None:
        OAuth2Request.__init__(self, request.method, f"https://site{request.path}", headers=request.headers)
        self.payload = DjangoOAuth2Payload(request)
        self._request = request


class _PublicClients:
    TOKEN_ENDPOINT_AUTH_METHODS = CLIENT_AUTH_METHODS = ("none",)


class _Challenge(CodeChallenge):  # type: ignore[misc]
    """PKCE by S256, from the beginning: authlib misses a challenge only once the code is used."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        if not {"code_challenge", "code_challenge_method"} <= grant.request.payload.data.keys():
            raise InvalidRequestError("PKCE with S256 is required.")
        super().validate_code_challenge(grant, redirect_uri)

    def get_authorization_code_challenge(self, code: AppRequest) -> str:
        return code.challenge

    def get_authorization_code_challenge_method(self, _code: AppRequest) -> str:
        return "S256"


class _CodeGrant(_PublicClients, AuthorizationCodeGrant):  # type: ignore[misc]
    def save_authorization_code(self, code: str, request: Any) -> None:
        AppRequest.objects.add(
            request.client.app,
            code,
            CODE_LIFE,
            user=request.user,
            scopes=limited(request.scope, request.chosen),
            address=request.payload.redirect_uri,
            challenge=request.payload.data["code_challenge"],
        )

    def query_authorization_code(self, text: str, client: _Client) -> AppRequest | None:
        """Return a code that can be used. One that was used before is a copy: it revokes what the code gave."""
        code = AppRequest.objects.find(text)
        if code is None or code.app_id != client.app.pk:
            return None
        if code.is_used and code.token:
            code.token.delete()
        return None if code.is_used or code.expires_at <= timezone.now() else code

    def authenticate_user(self, code: AppRequest) -> User | None:
        """Use up the code; return the member who allowed it, None if it was used before."""
        return _active(code.user_id) if code.use() else None

    def delete_authorization_code(self, code: AppRequest) -> None:
        """Keep it for a while, to recognise a copy."""


class _RefreshGrant(_PublicClients, RefreshTokenGrant):  # type: ignore[misc]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Grant | None:
        return Grant.objects.find(refresh_token)

    def authenticate_user(self, refresh_token: Grant) -> User:
        """Return the member. Raises InvalidGrantError, by which apps know that they have to ask again."""
        if (member := _active(refresh_token.token.user_id)) is None:
            raise InvalidGrantError
        return member

    def issue_token(self, user: User, refresh_token: Grant) -> dict[str, Any]:
        self.request.payload.data["scope"] = None  # the grant keeps its scopes, also if the app asks for less
        issued: dict[str, Any] = super().issue_token(user, refresh_token)
        family = family_of(self.request.form["refresh_token"])
        return issued | {"refresh_token": _refresh_token(family)}

    def revoke_old_credential(self, refresh_token: Grant) -> None:
        """It was replaced when the new one was saved."""


class _Revocation(_PublicClients, RevocationEndpoint):  # type: ignore[misc]
    def query_token(self, token_string: str, _hint: str | None) -> Grant | None:
        """Return the grant of either token, also of an access token that has expired."""
        by_access = Grant.objects.filter(token__digest=digest_of(token_string)).select_related("app", "token")
        return Grant.objects.find(token_string) or by_access.first()

    def revoke_token(self, token: Grant, _request: Any) -> None:
        token.token.delete()


class _Server(AuthorizationServer):  # type: ignore[misc]
    def query_client(self, client_id: str) -> _Client | None:
        app = App.objects.filter(client_id=client_id).first() if _CLIENT_ID.fullmatch(client_id) else None
        return _Client(app) if app else None

    def create_oauth2_request(self, request: HttpRequest | _Request) -> _Request:
        return request if isinstance(request, _Request) else _Request(request)

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        """Store the digests of a new pair. Raises InvalidGrantError if another request was first."""
        access, refresh = token["access_token"], token["refresh_token"]
        if request.refresh_token:
            if not Grant.objects.renew(request.refresh_token, access, refresh, ACCESS_LIFE):
                raise InvalidGrantError
            return
        asked = request.authorization_code
        grant = Grant.objects.give(request.client.app, request.user, asked.scopes, access, refresh, ACCESS_LIFE)
        AppRequest.objects.filter(pk=asked.pk).update(token=grant.pk)

    def send_signal(self, *_args: Any, **_facts: Any) -> None:
        """Nothing listens."""


def _generate(*, scope: str, **_facts: Any) -> dict[str, Any]:
    return {
        "token_type": "Bearer",
        "access_token": Token.objects.PREFIX + secrets.token_urlsafe(32),
        "expires_in": int(ACCESS_LIFE.total_seconds()),
        "refresh_token": _refresh_token(f"avr_{secrets.token_urlsafe(16)}"),
        "scope": scope,
    }


def _refresh_token(family: str) -> str:
    return f"{family}.{secrets.token_urlsafe(32)}"


@cache
def server() -> _Server:
    """Return the server of this process."""
    made = _Server(App, Token)
    made.scopes_supported = SCOPES
    made.register_token_generator("default", _generate)
    made.register_grant(_CodeGrant, [_Challenge(required=True)])
    made.register_grant(_RefreshGrant)
    made.register_endpoint(_Revocation)
    return made


def read_authorization_request(request: HttpRequest) -> Any:
    """Return the grant that an app asks a member for, as authlib has it. Raises OAuth2Error."""
    check(request.GET)
    check(request.POST)
    return server().get_consent_grant(request, request.user)


def address_after(request: HttpRequest, grant: Any, scopes: Collection[str] | None) -> str:
    """Return the app's address with a code for these scopes, or with a refusal if they are None."""
    grant.request.chosen = scopes
    member = None if scopes is None else request.user
    response = server().create_authorization_response(grant.request, member, grant)
    return str(add_params_to_uri(response["Location"], [("iss", site_address(request))]))  # RFC 9207
