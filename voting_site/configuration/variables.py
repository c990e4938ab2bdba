"""Every variable an operator may set, with its default, range and meaning.

`loading.py` reads the values by this table and `docs/configuration.md` is written from the same table
(`manage.py configuration`), so that neither can say anything else than the code.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from articles.domain.ranking import VOTES_PER_DAY
from voting_site.configuration.kinds import BadSetting, read


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
        """The value of `text`, of a blank one the default. Raises BadSetting."""
        given = text if self.kind == "secret" else text.strip()
        if not text.strip():
            given = self.default
        if not given:
            return _EMPTY.get(self.kind, "")
        value = read(self.name, self.kind, given)
        too_low = None not in (self.low, value) and value < self.low
        too_high = None not in (self.high, value) and value > self.high
        if too_low or too_high:
            raise BadSetting(f"{self.name}={given} is outside {self.range}.")
        return value

    @property
    def range(self) -> str:
        """The permitted values in words, empty where any will do."""
        if self.low is None and self.high is None:
            return ""
        return f"{self.low}–{self.high}"


_EMPTY: dict[str, Any] = {"list of hosts": [], "list of networks": [], "database": None}
"""Values of kinds whose empty default is no text."""

VARIABLES = (
    Variable("HOST", "host", "127.0.0.1", "Address the web server listens on; 0.0.0.0 for every one."),
    Variable("PORT", "number", "8000", "Port the web server listens on.", 1, 65535),
    Variable("WEB_WORKERS", "number", "2", "Worker processes of the web server.", 1, 64),
    Variable("WEB_THREADS", "number", "8", "Threads in each worker process.", 1, 128),
    Variable(
        "DATA_DIR",
        "directory",
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
        "list of hosts",
        "",
        "Further host names the site answers to, separated by commas; localhost, HOST and SITE_URL always are. "
        ".example.org stands for everything below example.org too, and * for every name.",
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
        "secret",
        "",
        "Key that signs sessions and links in mails; empty: made at first start in DATA_DIR/secret_key.",
    ),
    Variable("DEBUG", "yes/no", "0", "Show errors in detail. Never on a public site."),
    Variable("TIME_ZONE", "time zone", "UTC", "Time zone of dates on pages, for example Asia/Shanghai."),
    Variable(
        "DATABASE_URL",
        "database",
        "",
        "Accounts database, for example postgres://user:password@host/name; "
        "empty: SQLite in DATA_DIR/accounts.sqlite3.",
    ),
    Variable(
        "REDIS_URL",
        "store",
        "",
        "Your own store, Redis 6.2 or newer or Valkey: redis://, rediss:// or unix://; "
        "empty: the embedded server in DATA_DIR/store.",
    ),
    Variable(
        "CACHE_URL",
        "store",
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
        "mail server",
        "consolemail://",
        "Mail server, for example smtp+tls://user:pw@host:587. By default mails, such as links for new passwords, "
        "are sent to nobody and only printed in the terminal of the site.",
    ),
    Variable("EMAIL_FROM", "sender", "noreply@localhost", "Sender of the site's mails."),
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
        "number or auto",
        "auto",
        "Votes worth one day on the front page: each point moves an article by 86400 s divided by this. With auto "
        f"the site begins with {VOTES_PER_DAY} and then learns the number from its own articles "
        f"(docs/front-page.md), unless moderators choose one in the lab; {VOTES_PER_DAY} keeps the constant "
        "of the source documents for good.",
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
    Variable("METRICS_TOKEN", "token", "", "Token that /metrics asks for; empty: it answers this machine alone."),
    Variable("LOG_LEVEL", "log level", "INFO", "Least severe log lines written: DEBUG, INFO, WARNING or ERROR."),
)


NAMES = [variable.name for variable in VARIABLES]


def defaults() -> SimpleNamespace:
    """Return the default of every variable as an attribute, as the settings have the values."""
    return SimpleNamespace(**{variable.name: variable.parse("") for variable in VARIABLES})


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
environment wins. A blank value means the default. All settings are read and checked at start: values of the
wrong kind or out of range stop the start, all of them at once, with one sentence for each. A line in `.env`
that sets none of these is warned of. `make run` needs none of them.

A host is written without scheme and port; IPv6 may stand in brackets. `DATA_DIR` may not be, contain or lie in
a folder of the program, such as the checkout itself or its `static/`; other folders in the checkout, such as
`var/`, are fine.

"""


def page() -> str:
    """The whole of `docs/configuration.md`."""
    return _INTRODUCTION + as_markdown()
