"""Names of members: which are valid, which are reserved, and when two names are equal; and of their tokens.

Reserved are names that could be mistaken for the site's staff, for no member, or for a page.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import islice, product

from accounts.name_characters import are_allowed, is_one_script, look_of

WORDS = (
    "abuse", "admin", "administrator", "admins", "anonymous", "api", "bot", "contact", "deleted",
    "everyone", "guest", "help", "hostmaster", "info", "login", "logout", "me", "mod", "moderator",
    "moderators", "mods", "nobody", "none", "noreply", "null", "official", "operator", "owner",
    "postmaster", "removed", "root", "security", "settings", "signup", "site", "staff", "superuser",
    "support", "sysadmin", "sysop", "system", "team", "undefined", "unknown", "user", "webmaster",
)  # fmt: skip
"""Reserved as they are, with any separators."""

TITLES = (
    "admin", "administrator", "administrators", "admins", "moderator", "moderators", "official", "staff",
    "superuser", "sysadmin", "sysop", "webmaster",
)  # fmt: skip
"""Reserved as a part of a name too: a member who is called alice-admin claims to be one."""

_TITLES_ELSEWHERE = (
    "管理员", "管理員", "管理者", "管理人", "版主", "站长", "站長", "官方", "客服",
    "運営", "モデレーター", "관리자", "운영자", "администратор", "модератор", "διαχειριστής",
    "مدير", "مشرف", "administrador", "administrateur", "moderador", "moderateur",
)  # fmt: skip
"""Reserved like titles, in whatever a name has around them: many languages put no separator between words."""

_WORDS_ELSEWHERE = (
    "系统", "系統", "匿名", "游客", "遊客", "访客", "訪客", "已删除", "已刪除", "未知",
    "机器人", "機器人", "本站", "公式", "админ", "модер", "поддержка", "система", "аноним",
    "الإدارة", "시스템", "익명",
)  # fmt: skip

_ROLES = (*TITLES, "abuse", "mod", "mods", "operator", "owner", "root", "security", "support", "system")
_COMPANIONS = (
    "account", "assistant", "chief", "community", "crew", "desk", "global", "group", "head", "lead", "main",
    "master", "members", "of", "our", "real", "senior", "service", "super", "the", "true", "verified",
)  # fmt: skip
"""Words that make a name of roles, such as mod-team, but none by themselves."""

_VOCABULARY = frozenset((*WORDS, *_COMPANIONS))

_LOOK_ALIKES = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g"}
_FORMS_LIMIT = 64


@cache
def _looks_elsewhere() -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(map(_look, _TITLES_ELSEWHERE)), frozenset(map(_look, _WORDS_ELSEWHERE))


def _is_reserved_elsewhere(look: str) -> bool:
    plain, (titles, words) = re.sub("[-_0-9]", "", look), _looks_elsewhere()
    return plain in words or any(title in plain for title in titles)


def is_word(name: str) -> bool:
    """Return whether a name, in canonical form, is one of the words, ignoring separators."""
    plain = re.sub("[-_]", "", name)
    return plain in WORDS or plain in _TITLES_ELSEWHERE or plain in _WORDS_ELSEWHERE


def _unmarked(text: str) -> str:
    """Return the text without accents."""
    return "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")


def _look(text: str) -> str:
    """Return what a name looks like without accents, where UTS 39 writes `m` as `rn`."""
    return _unmarked(look_of(text)).replace("rn", "m")


def _forms(text: str) -> set[str]:
    """Return the text as it is, without digits around it, and with the letters that its digits look like."""
    forms = {text, text.strip("0123456789")}
    for form in tuple(forms):
        similar = product(*(_LOOK_ALIKES.get(char, char) for char in form))
        forms |= {"".join(letters) for letters in islice(similar, _FORMS_LIMIT)}
    return forms - {""}


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


MIN_LENGTH, MAX_LENGTH = 2, 30
PATTERN = re.compile(rf"\A[A-Za-z][A-Za-z0-9_-]{{{MIN_LENGTH - 1},{MAX_LENGTH - 1}}}\Z")
"""The names of a site whose members' names are ASCII."""

_MOST_BYTES = 90
_MOST_TYPED = 4 * MAX_LENGTH
"""Characters of what may be a spelling of a name: decomposed Hangul has three for each."""

_DELETED = re.compile("~([1-9][0-9]{0,14})")

_SUFFIX_LENGTH = 8
_TOO_LONG = "~"  # neither a name nor what replaces a deleted one

_MOST_NORMALISED = 300
"""Characters of an imported name that are normalised: the time grows with the square of some texts' length."""


def canonical(name: str) -> str:
    """Return the form in which names are compared: `Ａlice`, `ALICE` and `alice` are equal.

    A member's has no more than MAX_LENGTH characters. Longer names are read no further, and share one form.
    """
    folded = _folded(name) if len(name) <= _MOST_TYPED else _TOO_LONG
    return folded if len(folded) <= MAX_LENGTH else _TOO_LONG


def is_valid(name: str) -> bool:
    """Return whether a member can have the name, on a site that permits any script.

    That is 2–30 letters, digits, `_` and `-` of one script, beginning with a letter; or of several that a language
    mixes, such as Han and Latin.
    """
    if PATTERN.match(name):
        return True
    return (
        MIN_LENGTH <= len(name) <= MAX_LENGTH
        and name[0].isalpha()
        and unicodedata.is_normalized("NFKC", name)
        and are_allowed(name)
        and is_one_script(name)
        and len(name.encode()) <= _MOST_BYTES
        and canonical(name) != _TOO_LONG
    )


def is_permitted(name: str, scripts: str) -> bool:
    """Return whether a new member can have the name. `scripts`: "ascii", or "any"."""
    return PATTERN.match(name) is not None or (scripts == "any" and is_valid(name))


def is_reserved(name: str, site_name: str = "") -> bool:
    """Return whether a name is not available for sign-up.

    Reserved are the words, a title as a part, and roles joined with each other or with companions (`modteam`);
    all of them also with digits around them, with digits that look like letters (`adm1n`), with accents, and in
    letters of other scripts that look the same. So is the site's own name. The name that `as_valid` gives to an
    imported `admin` is not: its suffix shows what it is.
    """
    stem, _, suffix = name.rpartition("-")
    if suffix == _suffix(stem):
        return False
    spelled, own = canonical(name), _joined(canonical(site_name))
    if _is_reserved_elsewhere(_look(spelled)) or (own and _look(_joined(spelled)) == _look(own)):
        return True
    return any(_looks_reserved(form, own) for form in {spelled, _unmarked(spelled), _look(name)})


def _joined(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _looks_reserved(name: str, own: str) -> bool:
    parts = [part for part in re.split("[-_]+", name) if part]
    if any(form in TITLES for part in parts for form in _forms(part)):
        return True
    forms = _forms("".join(parts))
    return any(form in WORDS or (own and form == own) or _is_made_of_roles(form, own) for form in forms)


_SEPARATORS = re.compile("[-_ʻʼˬՙꙿꜗ-ꜟꞈ]")
"""What names have between their letters, and the few letters that look like it."""

_DASHES = re.compile("(?<=[0-9A-Za-z])[ー一]+|[ー一]+(?=[0-9A-Za-z])")
"""Letters that look like a dash beside Latin ones."""


def look_digests(name: str) -> list[str]:
    """Return the digests that names share if they look alike. They may outlive the account, unlike the name.

    Separators make no difference: `ann_`, `a-nn` and `a__nn` look like `ann`. Nor does case, although a letter may
    look like others only in one: `ANNIE_` looks like `annie`, and `ВОВ` in Cyrillic like `bob`.
    """
    plain = _DASHES.sub("", _SEPARATORS.sub("", unicodedata.normalize("NFKC", name)))
    return sorted({look_digest(plain), look_digest(canonical(plain))})


def look_digest(name: str) -> str:
    """Return the digest under which names were kept until 0.5, when separators made a difference."""
    return sha256(look_of(name).encode()).hexdigest()[:32]


def former_name_digest(canonical_name: str) -> str:
    """Return the digest that replaces a deleted account's canonical name. Never a valid name itself."""
    digest = sha256(canonical_name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"~{digest[: MAX_LENGTH - 1]}"


def deleted_username(user_id: int) -> str:
    """Return the username that replaces a deleted account's name. Never a valid name itself."""
    return f"~{user_id}"


def deleted_id(username: str) -> int | None:
    """Return the id of the account that has this in place of its name; None for anything else."""
    found = _DELETED.fullmatch(username)
    return int(found[1]) if found else None


def as_valid(name: str, scripts: str = "ascii") -> str:
    """Return a permitted name for an imported poster: always the same one for the same name.

    A valid name is returned unchanged. An invalid name or a reserved word keeps its permitted characters and gets
    a suffix derived from the whole name, so that `bob!` does not become `bob`, and `admin` does not look official.
    """
    plain = unicodedata.normalize("NFKC", name[:_MOST_NORMALISED])
    if is_permitted(plain, scripts) and not is_word(canonical(plain)):
        return plain
    suffix = _suffix(name)
    kept = re.sub("[^A-Za-z0-9_-]", "", plain)
    if not kept[:1].isalpha():
        kept = "u" + kept
    return f"{kept[: MAX_LENGTH - _SUFFIX_LENGTH - 1]}-{suffix}"


def proposed(text: str, scripts: str) -> str:
    """Return a permitted name like a text that a person is called elsewhere; "" if too little of it remains."""
    plain = "_".join(unicodedata.normalize("NFKC", text[:_MOST_NORMALISED]).replace(".", "_").split())
    if scripts != "any" or not is_valid(plain):
        plain = re.sub("[^A-Za-z0-9_-]", "", _unmarked(plain))
    name = plain.lstrip("0123456789_-")[:MAX_LENGTH].rstrip("_-")
    return name if is_permitted(name, scripts) else ""


def _suffix(name: str) -> str:
    whole = _folded(name) if len(name) <= _MOST_NORMALISED else name
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_SUFFIX_LENGTH]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


cleaned_token_name: Callable[[str], str]
"""Returns the name of a token as displayed. Raises ValidationError if it is invisible or has hidden characters.

Set by the articles app, which has the site's rules for text.
"""
