"""Every variable that an operator can set, with its default and range. docs/configuration.md says what each means.

`loading.py` parses the values by this table, and `make docs` writes the other columns of that page from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from articles.configuration import colours
from articles.configuration.kinds import BadSetting, Kind, choice_of
from articles.domain import extras
from articles.domain.limits import BY_NAME
from voting_site.configuration.kinds import KINDS, LANGUAGES


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable. `low` and `high` are inclusive bounds of numbers; none if `high` is 0."""

    name: str
    kind: str
    default: str
    low: int = 0
    high: int = 0
    in_browser: bool = False
    """Whether administrators can change it in the browser, unless the environment sets it."""

    choices: Mapping[str, str] = field(default_factory=dict)
    """Of the kind "choice": the possible texts, with their labels."""

    def parse(self, text: str) -> Any:
        """Return the value of `text`, or the default if it is blank. Raises BadSetting."""
        given = text if self.kind == "secret" else text.strip()
        if not text.strip():
            given = self.default
        if not given:
            return self._kind.empty
        value = self._kind.parse(self.name, given)
        if self.range and value is not None and not self.low <= value <= self.high:
            raise BadSetting(f"{self.name}={given} is outside {self.range}.")
        return value

    def parse_saved(self, text: str) -> Any:
        """Return the value of a text that was right when it was saved. Raises BadSetting."""
        return self.parse(self._kind.still(text))

    @property
    def _kind(self) -> Kind:
        return choice_of(*self.choices) if self.choices else KINDS[self.kind]

    @property
    def is_secret(self) -> bool:
        """Return whether the text is shown nowhere, and encrypted in the database."""
        return self._kind.is_secret

    @property
    def range(self) -> str:
        """The permitted range, such as `1–64`; empty if there is none."""
        return f"{self.low}–{self.high}" if self.high else ""


VARIABLES = (
    Variable("HOST", "host", "127.0.0.1"),
    Variable("PORT", "number", "8000", 1, 65535),
    Variable("WEB_WORKERS", "number", "2", 1, 64),
    Variable("WEB_THREADS", "number", "2", 1, 128),
    Variable("DATA_DIR", "directory", "var"),
    Variable("SITE_NAME", "name", "Article Voting", in_browser=True),
    Variable("SITE_MARK", "mark", "", in_browser=True),
    Variable("SITE_ACCENT", "accent", colours.DEFAULT, in_browser=True),
    Variable("SITE_LANGUAGES", "list of languages", ",".join(LANGUAGES), in_browser=True),
    Variable("SITE_URL", "address", ""),
    Variable("ALLOWED_HOSTS", "list of hosts", ""),
    Variable("BEHIND_PROXY", "yes/no", "0"),
    Variable("HSTS_SUBDOMAINS", "yes/no", "0"),
    Variable("TRUSTED_PROXIES", "list of networks", ""),
    Variable("SECRET_KEY", "secret", ""),
    Variable("DEBUG", "yes/no", "0"),
    Variable("TIME_ZONE", "time zone", "UTC"),
    Variable("DATABASE_URL", "database", ""),
    Variable("REDIS_URL", "store", ""),
    Variable("STORE_SERVER", "program", ""),
    Variable("CACHE_URL", "cache", ""),
    Variable("STORE_SHARDS", "number", "1", 1, 1024),
    Variable("STORE_TIMEOUT_MS", "number", "500", 100, 10_000),
    Variable("STORE_READ_REPLICAS", "yes/no", "0"),
    Variable("STORE_CONFIRM_REPLICAS", "number", "0", 0, 16),
    Variable("EMAIL_URL", "mail server", "consolemail://", in_browser=True),
    Variable("EMAIL_FROM", "sender", "noreply@localhost", in_browser=True),
    Variable("VOTING_WINDOW_DAYS", "number", "7", 1, 365),
    Variable("ARTICLES_PER_PAGE", "number", "25", 5, 100),
    Variable("VOTES_PER_DAY", "number or auto", "auto", 1, 86400),
    Variable("REPOST_HOURS", "number", "48", 1, 720),
    Variable("ALLOW_PRIVATE_LINKS", "yes/no", "0"),
    Variable(
        "ARCHIVES",
        "list of archives",
        "Wayback Machine=https://web.archive.org/web/*/{link},archive.today=https://archive.ph/{link}",
    ),
    Variable("SIGN_UP", "sign-up", "open", in_browser=True),
    Variable("READING", "reading", "everyone", in_browser=True),
    Variable("OTHER_ORIGINS", "yes/no", "on"),
    Variable("PASSWORDS", "yes/no", "1"),
    Variable("SECOND_FACTOR", "second factor", "offered"),
    Variable("NAMES", "names", "ascii"),
    Variable("INVITATIONS_PER_MEMBER", "number", "5", 0, 1000, in_browser=True),
    Variable("INVITATION_TREE", "invitation tree", "moderators", in_browser=True),
    Variable("EDIT_MINUTES", "number", "15", 0, 1440),
    Variable("VIEWS_PER_NETWORK", "number", "300", 10, 10_000_000),
    Variable("VOTING_RING_ACCOUNTS", "number", "10", 0, 10_000),
    Variable("NEW_MEMBER_DAYS", "number", "3", 0, 365, in_browser=True),
    Variable("NEW_MEMBER_POINTS", "number", "5", 0, 1000, in_browser=True),
    Variable("PROBATION", "yes/no", "0", in_browser=True),
    Variable("VOUCHES", "number", "3", 0, 100, in_browser=True),
    Variable("FLAGS_TO_REMOVE", "number", "0", 0, 200),
    Variable("LEGAL_NOTICES", "yes/no", "0", in_browser=True),
    Variable("SECURITY_CONTACT", "contact", "", in_browser=True),
    Variable("NODEINFO", "yes/no", "0", in_browser=True),
    Variable("BALLOT_DAYS", "number", "3650", 0, 36500),
    Variable("RECENT_PAGES", "yes/no", "on"),
    Variable("BACKUP_DIR", "directory", "", in_browser=True),
    Variable("BACKUP_KEEP", "number", "7", 1, 1000),
    Variable("TICK_SECONDS", "number", "60", 10, 600),
    Variable("METRICS_TOKEN", "token", ""),
    Variable("LIMITS", "limits", "", in_browser=True),
    Variable("LOG_LEVEL", "log level", "INFO"),
    Variable("LOG_FORMAT", "log format", "text"),
    *(Variable(*setting[:7]) for setting in extras.settings()),
)
extras.refuse_doubles("setting", (variable.name for variable in VARIABLES))


_WIDE = {
    "large": "large",
    "feeds": "feeds",
    "logins": "logins_network",
    "signups": "signups",
    "apps": "apps",
    "mails": "mails_network",
    "notices": "notices",
}
"""Limits of wide networks that had a number of their own, and from which it now follows."""

GONE = {
    **{f"LIMIT_{name.upper()}": f"give {name} a number of uses and a period in LIMITS." for name in BY_NAME},
    **{f"LIMIT_{was.upper()}_WIDE": f"it follows from {name} in LIMITS." for was, name in _WIDE.items()},
    "RATE_LIMITS": "set LIMITS=off, for tests and measurements only.",
    "VIEWS_PER_NETWORK_AND_ARTICLE": "it is a tenth of VIEWS_PER_NETWORK.",
    "STORE_CONFIRM_FSYNC": "set appendfsync always on every server of the store, beside STORE_CONFIRM_REPLICAS.",
    "REPLY_MAILDIR": "the maildir is DATA_DIR/replies.",
    "VISITOR_COOKIE_DAYS": "it is always 30.",
    "VIEW_REPEAT_MINUTES": "it is always 10.",
    "VOTING_RING_MINUTES": "it is always 60.",
    "NEW_ACCOUNT_HOURS": "it is always 24.",
    "HOT_REFRESH_SECONDS": "it is always 60.",
    "ARCHIVE_DAYS": "it is always 90.",
    "INVITATION_DAYS": "it is always 7.",
    "BACKUP_HOURS": "it is always 24; for more backups, run `manage.py backup` at other times.",
    "PASSWORD_HASHES_AT_ONCE": "it is always 2, and fewer than WEB_THREADS.",
}
"""Settings of earlier versions, and what replaces each: the end of a sentence."""

NAMES = [variable.name for variable in VARIABLES]


def defaults() -> SimpleNamespace:
    """Return the default of every variable as an attribute, as the settings have the values."""
    return SimpleNamespace(**{variable.name: variable.parse("") for variable in VARIABLES})
