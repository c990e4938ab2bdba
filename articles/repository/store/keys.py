"""Build the names of keys from the table in `key_table`, with the prefix of the shard that they are in."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId, article_of
from articles.domain.lists import Order, Period
from articles.domain.members import UserId
from articles.repository.store import key_table as table

COUNTER = table.COUNTER.name
ACCOUNTS = table.ACCOUNTS.name
SCHEMA = table.SCHEMA.name
IMPORT_LOCK = table.IMPORT_LOCK.name
MERGE_LOCK = table.MERGE_LOCK.name
HOT_LOCK = table.HOT_LOCK.name
BACK_LOCK = table.BACK_LOCK.name
TICK_LOCK = table.TICK_LOCK.name
FORGET_LOCK = table.FORGET_LOCK.name
WEIGHT_LOCK = table.WEIGHT_LOCK.name
TICK = table.TICK.name
MEASUREMENTS = table.MEASUREMENTS.name

# Keys outside the shards, by their variable parts.
link: Callable[[str], str] = table.LINK.of
saved: Callable[[UserId], str] = table.SAVED.of
shift: Callable[[str], str] = table.SHIFT.of
limit: Callable[[str, str], str] = table.LIMIT.of
salt: Callable[[int], str] = table.SALT.of

RANKINGS: dict[Order, table.Key] = {order: getattr(table, order.name) for order in Order}
RANKINGS_OF_GROUPS: dict[Order, table.Key] = {order: getattr(table, f"{order.name}_OF_GROUP") for order in Order}


Part = TypeVar("Part")


class Single:
    """A key that a shard has once: its name, with the shard's prefix."""

    def __init__(self, key: table.Key) -> None:
        self._name = key.name

    def __get__(self, keys: "Keys", _: object) -> str:
        return keys.prefix + self._name


class Each(Generic[Part]):
    """A key that a shard has for each article, member, …: builds its name from the variable part."""

    def __init__(self, key: table.Key) -> None:
        self._template = key.template

    def __get__(self, keys: "Keys", _: object) -> Callable[[Part], str]:
        return (keys.prefix + self._template).__mod__


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of every key of one shard. What each holds is in `key_table`."""

    prefix: str = ""

    article = Each[ArticleId](table.ARTICLE)
    voted = Each[ArticleId](table.VOTED)
    oppose = Each[ArticleId](table.OPPOSE)
    brought = Each[ArticleId](table.BROUGHT)
    left_out_on = Each[ArticleId](table.LEFT_OUT_ON_ARTICLE)
    views = Each[ArticleId](table.PAGEVIEWS)
    visitors = Each[ArticleId](table.VISITORS)
    suspects = Each[ArticleId](table.SUSPECTS)
    history = Each[ArticleId](table.HISTORY)

    comment = Each[CommentId](table.COMMENT)
    comment_voted = Each[CommentId](table.COMMENT_VOTED)
    comment_oppose = Each[CommentId](table.COMMENT_OPPOSE)
    comment_sent = Each[str](table.COMMENT_SENT)

    flags = Each[CommentId](table.FLAGS)
    """Of a comment or, for `root_of(article)`, of the article."""

    replies_best = Each[CommentId](table.REPLIES_BEST)
    """Of a comment; for `root_of(article)`, the article's top-level comments."""

    replies_time = Each[CommentId](table.REPLIES_TIME)
    """As `replies_best`."""

    commented = Each[UserId](table.COMMENTED)
    flags_by = Each[UserId](table.FLAGS_BY)
    inbox = Each[UserId](table.INBOX)
    opposes_of = Each[UserId](table.OPPOSES)
    posted = Each[UserId](table.POSTED)
    suggested = Each[UserId](table.SUGGESTED)
    visits = Each[UserId](table.VISITS)
    votes_of = Each[UserId](table.VOTES)

    group = Each[str](table.GROUP)
    top = Each[Period](table.TOP)
    visitors_of_day = Each[int](table.VISITORS_OF_DAY)

    changes = Single(table.CHANGES)
    comment_voters = Single(table.COMMENT_VOTERS)
    deleted_members = Single(table.DELETED_MEMBERS)
    descriptions = Single(table.DESCRIPTIONS)
    flagged = Single(table.FLAGGED)
    groups = Single(table.GROUPS)
    left_out = Single(table.LEFT_OUT)
    left_out_acts = Single(table.LEFT_OUT_ACTS)
    log = Single(table.LOG)
    merged = Single(table.MERGED)
    merging = Single(table.MERGING)
    next_score = Single(table.NEXT_SCORE)
    probation = Single(table.PROBATION)
    ranking = Single(table.RANKING)
    removed = Single(table.REMOVED)
    rings = Single(table.RINGS)
    tunings = Single(table.TUNINGS)
    viewed = Single(table.VIEWED)

    def order(self, order: Order) -> str:
        """Ranking of all listed articles; by hotness and by activity only of those that have it."""
        return self.prefix + RANKINGS[order].of()

    def group_order(self, order: Order, slug: str) -> str:
        """Ranking of a group's articles, made when read and kept exact for 60 s after the last read."""
        return self.prefix + RANKINGS_OF_GROUPS[order].of(slug)

    def replies(self, parent: CommentId) -> tuple[str, ...]:
        """All lists of the replies to a comment, or to `root_of(article)`."""
        return tuple(self.prefix + key.of(parent) for key in table.REPLIES.values())

    def ring(self, article_id: ArticleId, network: str) -> str:
        """New accounts of one network that vote for an article."""
        return self.prefix + table.RING.of(article_id, network)

    def days(self, article_id: ArticleId | None = None) -> str:
        """Hash of views by day and kind, of one article or of all in the shard."""
        return self.prefix + (table.SITE_DAYS.of() if article_id is None else table.DAYS.of(article_id))

    def copied_of_comment(self, comment_id: CommentId) -> tuple[str, ...]:
        """Keys of a comment that a backup contains."""
        names = (self.comment, self.comment_voted, self.comment_oppose, self.flags)
        return tuple(name(comment_id) for name in names)


class Shards:
    """All shards. With one, its prefix is empty; with more, each prefix is a hash tag."""

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self.all = tuple(Keys("" if count == 1 else f"{{s{number}}}:") for number in range(count))
        self.directory = self.all[0]
        """The shard that holds the group directory."""

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
