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
from types import MappingProxyType
from typing import NamedTuple

from articles.domain import extras

LONGEST_PERIOD = 86400  # seconds

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FORM = re.compile(r"([1-9][0-9]{0,6})/([1-9][0-9]{0,4})([smhd])")


class Rate(NamedTuple):
    """A number of uses in a period."""

    uses: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> "Rate":
        """Parse `60/2m`. Raises ValueError, including for a period longer than a day."""
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
    NEW_MEMBER = "[new member](#new-members)"
    READER = "reader"
    NETWORK = "network"
    ACCOUNT = "account and network"
    WHOLE_ACCOUNT = "account, from all networks together"
    OUTSIDE = "account, from all networks together on which the member is not logged in"
    MAIL_ADDRESS = "mail address"
    SITE = "site"


ANONYMOUS_SHARE = 5  # readers without an account share a limit per network, of this many times a member's uses

WIDE_SHARE = 20
"""They also share a limit per wide network, of this many times: one reader may have thousands of networks."""


PROVIDER_SHARE = 10
"""All wide networks of one provider share a limit of this many times: it may have 65,536 of them."""

ACCOUNT_SHARE = 3  # likewise for one account, whose owner can log in from another provider


class Limit(NamedTuple):
    """One limited action."""

    name: str
    per: Per
    default: str
    wide: int = 0
    """How many times a network's uses a wide network has; 0 if wide networks and providers are not limited."""

    @property
    def sentence_key(self) -> str:
        """Key of the refusal's sentence: limits of one action share it, except those of new members."""
        return self.name if self.per is Per.NEW_MEMBER else self.name.partition("_")[0]


LIMITS = (
    Limit("votes", Per.MEMBER, "60/2m"),
    Limit("votes_new", Per.NEW_MEMBER, "300/1d"),
    Limit("posts", Per.MEMBER, "5/10m"),
    Limit("posts_day", Per.MEMBER, "30/1d"),
    Limit("posts_new", Per.NEW_MEMBER, "10/1d"),
    Limit("comments", Per.MEMBER, "20/10m"),
    Limit("comments_new", Per.NEW_MEMBER, "100/1d"),
    Limit("edits_new", Per.NEW_MEMBER, "60/1d"),
    Limit("mentions", Per.MEMBER, "100/1d"),
    Limit("mentions_new", Per.NEW_MEMBER, "30/1d"),
    Limit("flags", Per.MEMBER, "20/1h"),
    Limit("changes", Per.READER, "60/2m"),
    Limit("texts", Per.MEMBER, "2000000/1d"),
    Limit("large", Per.NETWORK, "20/1m", wide=3),
    Limit("views", Per.READER, "60/1m"),
    Limit("search", Per.READER, "120/1m"),
    Limit("feeds", Per.NETWORK, "30/1m", wide=4),
    Limit("refresh", Per.READER, "300/1m"),
    Limit("lookups", Per.READER, "120/1m"),
    Limit("previews", Per.MEMBER, "120/1m"),
    Limit("exports", Per.MEMBER, "5/1h"),
    Limit("api", Per.READER, "300/1m"),
    Limit("logins", Per.ACCOUNT, "10/10m"),
    Limit("logins_day", Per.ACCOUNT, "30/1d"),
    Limit("logins_network", Per.NETWORK, "60/10m", wide=5),
    Limit("passwords", Per.ACCOUNT, "30/10m"),
    Limit("passwords_network", Per.NETWORK, "300/10m"),
    Limit("guesses", Per.OUTSIDE, "300/1d"),
    Limit("codes", Per.WHOLE_ACCOUNT, "10/10m"),
    Limit("codes_day", Per.WHOLE_ACCOUNT, "30/1d"),
    Limit("codes_before_mail", Per.WHOLE_ACCOUNT, "3/1d"),
    Limit("codes_mails", Per.WHOLE_ACCOUNT, "1/1d"),
    Limit("signups", Per.NETWORK, "10/1h", wide=4),
    Limit("mails", Per.MAIL_ADDRESS, "5/1d"),
    Limit("mails_network", Per.NETWORK, "20/1h", wide=3),
    Limit("notices", Per.NETWORK, "10/1h", wide=4),
    Limit("notices_mail", Per.MAIL_ADDRESS, "10/1d"),
    Limit("notices_day", Per.SITE, "200/1d"),
    Limit("receipts", Per.MAIL_ADDRESS, "1/1h"),
    *(Limit(row.name, Per(row.per), row.default, row.wide) for row in extras.limits()),
)
"""Every limit. The setting, rules, keys and sentences follow this table. docs/limits.md says what each limits, and
articles/views/owner/limits.py has its name in the browser.
"""

extras.refuse_doubles("limit", (limit.name for limit in LIMITS))
BY_NAME = {limit.name: limit for limit in LIMITS}


_DEFAULTS = MappingProxyType({limit.name: Rate.parse(limit.default) for limit in LIMITS})
_LONGEST_PAIR = 40


class BadPair(ValueError):
    """A pair of the setting LIMITS that is wrong; the error's text is its beginning."""


def rates(text: str = "") -> Mapping[str, Rate]:
    """Return the limits that apply: the defaults, except for pairs such as `votes=60/2m, posts=off`.

    None apply with `off`. Raises BadPair for an unknown name, a name given twice and an invalid rate.
    """
    if text == "off":
        return MappingProxyType({})
    changed: dict[str, Rate | None] = {}
    for pair in text.split(",") if text else ():
        name, _, rate = (part.strip() for part in pair.partition("="))
        try:
            if name not in BY_NAME or name in changed:
                raise ValueError(name)
            changed[name] = None if rate == "off" else Rate.parse(rate)
        except ValueError:
            raise BadPair(pair.strip()[:_LONGEST_PAIR]) from None
    return MappingProxyType({name: rate for name, rate in (_DEFAULTS | changed).items() if rate})


def without_unknown(text: str) -> str:
    """Return a text of `rates` without the pairs of limits that are not here, as of an extra that was deleted."""
    pairs = text.split(",")
    return text if text == "off" else ",".join(one for one in pairs if one.partition("=")[0].strip() in BY_NAME)


def of_posting(*, is_new_member: bool) -> tuple[str, ...]:
    """Return the limits that an article takes a use of."""
    return ("posts", "posts_day", *(("posts_new",) if is_new_member else ()))


FOR_NEW_MEMBERS = frozenset(limit.name for limit in LIMITS if limit.per is Per.NEW_MEMBER)
"""Limits of members who are young or have few points."""

VOTES = BY_NAME["votes"].name  # the limit that the script of a vote decides, in the article's shard


class Use(NamedTuple):
    """A use of a limit by a subject, or several."""

    limit: str
    subject: str  # a member's id, or a digest
    share: int = 1  # how many times the limit's uses the subject has
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
