"""Every key of the store, each with its type, place, life and meaning: the only place that spells a key's name.

`keys` builds names from it; the audit recognises keys by it; the tables of
docs/data-model.md are written from it. The scripts spell keys as well: tests compare them with this table.
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

    name: str
    """Without the shard's prefix; variable parts in angle brackets."""

    type: str
    content: str
    purpose: str
    place: Place = Place.SHARD
    life: int | None = None
    """Seconds a new key lives at most; None if it never expires."""

    writers: str = ""
    """What writes it besides scripts, and which scripts' headers do not say."""

    follows: str = ""
    """Name of the key whose writers all write this one as well."""

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


def _of_group(whole: Key, purpose: str = "as `score:<slug>`", note: str = "") -> Key:
    """Return a group's part of a ranking."""
    return Key(
        f"{whole.name.removesuffix(':')}:<slug>",
        "zset",
        f"`group:<slug>` ∩ `{whole.name}`{note}",
        purpose,
        life=MINUTE,
        follows=whole.name,
        in_backup=InBackup.OMITTED,
    )


ARTICLE = Key(
    "article:<id>",
    "hash",
    "the article, [fields](#fields) below",
    "the single source: every list can be rebuilt from it",
)
VOTED = Key(
    "voted:<id>",
    "set",
    "ids of the users who voted for it",
    "kept until 2 days after `closes` by the store's own clock, which a jump of a machine's clock cannot advance. "
    "Then housekeeping drops it, and only the counts remain",
)
OPPOSE = Key("oppose:<id>", "set", "ids of the users who opposed it", "as `voted:<id>`")
LEFT_OUT_ON_ARTICLE = Key(
    "leftout:<id>",
    "set",
    "ids of its voters whose choices are left out of ranking",
    "the choices that count again when their members' do; kept as long as `voted:<id>`, and then only the numbers "
    "remain",
)
BROUGHT = Key(
    "brought:<id>",
    "zset",
    "id of each member whose vote came with a merged article → its id, negative for an oppose; and minus the id "
    "of a member → number of the last merge when the member took a choice on the article back, and ½",
    "the votes that leave the article if a merge is undone; kept as long as `voted:<id>`, and then only the "
    "numbers remain",
)
COMMENT = Key(
    "comment:<comment>",
    "hash",
    "the comment, [fields](#fields) below. Its id is the article's, and six digits of its number in the article",
    "the single source: every list of comments can be rebuilt from it. Its author can delete it; with "
    "replies, a stub remains",
)
COMMENT_VOTED = Key(
    "comment:voted:<comment>",
    "set",
    "ids of the users who voted for it",
    "as `voted:<id>`",
)
COMMENT_OPPOSE = Key("comment:oppose:<comment>", "set", "ids of the users who opposed it", "as `voted:<id>`")
COMMENT_VOTERS = Key(
    "comment:voters:",
    "zset",
    "id of each comment that has been voted on → when voting on it ends",
    "finds the voter sets to drop; leaves out dropped ones",
    in_backup=InBackup.REBUILT,
)
REPLIES_BEST = Key(
    "replies:best:<comment>",
    "zset",
    "id of each direct reply to a comment → negative lower bound of its share of votes; without votes, opposes",
    "the best first, of equal ones the oldest. Top-level comments reply to the article's id and six zeros",
    in_backup=InBackup.REBUILT,
)
REPLIES_TIME = Key(
    "replies:time:<comment>",
    "zset",
    "id of each direct reply to a comment → posting time",
    "the newest, or the oldest, first",
    in_backup=InBackup.REBUILT,
)
REPLIES: Mapping[str, Key] = {"best": REPLIES_BEST, "time": REPLIES_TIME}
"""Lists of the replies to a comment, by their order. `reply_places` in `lua/lib/formulas.lua` has the places."""
COMMENT_SENT = Key(
    "comment:sent:<digest>",
    "string",
    "id of the comment that was posted with this text by this member in this place; the digest is of the three",
    "a form that is sent twice posts one comment. For a reply by mail, the digest has its Message-ID instead of "
    "the text, and is kept for 30 days",
    life=10 * MINUTE,
    in_backup=InBackup.OMITTED,
)
FLAGS = Key(
    "flags:<comment>",
    "hash",
    "member id → the member's flag: `reason time weight state words`; `kept` → why moderators kept it. "
    "For an article the id is its own and six zeros",
    "what moderators decide on, and what the members who flagged it see of the decision; kept as long as what is "
    "flagged",
)
FLAGGED = Key(
    "flagged:",
    "zset",
    "id of each comment, and of each article with six zeros, that has open flags → hundredths of their weight · "
    "2³² + 2³² − 1 − second of the oldest",
    "the moderators' queue: the heaviest first, of equal ones the longest waiting",
    in_backup=InBackup.REBUILT,
)
VOTES = Key(
    "votes:<user>",
    "zset",
    "id of each article the member voted for → when",
    "the member's own list, written in the same step as the vote. Complete for the longest voting window of any "
    "article in the shard and 2 more days; older entries are kept up to 1,000 in all",
)
OPPOSES = Key("opposes:<user>", "zset", "id of each article the member opposed → when", "as `votes:<user>`")
POSTED = Key(
    "posted:<user>",
    "zset",
    "id of each article the member posted → posting time",
    "the member's page, and the articles to anonymise when the account is deleted, after which moderators can "
    "sweep them for 30 days; written in the same step as the article",
)
COMMENTED = Key(
    "commented:<user>",
    "zset",
    "id of each comment of the member → posting time",
    "the comments in the member's export, and those to anonymise when the account is deleted, as `posted:<user>`; "
    "written in the same step as the comment",
    in_backup=InBackup.REBUILT,
)
FLAGS_BY = Key(
    "flags:by:<user>",
    "zset",
    "id of each comment, and of each article with six zeros, that the member flagged → 1 if moderators removed "
    "it, −1 if they kept it, 0 before; a poster's request to withdraw an article: 0.5, −0.5, 0",
    "how often the member's flags are right decides their weight; also the flags in the member's export, and "
    "those to withdraw when the account is deleted",
)
INBOX = Key(
    "inbox:<user>",
    "zset",
    "word and comment of each notice, such as `reply:42000001` → when; `reply`, `mention`, `flag-removed` or "
    "`flag-kept` of the member's flag, or an action of the moderation log. Notices about an article name its id "
    "and six zeros",
    "the member's inbox, written in the same step as what it is about; the newest 1,000",
)
SUGGESTED = Key(
    "suggested:<user>",
    "zset",
    "id of each article with a suggestion that the member supports → when",
    "the suggestions in the member's export, and those to take support from when the member is banned or deletes "
    "the account; entries as old as a suggestion can be are dropped",
    life=7 * DAY,
)
VISITS = Key(
    "visits:<user>",
    "hash",
    "id of an article → end of the member's last visit but one to its page (`-` if there was none), how many "
    "comments the last one showed, its end, and when the member opened the article's link, if that was later; "
    "times in Unix seconds",
    "marks the articles that the member has read, and the comments that are new to the member. Visits less than "
    "half an hour apart are one; keeps the newest 500, and at most twice as many. Older ones than the life of the "
    "key are dropped along with the next visits",
    life=30 * DAY,
    in_backup=InBackup.OMITTED,
)
DELETED_MEMBERS = Key(
    "gone:",
    "set",
    "ids of the members whose accounts are deleted",
    "their late requests can neither vote nor post; the id alone identifies no person",
)
LEFT_OUT = Key(
    "leftout:",
    "set",
    "ids of the members whose choices are left out of ranking",
    "every vote checks it; the same in every shard once an act is complete",
)
LEFT_OUT_ACTS = Key(
    "leftout:acts:",
    "hash",
    "member id → number of the last act: an odd one leaves the member's choices out of ranking, an even "
    "one counts them again; and `open` until all articles and comments are settled, then `done`",
    "an interrupted act is continued, unless a later one has reversed it",
)
PROBATION = Key(
    "probation:",
    "set",
    "ids of the members on probation: those of `leftout:` whose choices wait until they are no longer new",
    "says why they are left out, and finds those whose probation ends; the same in every shard once an act is "
    "complete",
)
SCORE = Key("score:", "zset", "id of each listed article → score", "the front page", in_backup=InBackup.REBUILT)
TIME = Key(
    "time:",
    "zset",
    "id of each listed article → posting time",
    "the newest articles",
    in_backup=InBackup.REBUILT,
)
POINTS = Key(
    "points:",
    "zset",
    "id of each listed article → points · 2³² + posting second",
    "the most points of all time; of equal points the newest first, in one number that is exact below two million "
    "points",
    in_backup=InBackup.REBUILT,
)
ACTIVE = Key(
    "active:",
    "zset",
    "id of each listed article with a comment that is shown → time of the last one; 253,402,300,800 seconds less "
    "for locked discussions",
    "the discussions, those with the newest comment first, and locked ones last",
    in_backup=InBackup.REBUILT,
)
TOP = Key(
    "top:<period>",
    "zset",
    "`points:` of what was posted in the last day, week or month (30 days)",
    "a page of it costs what the front page costs; an expired article may stay listed for a minute",
    life=MINUTE,
    follows="points:",
    in_backup=InBackup.OMITTED,
)
MERGING = Key(
    "merging:",
    "zset",
    "id of each article into which another one is being merged, or was → since when",
    "housekeeping moves the rest of the votes if a process dies",
    in_backup=InBackup.REBUILT,
)
REMOVED = Key(
    "removed:",
    "zset",
    "id of each removed article → posting time",
    "finds removed articles for counts, imports and merges of groups",
    in_backup=InBackup.REBUILT,
)
GROUP = Key(
    "group:<slug>",
    "set",
    "ids of the group's listed articles, without removed ones",
    "the source of the rankings below, the size of the group, and what a reader who hides the group does not see",
    in_backup=InBackup.REBUILT,
)
SCORE_OF_GROUP = _of_group(
    SCORE, "a group's page costs what the front page costs; lives for a minute after the last read"
)
TIME_OF_GROUP = _of_group(TIME)
POINTS_OF_GROUP = _of_group(POINTS)
ACTIVE_OF_GROUP = _of_group(ACTIVE)
HOT = Key(
    "hot:score",
    "zset",
    "id of each listed article that was viewed → hotness, the highest 1,000; up to twice as many between two "
    "scorings",
    "the hot list; all of it is scored for the moment `refreshed_at`",
    in_backup=InBackup.REBUILT,
)
HOT_OF_GROUP = _of_group(
    HOT,
    "as `score:<slug>`; deleted when the hot list is rescored",
    " (weights 0 and 1, or a hotness below 1 would become 1)",
)
PAGEVIEWS = Key(
    "counter:views:<id>",
    "string",
    "page views that count",
    "kept until the article is archived, 90 days after its last view",
)
VISITORS = Key(
    "hll:uv:<id>",
    "string",
    "HyperLogLog of the visitors whose views count, as digests of 16 hex digits",
    "12 KB at most for any number of visitors, ±0.81 %",
)
SUSPECTS = Key(
    "counter:suspect:<id>",
    "hash",
    "reason → number of suspect views",
    "counted separately; does not affect ranking",
)
DAYS = Key(
    "days:<id>",
    "hash",
    "day:kind → number of views of 14 days, with days counted from 1970",
    "the charts of an article",
    life=15 * DAY,
)
SITE_DAYS = Key(
    "days:",
    "hash",
    "day:kind → number of views of 14 days, of all articles of the shard",
    "the charts of the site",
    life=15 * DAY,
    writers="housekeeping",
)
VISITORS_OF_DAY = Key(
    "hll:day:<day>",
    "string",
    "HyperLogLog of one day's visitors, of all articles of the shard",
    "a visitor of many articles counts as one visitor of the day",
    life=15 * DAY,
)
SEEN = Key(
    "seen:<id>:<visitor>",
    "string",
    "when this visitor's view of the article last counted",
    "the next view counts 10 minutes later",
    life=10 * MINUTE,
    in_backup=InBackup.OMITTED,
)
BURST_ON_ARTICLE = Key(
    "burst:<id>:<network>",
    "string",
    "views of the article from one network within the window",
    "more than 30 are suspect",
    life=10 * MINUTE,
    in_backup=InBackup.OMITTED,
)
BURST = Key(
    "burst:<network>",
    "string",
    "views of all articles of the shard from one network within the window",
    "more than 300, over all shards, are suspect",
    life=10 * MINUTE,
    in_backup=InBackup.OMITTED,
)
RING = Key(
    "ring:<id>:<network>",
    "zset",
    "ids of the new accounts that chose on the article or its comments from one network → when",
    "notices a [voting ring](limits.md#voting-rings). Holds nothing for older accounts; expires an hour after the "
    "last choice",
    life=HOUR,
    in_backup=InBackup.OMITTED,
)
RINGS = Key(
    "rings:",
    "zset",
    "id of each listed article with a voting ring that no moderator has checked → its last vote, the newest 1,000",
    "the moderators' list of voting rings; the ring itself is in the article",
    in_backup=InBackup.REBUILT,
)
VIEWED = Key(
    "viewed:",
    "zset",
    "id → time of its last view that counts",
    "finds articles that are no longer read",
)
HISTORY = Key(
    "history:<id>",
    "list",
    "samples of the article's ranks, newest first, each `moment rank points hot-rank`; `-` where it is in no list",
    "the chart of its ranks; 1,008 samples at most",
    life=7 * DAY,
)
NEXT_SCORE = Key(
    "next:score",
    "zset",
    "id of each listed article → score by the weight that is being applied",
    "replaces `score:` once it is complete; exists only until then",
    in_backup=InBackup.REBUILT,
)
CHANGES = Key(
    "changes:",
    "zset",
    "ids of articles, and of comments after a `c` → when they changed last, in microseconds of the server's "
    "clock; the last 20,000",
    "the search indexes of web nodes and mirrors read them again; an index that missed some is built again",
    in_backup=InBackup.OMITTED,
)
RANKING = Key(
    "ranking:",
    "hash",
    "the current parameters, and those being applied",
    "scripts read it where they rank, so no process ranks by outdated ones",
    writers="the first start",
)
VOTE_LIMIT = Key(
    "limit:votes:<user>",
    "string",
    "moment, in ms, at which the member can cast all votes of the limit again",
    "votes are limited in the step that casts them; expires at that moment. Each shard has its own",
    life=2 * MINUTE,
    in_backup=InBackup.OMITTED,
)
LOG = Key(
    "log:",
    "list",
    "moderation log, newest first, as JSON: `action`, `at`, `actor`, `id`, `title`, `reason`, `details`",
    "written in the same step as the change that it records",
)
CONFIRMED = Key(
    "confirmed:",
    "string",
    "1",
    "written after each change that replicas are to confirm: the server then waits for this write and all "
    "before it",
    writers="changes, if `STORE_CONFIRM_REPLICAS` is set",
    in_backup=InBackup.OMITTED,
)
GROUPS = _first("groups:", "hash", "slug → title", "which groups exist")
DESCRIPTIONS = _first(
    "descriptions:",
    "hash",
    "slug → description, in Markdown, at most 2,000 characters",
    "what a group is about; of existing groups only",
)
TUNINGS = _first(
    "tunings:",
    "list",
    "every version of the parameters, newest first, as JSON: `version`, `at`, `actor`, `reason`, `parameters`, "
    "and `learnt_from` if the site adjusted the weight by itself",
    "the lab's history, and what a change is rolled back to",
)
MERGED = _first(
    "merged:",
    "hash",
    "slug of a former group → slug of the one it was merged into",
    "redirects old addresses, always to the last group of a chain",
)
COUNTER = _outside(
    "article:",
    "string",
    "last article id given out",
    "an id is never used twice; some are skipped",
    writers="posting, imports, repair",
)
ACCOUNTS = _outside(
    "accounts:",
    "hash",
    "highest account ids",
    "an account id is never used twice, even if the accounts database is older than the store",
)
LINK = _outside(
    "link:<digest>",
    "string",
    "id of the article that posted the link; the digest is of the normalised link, or else of title and text",
    "the same link, or the same text, posted again leads to the existing article",
    life=48 * HOUR,
    writers="imports",
)
SAVED = _outside(
    "saved:<user>",
    "zset",
    "id of each article the member saved → when",
    "the member's own list; 2,000 at most",
)
SCHEMA = _outside(
    "schema:",
    "hash",
    "layout of the store",
    "a store of another layout or another number of shards is refused",
    writers="the first start",
)
SHIFT = _outside(
    "shift:<digest>",
    "string",
    "seconds by which an import moved a file's times; the digest is of the file",
    "importing the file again finds the same articles",
    writers="imports",
)
SALT = _outside(
    "salt:<day>",
    "string",
    "random text in the digests of one day's visitors without a cookie",
    "the same for all processes; once it has expired, visitors can no longer be identified",
    life=2 * DAY,
    writers="the first process that needs it",
    in_backup=InBackup.OMITTED,
)
LIMIT = _outside(
    "limit:<action>:<subject>",
    "string",
    "moment, in ms, at which all uses of the limit are refilled; the subject is a member's id, or a digest of an "
    "account, a mail address or a network",
    "[rate limits](limits.md), for all processes together and across restarts; expires at that moment",
    life=limits.LONGEST_PERIOD,
    in_backup=InBackup.OMITTED,
)
HOT_LOCK = _outside(
    "lock:hot",
    "string",
    "token of the process that rescores the hot list",
    "other processes keep serving the list meanwhile",
    life=10,
    writers="readers and housekeeping",
    in_backup=InBackup.OMITTED,
)
BACK_LOCK = _outside(
    "lock:back",
    "string",
    "1",
    "the hot list is rescored for an earlier moment only once a minute, so that processes whose clocks differ do "
    "not rescore it in turns at every read",
    life=MINUTE,
    writers="readers and housekeeping",
    in_backup=InBackup.OMITTED,
)
TICK_LOCK = _outside(
    "lock:tick",
    "string",
    "token of the process that holds the housekeeping lease",
    "of several nodes one does the housekeeping",
    life=30,
    writers="housekeeping",
    in_backup=InBackup.OMITTED,
)
WEIGHT_LOCK = _outside(
    "lock:weight",
    "string",
    "1",
    "once a day the site checks whether another weight of a vote suits it better",
    life=DAY,
    writers="housekeeping, imports",
    in_backup=InBackup.OMITTED,
)
FORGET_LOCK = _outside(
    "lock:forget",
    "string",
    "1",
    "the append-only file is rewritten once a day, so that it keeps no expired salts and throttles",
    life=DAY,
    writers="housekeeping",
    in_backup=InBackup.OMITTED,
)
TICK = _outside(
    "tick:",
    "hash",
    "step of housekeeping → its last run, as JSON",
    "shows the operator that housekeeping runs",
    writers="housekeeping",
    in_backup=InBackup.OMITTED,
)
MEASUREMENTS = _outside(
    "measurements:",
    "hash",
    "moment → what the web server had counted by then, as JSON",
    "the operator's charts; one every five minutes, 300 at most",
    life=DAY,
    writers="housekeeping",
    in_backup=InBackup.OMITTED,
)
MERGE_LOCK = _outside(
    "lock:merge",
    "string",
    "token of the process that merges articles",
    "one merge at a time; renewed while votes are moved",
    life=20,
    in_backup=InBackup.OMITTED,
)
IMPORT_LOCK = _outside(
    "lock:import",
    "string",
    "token of the running import",
    "one import at a time; renewed by each batch, and released two minutes after a crash",
    life=2 * MINUTE,
    in_backup=InBackup.OMITTED,
)

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
