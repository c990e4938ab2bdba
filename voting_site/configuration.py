"""Every variable an operator may set, with its default, range and meaning.

`settings.py` reads its values here and `docs/configuration.md` is written from the same table
(`manage.py configuration`), so that neither can say anything else than the code.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import environ
from django.core.exceptions import ImproperlyConfigured


class BadSetting(ImproperlyConfigured):
    """A setting the site cannot work with; the message is one sentence for the operator, without secrets."""


def _flag(text: str) -> bool:
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
    known |= {"off": False, "": False}
    return known[text.strip().lower()]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _networks(text: str) -> list[str]:
    """Names of networks, each checked; 10.0.0.1/8 is none, for it is unclear which one is meant."""
    return [name if name == "unix" else str(ip_network(name)) for name in _names(text)]


def _origin(text: str) -> str:
    """Scheme and host, without a slash at the end; ValueError for what is no address of a whole site."""
    if not text:
        return ""
    parts = urlsplit(text)
    host, port = parts.hostname or "", parts.port  # the port is checked by asking for it
    plain = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"
    if parts.scheme not in ("http", "https") or not _HOST.match(host) or text.lower().rstrip("/") != plain:
        raise ValueError(text)
    return plain


def _time_zone(text: str) -> str:
    return ZoneInfo(text).key


def _log_level(text: str) -> str:
    return _LOG_LEVELS[text.strip().upper()]


_HOST = re.compile(r"\A[0-9a-z:]([0-9a-z.:-]*[0-9a-z.:])?\Z")
_LOG_LEVELS = {name: name for name in ("DEBUG", "INFO", "WARNING", "ERROR")}
_KINDS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "number": int,
    "yes/no": _flag,
    "list": _names,
    "list of networks": _networks,
    "address": _origin,
    "time zone": _time_zone,
    "log level": _log_level,
}
_SUCH_AS = {
    "yes/no": ", that is 1 or 0",
    "address": " of a site, such as https://news.example.org",
    "time zone": ", such as Asia/Shanghai",
    "log level": f", that is one of {', '.join(_LOG_LEVELS)}",
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
        """The value of `text`; raises BadSetting."""
        try:
            value = _KINDS[self.kind](text)
        except (KeyError, ValueError, OSError):  # OSError: a folder among the files of time zones
            article = "an" if self.kind[0] in "aeiou" else "a"
            what = f"{article} {self.kind}{_SUCH_AS.get(self.kind, '')}"
            raise BadSetting(f"{self.name}={text!r} is not {what}.") from None
        too_low = self.low is not None and value < self.low
        too_high = self.high is not None and value > self.high
        if too_low or too_high:
            raise BadSetting(f"{self.name}={text} is outside {self.range}.")
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
        "address",
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
    Variable("TIME_ZONE", "time zone", "UTC", "Time zone of dates on pages, for example Asia/Shanghai."),
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
    Variable(
        "STORE_TIMEOUT_MS",
        "number",
        "500",
        "Milliseconds a page waits on one answer of store or cache before it says that the store is away. "
        "Raise it where a vote often meets a disk that stalls: the embedded server answers once the disk has it.",
        100,
        10_000,
    ),
    Variable(
        "EMAIL_URL",
        "text",
        "consolemail://",
        "Mail server, for example smtp+tls://user:pw@host:587. By default mails, such as links for new passwords, "
        "are sent to nobody and only printed in the terminal of the site.",
    ),
    Variable("EMAIL_FROM", "text", "noreply@localhost", "Sender of the site's mails."),
    Variable(
        "VOTING_WINDOW_DAYS",
        "number",
        "7",
        "Days after posting in which votes count. Articles keep the window they were posted with: a change "
        "concerns articles posted from then on.",
        1,
        365,
    ),
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
    Variable("LOG_LEVEL", "log level", "INFO", "Least severe log lines written: DEBUG, INFO, WARNING or ERROR."),
)


_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=", re.MULTILINE)


def load(base_dir: Path) -> dict[str, Any]:
    """All values by name, from the environment and `base_dir/.env` (the environment wins)."""
    env = environ.Env()
    try:
        env.read_env(base_dir / ".env")
    except UnicodeDecodeError:
        raise BadSetting(f"{base_dir / '.env'} is not a text in UTF-8.") from None
    return {variable.name: variable.parse(env.str(variable.name, variable.default)) for variable in VARIABLES}


def misspelt(base_dir: Path) -> list[str]:
    """A sentence for every name in `base_dir/.env` that is no setting of the site."""
    try:
        text = (base_dir / ".env").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    known = [variable.name for variable in VARIABLES]
    told = []
    for name in dict.fromkeys(_ASSIGNED.findall(text)):
        if name not in known:
            near = get_close_matches(name.upper(), known, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            told.append(f"The file .env sets {name}, which is not a setting of the site{hint}")
    return told


def read_by(name: str, text: str, reader: Callable[[str], dict[str, Any]], needed: str) -> dict[str, Any]:
    """What `reader` makes of an address, with the name of a class or module as `needed`.

    Raises BadSetting, which keeps the password in the address to itself.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = reader(text)
        if "." in found.get(needed, ""):
            return found
    except (ImproperlyConfigured, ValueError, KeyError):
        pass
    raise BadSetting(f"{name} is not an address the site understands; see docs/configuration.md.")


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
the start with one sentence that names it, and a name in `.env` that is none of these is warned of. `make run`
needs none of them.

"""


def page() -> str:
    """The whole of `docs/configuration.md`."""
    return _INTRODUCTION + as_markdown()
