"""Every key of the store, each with its type, place and life: the only place that spells a key's name.

`keys` builds names from it, and the audit recognises keys by it. docs/data-model.md says what each holds, and why;
the other columns of its tables are written from here. The scripts spell keys as well: tests compare them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial

from articles.domain import limits

MINUTE, HOUR, DAY = 60, 3600, 86400


class Place(StrEnum):
    """Where a key is."""

    SHARD = "in every shard"
    FIRST = "in the first shard only"
    OUTSIDE = "outside the shards"


class PartOf(StrEnum):
    """What a key is part of, and is deleted with."""

    ARTICLE = "an article"
    COMMENT = "a comment"
    GROUP = "a group"
    MEMBER = "a member"
    SITE = "the site"


class InBackup(StrEnum):
    """What a backup does with a key."""

    COPIED = "copied"
    REBUILT = "rebuilt"
    """Left out: a restore derives it from what is copied."""

    OMITTED = "–"
    """Left out: the site does without it."""


_VARIABLES = {
    **dict.fromkeys(("<id>", "<user>"), "[1-9][0-9]{0,15}"),
    "<comment>": "[1-9][0-9]{6,21}",
    "<slug>": r"(?s:[^:]+)",
    "<digest>": "[0-9a-f]{32}",
    **dict.fromkeys(("<visitor>", "<network>"), "[0-9a-f]{16}"),
    "<day>": "[0-9]{1,7}",
    "<period>": "(?:day|week|month)",
    "<action>": "(?:" + "|".join(limit.name for limit in limits.LIMITS if limit.name != limits.VOTES) + ")",
    "<subject>": "[0-9a-f]{1,16}",
}
"""Patterns of the variable parts of names."""

_PARTS = {"<id>": PartOf.ARTICLE, "<comment>": PartOf.COMMENT, "<slug>": PartOf.GROUP, "<user>": PartOf.MEMBER}


@dataclass(frozen=True)
class Key:
    """One kind of key."""

    name: str  # without the shard's prefix; variable parts in angle brackets
    type: str
    place: Place = Place.SHARD
    life: int | None = None  # seconds a new key lives at most; None if it never expires
    in_backup: InBackup = InBackup.COPIED

    def of(self, *values: object) -> str:
        """Return the name of the key with these values for its variable parts."""
        return self.template % values

    def values(self, name: str) -> tuple[str, ...]:
        """Return the variable parts of a name of this kind, given without prefix."""
        match = self._groups.fullmatch(name)
        return match.groups() if match else ()

    @cached_property
    def part_of(self) -> PartOf:
        """What the first variable part names."""
        return next((_PARTS[part] for part in self.variables if part in _PARTS), PartOf.SITE)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variable parts."""
        return tuple(re.findall("<[a-z]+>", self.name))

    @property
    def pattern(self) -> str:
        """Return a regular expression without groups that matches the names of this kind, given without prefix."""
        return self._pattern("{}")

    @cached_property
    def template(self) -> str:
        """The name with `%s` for each variable part."""
        return re.sub("<[a-z]+>", "%s", self.name)

    @cached_property
    def _groups(self) -> re.Pattern[str]:
        """The pattern with a group for each variable part."""
        return re.compile(self._pattern("({})"))

    def _pattern(self, variable: str) -> str:
        """Return the pattern; `variable` is the format of its variable parts."""
        parts = re.split("(<[a-z]+>)", self.name)
        return "".join(
            variable.format(_VARIABLES[part]) if part in _VARIABLES else re.escape(part) for part in parts
        )


_outside, _first = partial(Key, place=Place.OUTSIDE), partial(Key, place=Place.FIRST)
OMITTED, REBUILT = InBackup.OMITTED, InBackup.REBUILT


def _of_group(whole: Key) -> Key:
    """Return a group's part of a ranking."""
    return Key(f"{whole.name.removesuffix(':')}:<slug>", "zset", life=MINUTE, in_backup=OMITTED)


ARTICLE = Key("article:<id>", "hash")
VOTED = Key("voted:<id>", "set")
OPPOSE = Key("oppose:<id>", "set")
LEFT_OUT_ON_ARTICLE = Key("leftout:<id>", "set")
BROUGHT = Key("brought:<id>", "zset")
COMMENT = Key("comment:<comment>", "hash")
COMMENT_VOTED = Key("comment:voted:<comment>", "set")
COMMENT_OPPOSE = Key("comment:oppose:<comment>", "set")
COMMENT_VOTERS = Key("comment:voters:", "zset", in_backup=REBUILT)
REPLIES_BEST = Key("replies:best:<comment>", "zset", in_backup=REBUILT)
REPLIES_TIME = Key("replies:time:<comment>", "zset", in_backup=REBUILT)
REPLIES: Mapping[str, Key] = {"best": REPLIES_BEST, "time": REPLIES_TIME}
"""Lists of the replies to a comment, by their order. `reply_places` in `lua/lib/formulas.lua` has the places."""

COMMENT_SENT = Key("comment:sent:<digest>", "string", life=10 * MINUTE, in_backup=OMITTED)
FLAGS = Key("flags:<comment>", "hash")
FLAGGED = Key("flagged:", "zset", in_backup=REBUILT)
VOTES = Key("votes:<user>", "zset")
OPPOSES = Key("opposes:<user>", "zset")
POSTED = Key("posted:<user>", "zset")
COMMENTED = Key("commented:<user>", "zset", in_backup=REBUILT)
FLAGS_BY = Key("flags:by:<user>", "zset")
INBOX = Key("inbox:<user>", "zset")
SUGGESTED = Key("suggested:<user>", "zset", life=7 * DAY)
VISITS = Key("visits:<user>", "hash", life=30 * DAY, in_backup=OMITTED)
DELETED_MEMBERS = Key("gone:", "set")
LEFT_OUT = Key("leftout:", "set")
LEFT_OUT_ACTS = Key("leftout:acts:", "hash")
PROBATION = Key("probation:", "set")
SCORE = Key("score:", "zset", in_backup=REBUILT)
TIME = Key("time:", "zset", in_backup=REBUILT)
POINTS = Key("points:", "zset", in_backup=REBUILT)
ACTIVE = Key("active:", "zset", in_backup=REBUILT)
TOP = Key("top:<period>", "zset", life=MINUTE, in_backup=OMITTED)
MERGING = Key("merging:", "zset", in_backup=REBUILT)
REMOVED = Key("removed:", "zset", in_backup=REBUILT)
GROUP = Key("group:<slug>", "set", in_backup=REBUILT)
SCORE_OF_GROUP = _of_group(SCORE)
TIME_OF_GROUP = _of_group(TIME)
POINTS_OF_GROUP = _of_group(POINTS)
ACTIVE_OF_GROUP = _of_group(ACTIVE)
HOT = Key("hot:score", "zset", in_backup=REBUILT)
HOT_OF_GROUP = _of_group(HOT)
PAGEVIEWS = Key("counter:views:<id>", "string")
VISITORS = Key("hll:uv:<id>", "string")
SUSPECTS = Key("counter:suspect:<id>", "hash")
DAYS = Key("days:<id>", "hash", life=15 * DAY)
SITE_DAYS = Key("days:", "hash", life=15 * DAY)
VISITORS_OF_DAY = Key("hll:day:<day>", "string", life=15 * DAY)
SEEN = Key("seen:<id>:<visitor>", "string", life=10 * MINUTE, in_backup=OMITTED)
BURST_ON_ARTICLE = Key("burst:<id>:<network>", "string", life=10 * MINUTE, in_backup=OMITTED)
BURST = Key("burst:<network>", "string", life=10 * MINUTE, in_backup=OMITTED)
RING = Key("ring:<id>:<network>", "zset", life=HOUR, in_backup=OMITTED)
RINGS = Key("rings:", "zset", in_backup=REBUILT)
VIEWED = Key("viewed:", "zset")
HISTORY = Key("history:<id>", "list", life=7 * DAY)
NEXT_SCORE = Key("next:score", "zset", in_backup=REBUILT)
CHANGES = Key("changes:", "zset", in_backup=OMITTED)
RANKING = Key("ranking:", "hash")
VOTE_LIMIT = Key("limit:votes:<user>", "string", life=2 * MINUTE, in_backup=OMITTED)
LOG = Key("log:", "list")
CONFIRMED = Key("confirmed:", "string", in_backup=OMITTED)
GROUPS = _first("groups:", "hash")
DESCRIPTIONS = _first("descriptions:", "hash")
TUNINGS = _first("tunings:", "list")
MERGED = _first("merged:", "hash")
COUNTER = _outside("article:", "string")
ACCOUNTS = _outside("accounts:", "hash")
LINK = _outside("link:<digest>", "string", life=2 * DAY)
SAVED = _outside("saved:<user>", "zset")
SCHEMA = _outside("schema:", "hash")
SHIFT = _outside("shift:<digest>", "string")
SALT = _outside("salt:<day>", "string", life=2 * DAY, in_backup=OMITTED)
LIMIT = _outside("limit:<action>:<subject>", "string", life=limits.LONGEST_PERIOD, in_backup=OMITTED)
HOT_LOCK = _outside("lock:hot", "string", life=10, in_backup=OMITTED)
BACK_LOCK = _outside("lock:back", "string", life=MINUTE, in_backup=OMITTED)
TICK_LOCK = _outside("lock:tick", "string", life=30, in_backup=OMITTED)
WEIGHT_LOCK = _outside("lock:weight", "string", life=DAY, in_backup=OMITTED)
FORGET_LOCK = _outside("lock:forget", "string", life=DAY, in_backup=OMITTED)
TICK = _outside("tick:", "hash", in_backup=OMITTED)
MEASUREMENTS = _outside("measurements:", "hash", life=DAY, in_backup=OMITTED)
MERGE_LOCK = _outside("lock:merge", "string", life=20, in_backup=OMITTED)
IMPORT_LOCK = _outside("lock:import", "string", life=2 * MINUTE, in_backup=OMITTED)

TABLE: tuple[Key, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Key))
"""All keys, in the order of docs/data-model.md."""

BY_NAME = {key.name: key for key in TABLE}


def is_kept_with_article(key: Key) -> bool:
    """Return whether the key goes with its article, unlike those that throttle its views for some minutes."""
    return key.part_of is PartOf.ARTICLE and key.variables == ("<id>",)


def split_prefix(name: str) -> tuple[str, str]:
    """Return the prefix of a key's shard, '' where it has none, and the rest of the name."""
    if not name.startswith("{"):
        return "", name
    prefix, mark, rest = name.partition("}:")
    return prefix + mark, rest


_PREFIX = re.compile(r"(?:\{s\d+\}:)?")


def _by_noun() -> dict[str, tuple[Callable[[str], re.Match[str] | None], list[Key]]]:
    """Return the kinds of keys by the first part of their names, which is fixed, with a match of all of these."""
    nouns: dict[str, list[Key]] = {}
    for key in TABLE:
        nouns.setdefault(key.name.partition(":")[0], []).append(key)
    return {
        noun: (re.compile("|".join(f"({key.pattern})" for key in keys)).fullmatch, keys)
        for noun, keys in nouns.items()
    }


_NOUNS = _by_noun()
_NO_NOUN: tuple[Callable[[str], re.Match[str] | None], list[Key]] = (re.compile(r"(?!)").fullmatch, [])


def recognise(names: Iterable[str]) -> Iterable[Key | None]:
    """Yield the kind of each key name, with or without a shard's prefix; None for one that is not the site's."""
    for name in names:
        rest = name if name[:1] != "{" else name[_PREFIX.match(name).end() :]  # type: ignore[union-attr]
        fullmatch, keys = _NOUNS.get(rest[: rest.find(":")], _NO_NOUN)
        match = fullmatch(rest)
        yield keys[match.lastindex - 1] if match and match.lastindex else None
