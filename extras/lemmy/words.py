"""Refusals in Lemmy's words, and tokens in the form that its apps expect.

Every failure under Lemmy's addresses is `{"error": word, "message": sentence}`. Apps compare the word, and some
show the sentence. The status is the site's own. A token is a JSON Web Token: apps decode what a login returns.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accounts.models import Token

ROOT = "/api/v3/"

UNKNOWN = "unknown"  # Lemmy's word for what it has no word for

_TEXT, _LINK, _NAME = "invalid_body_field", "invalid_url", "invalid_post_title"

WORDS: Mapping[str, str] = {
    "login-required": "not_logged_in",
    "bad-token": "not_logged_in",
    "forbidden": "not_a_mod_or_admin",
    "banned": "site_ban",
    "member-gone": "deleted",
    "rate-limited": "rate_limit_error",
    "not-found": "couldnt_find_object",
    "article-not-found": "couldnt_find_post",
    "article-removed": "couldnt_find_post",
    "comment-not-found": "couldnt_find_comment",
    "comment-removed": "couldnt_find_comment",
    "group-not-found": "couldnt_find_community",
    "group-moved": "couldnt_find_community",
    "unknown-group": "couldnt_find_community",
    "member-unknown": "couldnt_find_person",
    "member-self": "cant_block_yourself",
    "not-the-poster": "no_post_edit_allowed",
    "editing-closed": "no_post_edit_allowed",
    "not-the-author": "no_comment_edit_allowed",
    "discussion-locked": "locked",
    "title-long": "post_title_too_long",
    **dict.fromkeys(("title-empty", "title-marks", "title-encoding"), _NAME),
    **dict.fromkeys(("text-marks", "text-encoding", "article-empty"), _TEXT),
    **{f"comment-{fault}": _TEXT for fault in ("empty", "long", "marks", "encoding")},
    **{f"link-{fault}": _LINK for fault in ("empty", "characters", "host", "private", "userinfo")},
    "link-scheme": "invalid_url_scheme",
    "link-long": "url_length_overflow",
    "link-blocked": "blocked_url",
    "reason-empty": "report_reason_required",
    "reason-long": "report_too_long",
}
"""Lemmy's words, by the codes of the site's own API. For other codes, each operation has a word."""


def body_of(code: str, sentence: str, word: str = "") -> dict[str, str]:
    """Return the JSON of a failure. `word`: where Lemmy has none for the code, which may be one of its words."""
    said = code if "_" in code else WORDS.get(code, word or UNKNOWN)
    return {"error": said, "message": sentence}


def as_jwt(token: "Token", plaintext: str, host: str) -> str:
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
