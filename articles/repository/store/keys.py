"""Build the names of keys from the table in `key_table`, with the prefix of the shard that they are in."""

from collections.abc import Iterable
from dataclasses import dataclass

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import CommentId, article_of
from articles.domain.lists import Order, Period
from articles.domain.members import UserId
from articles.repository.store import key_table as table

COUNTER = table.COUNTER.name
ACCOUNTS = table.ACCOUNTS.name
SCHEMA = table.SCHEMA.name
IMPORT_LOCK = table.IMPORT_LOCK.name
HOT_LOCK = table.HOT_LOCK.name
BACK_LOCK = table.BACK_LOCK.name
TICK_LOCK = table.TICK_LOCK.name
FORGET_LOCK = table.FORGET_LOCK.name
WEIGHT_LOCK = table.WEIGHT_LOCK.name
TICK = table.TICK.name
MEASUREMENTS = table.MEASUREMENTS.name


def link(digest: str) -> str:
    return table.LINK.of(digest)


def saved(user_id: UserId) -> str:
    return table.SAVED.of(user_id)


def shift(digest: str) -> str:
    return table.SHIFT.of(digest)


def limit(action: str, subject: str) -> str:
    """A limit that is not decided in a shard."""
    return table.LIMIT.of(action, subject)


def salt(day: int) -> str:
    return table.SALT.of(day)


_RANKINGS = {
    Order.SCORE: table.SCORE,
    Order.TIME: table.TIME,
    Order.POINTS: table.POINTS,
    Order.ACTIVE: table.ACTIVE,
    Order.HOT: table.HOT,
}
_RANKINGS_OF_GROUPS = {
    Order.SCORE: table.SCORE_OF_GROUP,
    Order.TIME: table.TIME_OF_GROUP,
    Order.POINTS: table.POINTS_OF_GROUP,
    Order.ACTIVE: table.ACTIVE_OF_GROUP,
    Order.HOT: table.HOT_OF_GROUP,
}


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of every key of one shard."""

    prefix: str = ""

    def article(self, article_id: ArticleId) -> str:
        return self.prefix + table.ARTICLE.of(article_id)

    def voted(self, article_id: ArticleId) -> str:
        return self.prefix + table.VOTED.of(article_id)

    def oppose(self, article_id: ArticleId) -> str:
        return self.prefix + table.OPPOSE.of(article_id)

    def left_out_on(self, article_id: ArticleId) -> str:
        """Voters of an article whose choices are left out of ranking."""
        return self.prefix + table.LEFT_OUT_ON_ARTICLE.of(article_id)

    def comment(self, comment_id: CommentId) -> str:
        return self.prefix + table.COMMENT.of(comment_id)

    def comment_voted(self, comment_id: CommentId) -> str:
        return self.prefix + table.COMMENT_VOTED.of(comment_id)

    def comment_oppose(self, comment_id: CommentId) -> str:
        return self.prefix + table.COMMENT_OPPOSE.of(comment_id)

    def copied_of_comment(self, comment_id: CommentId) -> tuple[str, ...]:
        """Keys of a comment that a backup contains."""
        names = (self.comment, self.comment_voted, self.comment_oppose, self.flags)
        return tuple(name(comment_id) for name in names)

    def flags(self, subject: CommentId) -> str:
        """Flags of a comment or, for `root_of(article)`, of the article."""
        return self.prefix + table.FLAGS.of(subject)

    @property
    def flagged(self) -> str:
        return self.prefix + table.FLAGGED.of()

    @property
    def comment_voters(self) -> str:
        return self.prefix + table.COMMENT_VOTERS.of()

    def comment_sent(self, digest: str) -> str:
        return self.prefix + table.COMMENT_SENT.of(digest)

    def replies_best(self, parent: CommentId) -> str:
        """Replies to a comment or, for `root_of(article)`, the article's top-level comments; best first."""
        return self.prefix + table.REPLIES_BEST.of(parent)

    def replies_time(self, parent: CommentId) -> str:
        """Replies as in `replies_best`, oldest first."""
        return self.prefix + table.REPLIES_TIME.of(parent)

    def commented(self, user_id: UserId) -> str:
        return self.prefix + table.COMMENTED.of(user_id)

    def flags_by(self, user_id: UserId) -> str:
        return self.prefix + table.FLAGS_BY.of(user_id)

    def visits(self, user_id: UserId) -> str:
        return self.prefix + table.VISITS.of(user_id)

    def order(self, order: Order) -> str:
        """Ranking of all listed articles; by hotness and by activity only of those that have it."""
        return self.prefix + _RANKINGS[order].of()

    def group(self, slug: str) -> str:
        return self.prefix + table.GROUP.of(slug)

    def group_order(self, order: Order, slug: str) -> str:
        """Ranking of a group's articles, made when read and kept exact for 60 s after the last read."""
        return self.prefix + _RANKINGS_OF_GROUPS[order].of(slug)

    def top(self, period: Period) -> str:
        """Ranking by points of what was posted recently, made when it is read, at most once a minute."""
        return self.prefix + table.TOP.of(period.value)

    @property
    def next_score(self) -> str:
        return self.prefix + table.NEXT_SCORE.of()

    def views(self, article_id: ArticleId) -> str:
        return self.prefix + table.PAGEVIEWS.of(article_id)

    def visitors(self, article_id: ArticleId) -> str:
        return self.prefix + table.VISITORS.of(article_id)

    def suspects(self, article_id: ArticleId) -> str:
        return self.prefix + table.SUSPECTS.of(article_id)

    def seen(self, article_id: ArticleId, visitor: str) -> str:
        """When this visitor's view of the article last counted."""
        return self.prefix + table.SEEN.of(article_id, visitor)

    def burst(self, network: str, article_id: ArticleId | None = None) -> str:
        """Views from one network within the window, of one article or of all in the shard."""
        if article_id is None:
            return self.prefix + table.BURST.of(network)
        return self.prefix + table.BURST_ON_ARTICLE.of(article_id, network)

    def ring(self, article_id: ArticleId, network: str) -> str:
        """New accounts that chose on an article from one network."""
        return self.prefix + table.RING.of(article_id, network)

    @property
    def rings(self) -> str:
        return self.prefix + table.RINGS.of()

    def days(self, article_id: ArticleId | None = None) -> str:
        """Hash of views by day and kind, of one article or of all in the shard."""
        return self.prefix + (table.SITE_DAYS.of() if article_id is None else table.DAYS.of(article_id))

    def visitors_of_day(self, day: int) -> str:
        return self.prefix + table.VISITORS_OF_DAY.of(day)

    def history(self, article_id: ArticleId) -> str:
        return self.prefix + table.HISTORY.of(article_id)

    def posted(self, user_id: UserId) -> str:
        return self.prefix + table.POSTED.of(user_id)

    def votes_of(self, user_id: UserId) -> str:
        return self.prefix + table.VOTES.of(user_id)

    def opposes_of(self, user_id: UserId) -> str:
        return self.prefix + table.OPPOSES.of(user_id)

    def vote_limit(self, user_id: UserId) -> str:
        return self.prefix + table.VOTE_LIMIT.of(user_id)

    def inbox(self, user_id: UserId) -> str:
        return self.prefix + table.INBOX.of(user_id)

    @property
    def deleted_members(self) -> str:
        return self.prefix + table.DELETED_MEMBERS.of()

    @property
    def left_out(self) -> str:
        """Members whose choices are left out of ranking."""
        return self.prefix + table.LEFT_OUT.of()

    @property
    def left_out_acts(self) -> str:
        return self.prefix + table.LEFT_OUT_ACTS.of()

    @property
    def viewed(self) -> str:
        return self.prefix + table.VIEWED.of()

    @property
    def tunings(self) -> str:
        return self.prefix + table.TUNINGS.of()

    @property
    def removed(self) -> str:
        return self.prefix + table.REMOVED.of()

    @property
    def ranking(self) -> str:
        return self.prefix + table.RANKING.of()

    @property
    def log(self) -> str:
        return self.prefix + table.LOG.of()

    @property
    def changes(self) -> str:
        return self.prefix + table.CHANGES.of()

    @property
    def moving(self) -> str:
        return self.prefix + table.MOVING.of()

    @property
    def closed(self) -> str:
        return self.prefix + table.CLOSED.of()

    @property
    def changed(self) -> str:
        return self.prefix + table.CHANGED.of()

    @property
    def taken(self) -> str:
        return self.prefix + table.TAKEN.of()

    @property
    def groups(self) -> str:
        return self.prefix + table.GROUPS.of()

    @property
    def descriptions(self) -> str:
        return self.prefix + table.DESCRIPTIONS.of()

    @property
    def merged(self) -> str:
        return self.prefix + table.MERGED.of()


@dataclass(frozen=True, slots=True)
class Shards:
    """All shards. With one, its prefix is empty; with more, each prefix is a hash tag."""

    count: int = 1

    def prefix(self, number: int) -> str:
        return "" if self.count == 1 else f"{{s{number}}}:"

    def of(self, article_id: ArticleId) -> Keys:
        """Keys of the shard that holds an article."""
        return Keys(self.prefix(article_id % self.count))

    def of_comment(self, comment_id: CommentId) -> Keys:
        """Keys of the shard that holds a comment: that of its article."""
        return self.of(article_of(comment_id))

    def split(self, article_ids: Iterable[ArticleId]) -> dict[Keys, list[ArticleId]]:
        """Return the ids by shard, in their order."""
        shards: dict[Keys, list[ArticleId]] = {}
        for article_id in article_ids:
            shards.setdefault(self.of(article_id), []).append(article_id)
        return shards

    def split_comments(self, comment_ids: Iterable[CommentId]) -> dict[Keys, list[CommentId]]:
        """Return the ids of comments by shard, in their order."""
        shards: dict[Keys, list[CommentId]] = {}
        for comment_id in comment_ids:
            shards.setdefault(self.of_comment(comment_id), []).append(comment_id)
        return shards

    @property
    def all(self) -> tuple[Keys, ...]:
        return tuple(Keys(self.prefix(number)) for number in range(self.count))

    @property
    def directory(self) -> Keys:
        """The shard that holds the group directory."""
        return self.all[0]
