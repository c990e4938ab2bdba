"""Names of members: what is allowed, what is reserved, and when two names are the same."""

import re
import unicodedata
from hashlib import sha256

MIN_LENGTH, MAX_LENGTH = 2, 30
PATTERN = re.compile(rf"\A[A-Za-z][A-Za-z0-9_-]{{{MIN_LENGTH - 1},{MAX_LENGTH - 1}}}\Z")

# Names that would speak for the site, or for nobody. Compared without `-` and `_`.
RESERVED = (
    *("abuse", "admin", "administrator", "admins", "anonymous", "api", "bot", "contact", "deleted"),
    *("everyone", "guest", "help", "hostmaster", "info", "login", "logout", "me", "mod", "moderator"),
    *("moderators", "mods", "nobody", "none", "noreply", "null", "official", "operator", "owner"),
    *("postmaster", "removed", "root", "security", "settings", "signup", "site", "staff", "superuser"),
    *("support", "sysadmin", "sysop", "system", "team", "undefined", "unknown", "user", "webmaster"),
)
_MARK_LENGTH = 8


def canonical(name: str) -> str:
    """The form in which names are compared: `Ａlice`, `ALICE` and `alice` are one name."""
    return unicodedata.normalize("NFKC", name).casefold()


def is_valid(name: str) -> bool:
    """2–30 ASCII letters, digits, `_` and `-`, beginning with a letter."""
    return PATTERN.match(name) is not None


def is_reserved(name: str) -> bool:
    """Whether nobody may sign up under this name, separators put in or not."""
    return re.sub("[-_]", "", canonical(name)) in RESERVED


def of_former(canonical_name: str) -> str:
    """What is kept of a deleted account's name: enough to know it again, and no valid name itself."""
    digest = sha256(canonical_name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"~{digest[: MAX_LENGTH - 1]}"


def instead_of(user_id: int) -> str:
    """What stands in the place of a deleted account's name. No valid name."""
    return f"~{user_id}"


def as_valid(name: str) -> str:
    """A valid name for a poster who comes from elsewhere: always the same one for the same name.

    A valid name stays. Any other one, and a reserved one, keeps its permitted characters and gets a mark made
    from the whole name, so that `bob!` does not become `bob`, nor `admin` an account that seems official.
    """
    plain = unicodedata.normalize("NFKC", name)
    if is_valid(plain) and not is_reserved(plain):
        return plain
    mark = sha256(canonical(name).encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
    kept = re.sub("[^A-Za-z0-9_-]", "", plain)
    if not kept[:1].isalpha():
        kept = "u" + kept
    return f"{kept[: MAX_LENGTH - _MARK_LENGTH - 1]}-{mark}"
