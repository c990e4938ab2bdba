"""Tokens in the form of JSON Web Tokens, for apps that decode what their login returned."""

import json
from base64 import urlsafe_b64encode

from accounts.models import Token


def as_jwt(token: Token, plaintext: str, host: str) -> str:
    """Return a token in the form of a JSON Web Token.

    The token itself takes the place of the signature, and only it is checked: the rest tells the app whose it is.
    All parts are of letters and digits alone, as ASCII without `>`, `?` and `~` is in base64, but for the last.
    """
    header = {"typ": "JWT", "alg": "HS256"}  # as Lemmy's: libraries refuse names that they do not know
    claims = {"sub": str(token.user_id), "iss": host, "iat": int(token.created_at.timestamp())}
    parts = (
        urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).decode().rstrip("=")
        for part in (header, claims)
    )
    return ".".join((*parts, plaintext))


def token_in(text: str) -> str:
    """Return the token in a JSON Web Token of `as_jwt`; any other text as it is."""
    return text.rpartition(".")[2] if text.count(".") == 2 else text
