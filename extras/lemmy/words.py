"""Refusals in Lemmy's words: every failure under its addresses is `{"error": word, "message": sentence}`.

Apps compare the word, and some show the sentence. The status is the site's own.
"""

from collections.abc import Mapping

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
