"""Names that could be mistaken for the site's staff, for no member, or for a page."""

import re
from functools import cache
from itertools import product

WORDS = (
    *("abuse", "admin", "administrator", "admins", "anonymous", "api", "bot", "contact", "deleted"),
    *("everyone", "guest", "help", "hostmaster", "info", "login", "logout", "me", "mod", "moderator"),
    *("moderators", "mods", "nobody", "none", "noreply", "null", "official", "operator", "owner"),
    *("postmaster", "removed", "root", "security", "settings", "signup", "site", "staff", "superuser"),
    *("support", "sysadmin", "sysop", "system", "team", "undefined", "unknown", "user", "webmaster"),
)
"""Reserved as they are, with any separators."""

TITLES = (
    *("admin", "administrator", "administrators", "admins", "moderator", "moderators", "official", "staff"),
    *("superuser", "sysadmin", "sysop", "webmaster"),
)
"""Reserved as a part of a name too: a member who is called alice-admin claims to be one."""

_ROLES = (*TITLES, "abuse", "mod", "mods", "operator", "owner", "root", "security", "support", "system")
_COMPANIONS = (
    *("account", "assistant", "chief", "community", "crew", "desk", "global", "group", "head", "lead", "main"),
    *("master", "members", "of", "our", "real", "senior", "service", "super", "the", "true", "verified"),
)
"""Words that make a name of roles, such as mod-team, but none by themselves."""

_VOCABULARY = frozenset((*WORDS, *_COMPANIONS))

_LOOK_ALIKES = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g"}
_FORMS_LIMIT = 64


def is_reserved(name: str, site_name: str = "") -> bool:
    """Return whether a name, in canonical form, is not available for sign-up.

    Reserved are the words, a title as a part, and roles joined with each other or with companions (`modteam`);
    all of them also with digits around them, and with digits that look like letters (`adm1n`). So is the site's
    own name.
    """
    own = re.sub("[^a-z0-9]", "", site_name.casefold())
    parts = [part for part in re.split("[-_]+", name) if part]
    if any(form in TITLES for part in parts for form in _forms(part)):
        return True
    forms = _forms("".join(parts))
    return any(form in WORDS or (own and form == own) or _is_made_of_roles(form, own) for form in forms)


def is_word(name: str) -> bool:
    """Return whether a name, in canonical form, is one of the words, ignoring separators."""
    return re.sub("[-_]", "", name) in WORDS


def _forms(text: str) -> set[str]:
    """Return the text as it is, without digits around it, and with the letters that its digits look like."""
    plain = {text, text.strip("0123456789")}
    return {letters for form in plain for letters in _as_letters(form)} - {""}


def _as_letters(text: str) -> list[str]:
    choices = [_LOOK_ALIKES.get(char, char) for char in text]
    similar = ["".join(letters) for letters, _ in zip(product(*choices), range(_FORMS_LIMIT), strict=False)]
    return [text, *similar]


def _is_made_of_roles(text: str, own: str) -> bool:
    """Return whether the text is known words in a row, at least one of them a role or the site's name."""
    words = _VOCABULARY | ({own} if len(own) > 1 else set())
    roles = {*_ROLES, own} - {""}

    @cache
    def splits(start: int, has_role: bool) -> bool:
        if start == len(text):
            return has_role
        ends = (end for end in range(start + 1, len(text) + 1) if text[start:end] in words)
        return any(splits(end, has_role or text[start:end] in roles) for end in ends)

    return splits(0, False)
