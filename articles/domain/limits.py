"""Rate limits: what is limited, for whom, and the formula that decides.

A limit holds a number of uses and is refilled evenly over its period, so that a burst is possible and the rate in
the long run is exact. All that is stored of a subject is the moment at which its limit is full again.
"""

import math
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from threading import Lock
from typing import NamedTuple

LONGEST_PERIOD = 86400
"""Seconds."""

_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_FORM = re.compile(r"([1-9][0-9]{0,6}) in ([1-9][0-9]{0,4}) (s|min|h|d)")


class Rate(NamedTuple):
    """A number of uses in a period."""

    uses: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> "Rate":
        """Parse `60 in 2 min`. Raises ValueError, including for a period longer than a day."""
        match = _FORM.fullmatch(text)
        if match is None or (seconds := int(match[2]) * _UNITS[match[3]]) > LONGEST_PERIOD:
            raise ValueError(text)
        return cls(int(match[1]), seconds)

    @property
    def refill_ms(self) -> int:
        """Time that refills one use, in ms, rounded up: the rate is never exceeded."""
        return math.ceil(self.seconds * 1000 / self.uses)

    @property
    def capacity_ms(self) -> int:
        """Time that refills all uses."""
        return self.uses * self.refill_ms

    def times(self, factor: int) -> "Rate":
        """Return the rate with `factor` times as many uses."""
        return Rate(self.uses * factor, self.seconds)


def take(full_at: int, now: int, rate: Rate, count: int = 1) -> tuple[int, int]:
    """Take uses at `now`; return when the limit is full again, and how long to wait for them: 0 if taken.

    All in ms. `full_at`: when the limit is full, 0 if it is. lua/lib/members.lua has the same formula.
    """
    # A moment beyond the capacity is from a clock that was ahead: it must not block anyone for longer than that.
    moment = min(max(full_at, now), now + rate.capacity_ms) + count * rate.refill_ms
    wait = moment - now - rate.capacity_ms
    return (full_at, wait) if wait > 0 else (moment, 0)


class Per(StrEnum):
    """The subjects that a limit counts."""

    MEMBER = "member"
    NEW_MEMBER = "new member (docs/limits.md)"
    READER = "member; without an account 5 times as many per network, 20 times per wide network"
    NETWORK = "network"
    WIDE_NETWORK = "wide network; 10 times as many per provider"
    ACCOUNT = "account and network, and as many per wide network; 3 times as many per provider"
    WHOLE_ACCOUNT = "account, from all networks together"
    OUTSIDE = "account, from all networks together on which the member is not logged in"
    MAIL_ADDRESS = "mail address"
    SITE = "site"


ANONYMOUS_SHARE = 5
"""Readers without an account share a limit per network, of this many times a member's uses."""

WIDE_SHARE = 20
"""They also share a limit per wide network, of this many times: one reader may have thousands of networks."""


PROVIDER_SHARE = 10
"""All wide networks of one provider share a limit of this many times: it may have 65,536 of them."""

ACCOUNT_SHARE = 3
"""Likewise for one account, whose owner can log in from another provider."""


class Limit(NamedTuple):
    """One limited action. The setting is named after it."""

    name: str
    per: Per
    default: str
    action: str
    """What is limited, in the documentation."""

    @property
    def setting(self) -> str:
        return f"LIMIT_{self.name.upper()}"

    @property
    def sentence_key(self) -> str:
        """Key of the refusal's sentence in articles/text/refusals.py: limits of one action share it.

        Those of new members have sentences of their own.
        """
        return self.name if self.per is Per.NEW_MEMBER else self.name.partition("_")[0]


LIMITS = (
    Limit("votes", Per.MEMBER, "60 in 2 min", "Votes cast, switched and taken back"),
    Limit("votes_new", Per.NEW_MEMBER, "300 in 1 d", "Votes cast, switched and taken back"),
    Limit("posts", Per.MEMBER, "5 in 10 min", "Articles posted"),
    Limit("posts_day", Per.MEMBER, "30 in 1 d", "Articles posted in the long run"),
    Limit("posts_new", Per.NEW_MEMBER, "10 in 1 d", "Articles posted"),
    Limit("comments", Per.MEMBER, "20 in 10 min", "Comments posted"),
    Limit("comments_new", Per.NEW_MEMBER, "100 in 1 d", "Comments posted"),
    Limit("edits_new", Per.NEW_MEMBER, "60 in 1 d", "Articles and comments edited"),
    Limit("mentions", Per.MEMBER, "100 in 1 d", "Members notified of a mention"),
    Limit("mentions_new", Per.NEW_MEMBER, "30 in 1 d", "Members notified of a mention"),
    Limit("flags", Per.MEMBER, "20 in 1 h", "Articles and comments flagged"),
    Limit("suggestions", Per.MEMBER, "20 in 1 d", "Titles and groups suggested, or such suggestions supported"),
    Limit(
        "changes",
        Per.READER,
        "60 in 2 min",
        "Forms and changes by the API, accepted or refused, other than votes and passwords",
    ),
    Limit(
        "texts",
        Per.MEMBER,
        "2000000 in 1 d",
        "Bytes of forms and changes by the API, and of replies by mail: what the site keeps of a member",
    ),
    Limit("large", Per.NETWORK, "20 in 1 min", "Requests of more than 100,000 bytes, without a session"),
    Limit("large_wide", Per.WIDE_NETWORK, "60 in 1 min", "Requests of more than 100,000 bytes, without a session"),
    Limit("views", Per.READER, "60 in 1 min", "Views reported to the API by a script or a program"),
    Limit("search", Per.READER, "120 in 1 min", "Searches, on the page and in the API"),
    Limit("feeds", Per.NETWORK, "30 in 1 min", "Feeds, sitemap, and pictures of articles, without a copy"),
    Limit(
        "feeds_wide", Per.WIDE_NETWORK, "120 in 1 min", "Feeds, sitemap, and pictures of articles, without a copy"
    ),
    Limit("records", Per.NETWORK, "600 in 1 min", "Ballot records, and days of their chain, as files"),
    Limit(
        "refresh", Per.READER, "300 in 1 min", "Updates of open pages (each page requests at most two a minute)"
    ),
    Limit("lookups", Per.READER, "120 in 1 min", "Links looked up while a member types"),
    Limit("titles", Per.MEMBER, "30 in 10 min", "Links fetched for their title"),
    Limit(
        "previews",
        Per.MEMBER,
        "120 in 1 min",
        "Texts shown while a member types; other requests of more than 100,000 bytes",
    ),
    Limit("refusals", Per.MEMBER, "5 in 1 d", "Mails that say why a reply by mail was not published"),
    Limit("exports", Per.MEMBER, "5 in 1 h", "Copies of a member's data"),
    Limit("api", Per.READER, "300 in 1 min", "Requests to the API, other than searches and views"),
    Limit("logins", Per.ACCOUNT, "10 in 10 min", "Wrong passwords"),
    Limit("logins_day", Per.ACCOUNT, "30 in 1 d", "Wrong passwords in the long run"),
    Limit("logins_network", Per.NETWORK, "60 in 10 min", "Wrong passwords for any account"),
    Limit("logins_wide", Per.WIDE_NETWORK, "300 in 10 min", "Wrong passwords for any account"),
    Limit("passwords", Per.ACCOUNT, "30 in 10 min", "Passwords checked, right or wrong"),
    Limit("passwords_network", Per.NETWORK, "300 in 10 min", "Passwords checked, right or wrong"),
    Limit("guesses", Per.OUTSIDE, "300 in 1 d", "Wrong passwords from anywhere"),
    Limit("codes", Per.WHOLE_ACCOUNT, "10 in 10 min", "Wrong codes of authenticator apps"),
    Limit("codes_day", Per.WHOLE_ACCOUNT, "30 in 1 d", "Wrong codes of authenticator apps in the long run"),
    Limit(
        "codes_before_mail",
        Per.WHOLE_ACCOUNT,
        "3 in 1 d",
        "Wrong codes of the second step before a mail warns the member",
    ),
    Limit("codes_mails", Per.WHOLE_ACCOUNT, "1 in 1 d", "Mails that warn a member of wrong codes"),
    Limit("signups", Per.NETWORK, "10 in 1 h", "Sign-up forms sent"),
    Limit("signups_wide", Per.WIDE_NETWORK, "40 in 1 h", "Sign-up forms sent"),
    Limit("apps", Per.NETWORK, "60 in 1 h", "Apps registered, and codes for devices requested"),
    Limit("apps_wide", Per.WIDE_NETWORK, "240 in 1 h", "Apps registered, and codes for devices requested"),
    Limit(
        "mails",
        Per.MAIL_ADDRESS,
        "5 in 1 d",
        "Password resets and links to verify the address requested; also mails of each kind, 12 times as many "
        "about notices, decisions and what waits",
    ),
    Limit("mails_network", Per.NETWORK, "20 in 1 h", "Password resets and links to verify the address requested"),
    Limit(
        "mails_wide", Per.WIDE_NETWORK, "60 in 1 h", "Password resets and links to verify the address requested"
    ),
    Limit("notices", Per.NETWORK, "10 in 1 h", "Legal notices sent, accepted or refused"),
    Limit("notices_wide", Per.WIDE_NETWORK, "40 in 1 h", "Legal notices sent, accepted or refused"),
    Limit("notices_mail", Per.MAIL_ADDRESS, "10 in 1 d", "Legal notices accepted with the same mail address"),
    Limit("notices_day", Per.SITE, "200 in 1 d", "Legal notices accepted, from everyone together"),
    Limit(
        "receipts",
        Per.MAIL_ADDRESS,
        "1 in 1 h",
        "Receipts of legal notices mailed; others show on their page only",
    ),
)
"""Every limit. Settings, rules, keys and sentences follow this table."""

BY_NAME = {limit.name: limit for limit in LIMITS}


def of_posting(*, is_new_member: bool) -> tuple[str, ...]:
    """Return the limits that an article takes a use of."""
    return ("posts", "posts_day", *(("posts_new",) if is_new_member else ()))


FOR_NEW_MEMBERS = frozenset(limit.name for limit in LIMITS if limit.per is Per.NEW_MEMBER)
"""Limits of members who are young or have few points."""

VOTES = BY_NAME["votes"].name
"""The limit that the script of a vote decides, in the article's shard."""


class Use(NamedTuple):
    """A use of a limit by a subject, or several."""

    limit: str
    subject: str
    """A member's id, or a digest."""

    share: int = 1
    """How many times the limit's uses the subject has."""

    uses: int = 1

    def taken_of(self, rate: Rate) -> int:
        """Return how many uses are taken: never more than the limit holds, which no wait would allow."""
        return min(self.uses, rate.uses)

    def rate(self, rates: Mapping[str, Rate]) -> Rate | None:
        """Return the rate by which the use is limited; None if it is not."""
        rate = rates.get(self.limit)
        return rate.times(self.share) if rate else None


class LocalLimits:
    """The limits of one process, for the time in which the store is unavailable. Bounded memory."""

    _MOST_SUBJECTS = 10_000

    def __init__(self) -> None:
        self._full_at: OrderedDict[Use, int] = OrderedDict()
        self._lock = Lock()

    def take(self, uses: Sequence[Use], rates: Mapping[str, Rate], now: int) -> tuple[str, int]:
        """Take these uses at `now`, in ms; return the limit that refuses the longest, and its wait; 0 if none."""
        with self._lock:
            waits = [(self._take(use, rate, now), use.limit) for use in uses if (rate := use.rate(rates))]
        wait, limit = max(waits, default=(0, ""))
        return limit, wait

    def _take(self, use: Use, rate: Rate, now: int) -> int:
        whose = use._replace(uses=1)
        self._full_at[whose], wait = take(self._full_at.pop(whose, 0), now, rate, use.taken_of(rate))
        if len(self._full_at) > self._MOST_SUBJECTS:
            self._full_at.popitem(last=False)
        return wait
