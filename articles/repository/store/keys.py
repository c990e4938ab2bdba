"""Every key of the store, each with its type, place and life: the only place that spells a key's name.

The audit recognises keys by it. docs/data-model.md says what each holds, and why; the other columns of its tables
are written from here. The scripts spell keys as well: tests compare them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from typing import Generic, Self, TypeVar, overload

from articles.domain import extras, limits
from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId, article_of
from articles.domain.lists import Order, Period
from articles.domain.members import UserId

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
    REBUILT = "rebuilt"  # left out: a restore derives it from what is copied
    OMITTED = "–"  # left out: the site does without it


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


Part = TypeVar("Part")


class Single(Key):
    """A key that a shard has once. `Keys` has its name, with the shard's prefix."""

    @overload
    def __get__(self, keys: None, owner: type) -> Self: ...
    @overload
    def __get__(self, keys: "Keys", owner: type) -> str: ...
    def __get__(self, keys: "Keys | None", owner: type) -> Self | str:
        return self if keys is None else keys.prefix + self.name


class Each(Key, Generic[Part]):
    """A key that a shard has for each article, member, …: `Keys` builds its name from the variable part."""

    @overload
    def __get__(self, keys: None, owner: type) -> Self: ...
    @overload
    def __get__(self, keys: "Keys", owner: type) -> Callable[[Part], str]: ...
    def __get__(self, keys: "Keys | None", owner: type) -> Self | Callable[[Part], str]:
        return self if keys is None else (keys.prefix + self.template).__mod__


_outside = partial(Key, place=Place.OUTSIDE)
OMITTED, REBUILT = InBackup.OMITTED, InBackup.REBUILT


def _of_group(whole: str) -> Each[str]:
    """Return a group's part of a ranking."""
    return Each[str](f"{whole.removesuffix(':')}:<slug>", "zset", life=MINUTE, in_backup=OMITTED)


@dataclass(frozen=True, slots=True)
class Keys:
    """Every key, in the order of docs/data-model.md; of one shard, its names."""

    prefix: str = ""

    article = Each[ArticleId]("article:<id>", "hash")
    voted = Each[ArticleId]("voted:<id>", "set")
    oppose = Each[ArticleId]("oppose:<id>", "set")
    left_out_on = Each[ArticleId]("leftout:<id>", "set")
    brought = Each[ArticleId]("brought:<id>", "zset")
    comment = Each[CommentId]("comment:<comment>", "hash")
    comment_voted = Each[CommentId]("comment:voted:<comment>", "set")
    comment_oppose = Each[CommentId]("comment:oppose:<comment>", "set")
    comment_voters = Single("comment:voters:", "zset", in_backup=REBUILT)
    replies_best = Each[CommentId]("replies:best:<comment>", "zset", in_backup=REBUILT)
    """Of a comment; for `root_of(article)`, the article's top-level comments."""

    replies_time = Each[CommentId]("replies:time:<comment>", "zset", in_backup=REBUILT)
    comment_sent = Each[str]("comment:sent:<digest>", "string", life=10 * MINUTE, in_backup=OMITTED)
    flags = Each[CommentId]("flags:<comment>", "hash")  # of a comment or, for `root_of(article)`, of the article
    flagged = Single("flagged:", "zset", in_backup=REBUILT)
    votes_of = Each[UserId]("votes:<user>", "zset")
    opposes_of = Each[UserId]("opposes:<user>", "zset")
    posted = Each[UserId]("posted:<user>", "zset")
    commented = Each[UserId]("commented:<user>", "zset", in_backup=REBUILT)
    flags_by = Each[UserId]("flags:by:<user>", "zset")
    inbox = Each[UserId]("inbox:<user>", "zset")
    visits = Each[UserId]("visits:<user>", "hash", life=30 * DAY, in_backup=OMITTED)
    deleted_members = Single("gone:", "set")
    left_out = Single("leftout:", "set")
    left_out_acts = Single("leftout:acts:", "hash")
    probation = Single("probation:", "set")
    score = Single("score:", "zset", in_backup=REBUILT)
    time = Single("time:", "zset", in_backup=REBUILT)
    points = Single("points:", "zset", in_backup=REBUILT)
    active = Single("active:", "zset", in_backup=REBUILT)
    top = Each[Period]("top:<period>", "zset", life=MINUTE, in_backup=OMITTED)
    merging = Single("merging:", "zset", in_backup=REBUILT)
    removed = Single("removed:", "zset", in_backup=REBUILT)
    group = Each[str]("group:<slug>", "set", in_backup=REBUILT)
    score_of_group = _of_group("score:")
    time_of_group = _of_group("time:")
    points_of_group = _of_group("points:")
    active_of_group = _of_group("active:")
    hot = Single("hot:score", "zset", in_backup=REBUILT)
    hot_of_group = _of_group("hot:score")
    views = Each[ArticleId]("counter:views:<id>", "string")
    visitors = Each[ArticleId]("hll:uv:<id>", "string")
    suspects = Each[ArticleId]("counter:suspect:<id>", "hash")
    days_of = Each[ArticleId]("days:<id>", "hash", life=15 * DAY)
    site_days = Single("days:", "hash", life=15 * DAY)
    visitors_of_day = Each[int]("hll:day:<day>", "string", life=15 * DAY)
    seen = Key("seen:<id>:<visitor>", "string", life=10 * MINUTE, in_backup=OMITTED)
    burst_on_article = Key("burst:<id>:<network>", "string", life=10 * MINUTE, in_backup=OMITTED)
    burst = Each[str]("burst:<network>", "string", life=10 * MINUTE, in_backup=OMITTED)
    ring_of = Key("ring:<id>:<network>", "zset", life=HOUR, in_backup=OMITTED)
    rings = Single("rings:", "zset", in_backup=REBUILT)
    viewed = Single("viewed:", "zset")
    history = Each[ArticleId]("history:<id>", "list", life=7 * DAY)
    next_score = Single("next:score", "zset", in_backup=REBUILT)
    changes = Single("changes:", "zset", in_backup=OMITTED)
    ranking = Single("ranking:", "hash")
    vote_limit = Each[UserId]("limit:votes:<user>", "string", life=2 * MINUTE, in_backup=OMITTED)
    log = Single("log:", "list")
    confirmed = Single("confirmed:", "string", in_backup=OMITTED)
    groups = Single("groups:", "hash", place=Place.FIRST)
    descriptions = Single("descriptions:", "hash", place=Place.FIRST)
    tunings = Single("tunings:", "list", place=Place.FIRST)
    merged = Single("merged:", "hash", place=Place.FIRST)

    # Outside of the shards
    counter = _outside("article:", "string")
    accounts = _outside("accounts:", "hash")
    link = _outside("link:<digest>", "string", life=2 * DAY)
    saved = _outside("saved:<user>", "zset")
    schema = _outside("schema:", "hash")
    shift = _outside("shift:<digest>", "string")
    salt = _outside("salt:<day>", "string", life=2 * DAY, in_backup=OMITTED)
    limit = _outside("limit:<action>:<subject>", "string", life=limits.LONGEST_PERIOD, in_backup=OMITTED)
    hot_lock = _outside("lock:hot", "string", life=10, in_backup=OMITTED)
    back_lock = _outside("lock:back", "string", life=MINUTE, in_backup=OMITTED)
    tick_lock = _outside("lock:tick", "string", life=30, in_backup=OMITTED)
    weight_lock = _outside("lock:weight", "string", life=DAY, in_backup=OMITTED)
    forget_lock = _outside("lock:forget", "string", life=DAY, in_backup=OMITTED)
    tick = _outside("tick:", "hash", in_backup=OMITTED)
    measurements = _outside("measurements:", "hash", life=DAY, in_backup=OMITTED)
    merge_lock = _outside("lock:merge", "string", life=20, in_backup=OMITTED)
    import_lock = _outside("lock:import", "string", life=2 * MINUTE, in_backup=OMITTED)

    def order(self, order: Order) -> str:
        """Ranking of all listed articles; by hotness and by activity only of those that have it."""
        return self.prefix + RANKINGS[order].of()

    def group_order(self, order: Order, slug: str) -> str:
        """Ranking of a group's articles, made when read and kept exact for 60 s after the last read."""
        return self.prefix + RANKINGS_OF_GROUPS[order].of(slug)

    def replies(self, parent: CommentId) -> tuple[str, ...]:
        """All lists of the replies to a comment, or to `root_of(article)`."""
        return tuple(self.prefix + key.of(parent) for key in REPLIES.values())

    def ring(self, article_id: ArticleId, network: str) -> str:
        """New accounts of one network that vote for an article."""
        return self.prefix + self.ring_of.of(article_id, network)

    def days(self, article_id: ArticleId | None = None) -> str:
        """Hash of views by day and kind, of one article or of all in the shard."""
        return self.site_days if article_id is None else self.days_of(article_id)

    def copied_of_comment(self, comment_id: CommentId) -> tuple[str, ...]:
        """Keys of a comment that a backup contains."""
        names = (self.comment, self.comment_voted, self.comment_oppose, self.flags)
        return tuple(name(comment_id) for name in names)


def _noun(key: Key | extras.Key) -> str:
    """Return the first part of a key's name, which is fixed."""
    return key.name.partition(":")[0]


_OWN = [value for value in vars(Keys).values() if isinstance(value, Key)]
TABLE: tuple[Key, ...] = (
    *_OWN,
    *(Key(name, type_, life=life, in_backup=InBackup(kept)) for name, type_, life, kept in extras.all_keys()),
)
extras.refuse_doubles("key", [*{_noun(key) for key in _OWN}, *{_noun(key) for key in extras.all_keys()}])
BY_NAME = {key.name: key for key in TABLE}

REPLIES: Mapping[str, Key] = {"best": Keys.replies_best, "time": Keys.replies_time}
"""Lists of the replies to a comment, by their order. `reply_places` in `lua/lib/formulas.lua` has the places."""

RANKINGS: dict[Order, Key] = {order: getattr(Keys, order.value) for order in Order}
RANKINGS_OF_GROUPS: dict[Order, Key] = {order: getattr(Keys, f"{order.value}_of_group") for order in Order}

COUNTER = Keys.counter.name
ACCOUNTS = Keys.accounts.name
SCHEMA = Keys.schema.name
IMPORT_LOCK = Keys.import_lock.name
MERGE_LOCK = Keys.merge_lock.name
HOT_LOCK = Keys.hot_lock.name
BACK_LOCK = Keys.back_lock.name
TICK_LOCK = Keys.tick_lock.name
FORGET_LOCK = Keys.forget_lock.name
WEIGHT_LOCK = Keys.weight_lock.name
TICK = Keys.tick.name
MEASUREMENTS = Keys.measurements.name

# Keys outside the shards, by their variable parts.
link: Callable[[str], str] = Keys.link.of
saved: Callable[[UserId], str] = Keys.saved.of
shift: Callable[[str], str] = Keys.shift.of
limit: Callable[[str, str], str] = Keys.limit.of
salt: Callable[[int], str] = Keys.salt.of


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
        nouns.setdefault(_noun(key), []).append(key)
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


def among(names: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether a key, with or without a shard's prefix, is of kinds that are not in the table."""
    matches = re.compile("|".join(Key(name, "").pattern for name in names) or "(?!)").fullmatch
    return lambda key: bool(matches(split_prefix(key)[1]))


class Shards:
    """All shards. With one, its prefix is empty; with more, each prefix is a hash tag."""

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self.all = tuple(Keys("" if count == 1 else f"{{s{number}}}:") for number in range(count))
        self.directory = self.all[0]  # the shard that holds the group directory

    def of(self, article_id: ArticleId) -> Keys:
        """Keys of the shard that holds an article."""
        return self.all[article_id % self.count]

    def of_comment(self, comment_id: CommentId) -> Keys:
        """Keys of the shard that holds a comment: that of its article."""
        return self.of(article_of(comment_id))

    def split(self, article_ids: Iterable[ArticleId]) -> dict[Keys, list[ArticleId]]:
        """Return the ids by shard, in their order."""
        shards: dict[Keys, list[ArticleId]] = {}
        for article_id in article_ids:
            shards.setdefault(self.of(article_id), []).append(article_id)
        return shards
