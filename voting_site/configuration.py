"""Every variable an operator may set, with its default, range and meaning.

`settings.py` reads its values here and `docs/configuration.md` is written from the same table
(`manage.py configuration`), so that neither can say anything else than the code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured


def _flag(text: str) -> bool:
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
    known |= {"off": False, "": False}
    return known[text.strip().lower()]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _networks(text: str) -> list[str]:
    """Names of networks, each checked; 10.0.0.1/8 is none, for it is unclear which one is meant."""
    return [name if name == "unix" else str(ip_network(name)) for name in _names(text)]


_KINDS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "number": int,
    "yes/no": _flag,
    "list": _names,
    "list of networks": _networks,
}


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable. `low` and `high` bound numbers, both included."""

    name: str
    kind: str
    default: str
    meaning: str
    low: int | None = None
    high: int | None = None

    def parse(self, text: str) -> Any:
        """The value of `text`; raises ImproperlyConfigured with one sentence for the operator."""
        try:
            value = _KINDS[self.kind](text)
        except (KeyError, ValueError):
            raise ImproperlyConfigured(f"{self.name}={text!r} is not a {self.kind}.") from None
        too_low = self.low is not None and value < self.low
        too_high = self.high is not None and value > self.high
        if too_low or too_high:
            raise ImproperlyConfigured(f"{self.name}={text} is outside {self.range}.")
        return value

    @property
    def range(self) -> str:
        """The permitted values in words, empty where any will do."""
        if self.low is None and self.high is None:
            return ""
        return f"{self.low}–{self.high}"


VARIABLES = (
    Variable("HOST", "text", "127.0.0.1", "Address the web server listens on; 0.0.0.0 for every one."),
    Variable("PORT", "number", "8000", "Port the web server listens on.", 1, 65535),
    Variable("WEB_WORKERS", "number", "2", "Worker processes of the web server.", 1, 64),
    Variable("WEB_THREADS", "number", "8", "Threads in each worker process.", 1, 128),
    Variable(
        "DATA_DIR",
        "text",
        "var",
        "Directory of everything that must be kept: store, accounts, secret key, logs. "
        "A relative path starts at the checkout.",
    ),
    Variable("DEMO", "yes/no", "1", "Fill an empty site with demo content at its first start."),
    Variable("SITE_NAME", "text", "Article Voting", "Name shown in the head of every page and in mails."),
    Variable(
        "SITE_URL",
        "text",
        "",
        "Public address, for example https://news.example.org, without a path. Its host may then be asked "
        "for, forms are accepted from it, and with https cookies are sent over https alone.",
    ),
    Variable(
        "ALLOWED_HOSTS",
        "list",
        "",
        "Further host names the site answers to, separated by commas; localhost, HOST and SITE_URL always are.",
    ),
    Variable(
        "BEHIND_PROXY",
        "yes/no",
        "0",
        "Trust X-Forwarded-Proto: only behind a proxy that sets it itself.",
    ),
    Variable(
        "TRUSTED_PROXIES",
        "list of networks",
        "",
        "Proxies whose X-Forwarded-For says where readers come from, for example 127.0.0.1,10.0.0.0/8, with unix "
        "for one on a Unix socket. A proxy that is missing here makes all its readers one network, whose views "
        "are soon taken for a burst.",
    ),
    Variable(
        "SECRET_KEY",
        "text",
        "",
        "Key that signs sessions and links in mails; empty: made at first start in DATA_DIR/secret_key.",
    ),
    Variable("DEBUG", "yes/no", "0", "Show errors in detail. Never on a public site."),
    Variable("TIME_ZONE", "text", "UTC", "Time zone of dates on pages, for example Asia/Shanghai."),
    Variable(
        "DATABASE_URL",
        "text",
        "",
        "Accounts database, for example postgres://user:password@host/name; "
        "empty: SQLite in DATA_DIR/accounts.sqlite3.",
    ),
    Variable(
        "REDIS_URL",
        "text",
        "",
        "Your own store, Redis 6.2 or newer or Valkey: redis://, rediss:// or unix://; "
        "empty: the embedded server in DATA_DIR/store.",
    ),
    Variable(
        "CACHE_URL",
        "text",
        "",
        "Cache and sessions; never the store's own database. "
        "Empty: the next database number on the store's server.",
    ),
    Variable(
        "STORE_SHARDS",
        "number",
        "1",
        "Shards the articles are spread over. Written into the store at its first start; "
        "changing it later takes an export and an import.",
        1,
        1024,
    ),
    Variable("EMAIL_URL", "text", "consolemail://", "Mail server, for example smtp+tls://user:pw@host:587."),
    Variable("EMAIL_FROM", "text", "noreply@localhost", "Sender of the site's mails."),
    Variable("VOTING_WINDOW_DAYS", "number", "7", "Days after posting in which votes count.", 1, 365),
    Variable("ARTICLES_PER_PAGE", "number", "25", "Articles on one page of a list.", 5, 100),
    Variable(
        "VOTES_PER_DAY",
        "number",
        "200",
        "Votes worth one day on the front page: each point moves an article by 86400 s divided by this.",
        1,
        86400,
    ),
    Variable(
        "REPOST_HOURS",
        "number",
        "48",
        "Hours in which posting the same link again leads to the existing article.",
        1,
        720,
    ),
    Variable("EDIT_MINUTES", "number", "15", "Minutes in which posters may edit their article.", 0, 1440),
    Variable(
        "VISITOR_COOKIE_DAYS",
        "number",
        "30",
        "Days for which a cookie recognises a reader without account, so that views count once; 0: no cookie.",
        0,
        365,
    ),
    Variable(
        "VIEW_REPEAT_MINUTES",
        "number",
        "10",
        "Minutes after a view that counted in which the same visitor's next ones of that article do not.",
        10,
        60,
    ),
    Variable(
        "VIEWS_PER_NETWORK_AND_ARTICLE",
        "number",
        "30",
        "Views of one article that count from one network (IPv4 /24, IPv6 /48) in 10 minutes; more are suspect.",
        1,
        1_000_000,
    ),
    Variable(
        "VIEWS_PER_NETWORK",
        "number",
        "300",
        "Views of all articles that count from one network in 10 minutes; more are suspect.",
        1,
        1_000_000,
    ),
    Variable("HOT_REFRESH_SECONDS", "number", "60", "Seconds after which the hot list is scored anew.", 60, 120),
    Variable(
        "ARCHIVE_DAYS",
        "number",
        "90",
        "Days without a view after which an article's view counters move from the store into the database.",
        1,
        3650,
    ),
    Variable("TICK_SECONDS", "number", "60", "Seconds between two runs of the housekeeping.", 10, 600),
    Variable("METRICS_TOKEN", "text", "", "Token that /metrics asks for; empty: it answers this machine alone."),
    Variable("LOG_LEVEL", "text", "INFO", "Least severe log lines written: DEBUG, INFO, WARNING or ERROR."),
)


def load(base_dir: Path) -> dict[str, Any]:
    """All values by name, from the environment and `base_dir/.env` (the environment wins)."""
    env = environ.Env()
    env.read_env(base_dir / ".env")
    return {variable.name: variable.parse(env.str(variable.name, variable.default)) for variable in VARIABLES}


def as_markdown() -> str:
    """The table of `docs/configuration.md`."""
    rows = ["| variable | kind | default | range | meaning |", "| --- | --- | --- | --- | --- |"]
    for v in VARIABLES:
        default = f"`{v.default}`" if v.default else "(empty)"
        rows.append(f"| `{v.name}` | {v.kind} | {default} | {v.range or '–'} | {v.meaning} |")
    return "\n".join(rows) + "\n"


_INTRODUCTION = """\
# Configuration

Every setting is an environment variable, or a line `NAME=value` in a file `.env` in the checkout; the
environment wins. All of them are read and checked at start: a value of the wrong kind or out of range stops
the start with one sentence that names it. `make run` needs none of them.

"""


def page() -> str:
    """The whole of `docs/configuration.md`."""
    return _INTRODUCTION + as_markdown()
