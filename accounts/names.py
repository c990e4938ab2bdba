"""Names of members: which are valid, which are reserved, and when two names are equal; and of their tokens."""

import re
import unicodedata
from collections.abc import Callable
from hashlib import sha256

from accounts import reserved_names

MIN_LENGTH, MAX_LENGTH = 2, 30
PATTERN = re.compile(rf"\A[A-Za-z][A-Za-z0-9_-]{{{MIN_LENGTH - 1},{MAX_LENGTH - 1}}}\Z")
_DELETED = re.compile("~([1-9][0-9]{0,14})")

_SUFFIX_LENGTH = 8
_TOO_LONG = "~"  # neither a name nor what replaces a deleted one

_MOST_NORMALISED = 300
"""Characters of an imported name that are normalised: the time grows with the square of some texts' length."""


def canonical(name: str) -> str:
    """Return the form in which names are compared: `Ａlice`, `ALICE` and `alice` are equal.

    No spelling of a member's name is longer than MAX_LENGTH. Longer names are read no further, and share one form.
    """
    return _folded(name) if len(name) <= MAX_LENGTH else _TOO_LONG


def is_valid(name: str) -> bool:
    """Return whether the name is 2–30 ASCII letters, digits, `_` and `-`, beginning with a letter."""
    return PATTERN.match(name) is not None


def is_reserved(name: str, site_name: str = "") -> bool:
    """Return whether the name is not available for sign-up. See `accounts.reserved_names`.

    The name that `as_valid` gives to an imported `admin` is not: its suffix shows what it is.
    """
    stem, _, suffix = name.rpartition("-")
    return suffix != _suffix(stem) and reserved_names.is_reserved(canonical(name), site_name)


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


def as_valid(name: str) -> str:
    """Return a valid name for an imported poster: always the same one for the same name.

    A valid name is returned unchanged. An invalid name or a reserved word keeps its permitted characters and gets
    a suffix derived from the whole name, so that `bob!` does not become `bob`, and `admin` does not look official.
    """
    plain = unicodedata.normalize("NFKC", name[:_MOST_NORMALISED])
    if is_valid(plain) and not reserved_names.is_word(canonical(plain)):
        return plain
    suffix = _suffix(name)
    kept = re.sub("[^A-Za-z0-9_-]", "", plain)
    if not kept[:1].isalpha():
        kept = "u" + kept
    return f"{kept[: MAX_LENGTH - _SUFFIX_LENGTH - 1]}-{suffix}"


def _suffix(name: str) -> str:
    whole = _folded(name) if len(name) <= _MOST_NORMALISED else name
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_SUFFIX_LENGTH]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


# Names of tokens are cleaned as the site cleans its titles.

CleanTokenName = Callable[[str], str]
"""Returns the name as displayed. Raises ValidationError for one that is invisible or has hidden characters."""

_token_name_cleaners: list[CleanTokenName] = []


def clean_token_names_with(clean: CleanTokenName) -> None:
    """Register a cleaner. This app does not import the site's rules for text."""
    _token_name_cleaners.append(clean)


def cleaned_token_name(name: str) -> str:
    """Return the name of a token after all registered cleaners. Raises ValidationError."""
    for clean in _token_name_cleaners:
        name = clean(name)
    return name
