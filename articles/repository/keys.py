"""Names of all keys. Nothing else spells one, but the scripts, which build group keys from the prefix.

docs/data-model.md describes each with its type, content and lifetime.
"""

from dataclasses import dataclass

from articles.domain import ArticleId, Order, UserId

COUNTER = "article:"
"""Last article id given out."""

SCHEMA = "schema:"
"""Hash: version of the layout, and the number of shards."""

IMPORTING = "lock:import"
"""Held by the one import that runs."""


def link(digest: str) -> str:
    """Id of the article that posted this link recently."""
    return f"link:{digest}"


def posted(user_id: UserId) -> str:
    """Sorted set of the ids of what a member posted, by posting time."""
    return f"posted:{user_id}"


def shift(digest: str) -> str:
    """Seconds by which an import moved a file's times, so that repeating it finds the same articles."""
    return f"shift:{digest}"


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of every key of one shard."""

    prefix: str = ""

    def article(self, article_id: ArticleId) -> str:
        """Hash of the article."""
        return f"{self.prefix}article:{article_id}"

    def voted(self, article_id: ArticleId) -> str:
        """Set of user ids that voted for the article; expires after the window."""
        return f"{self.prefix}voted:{article_id}"

    def oppose(self, article_id: ArticleId) -> str:
        """Set of user ids that opposed the article; expires after the window."""
        return f"{self.prefix}oppose:{article_id}"

    def order(self, order: Order) -> str:
        """Ranking of all listed articles."""
        return f"{self.prefix}{order.value}:"

    def group(self, slug: str) -> str:
        """Set of the ids of a group's listed articles."""
        return f"{self.prefix}group:{slug}"

    def group_order(self, order: Order, slug: str) -> str:
        """Ranking of a group's articles, made when read and kept exact for 60 s after the last read."""
        return f"{self.prefix}{order.value}:{slug}"

    @property
    def removed(self) -> str:
        """Sorted set of the ids of removed articles, by posting time."""
        return f"{self.prefix}removed:"

    @property
    def ranking(self) -> str:
        """Hash of the ranking's parameters in force."""
        return f"{self.prefix}ranking:"

    @property
    def log(self) -> str:
        """List of the moderation log's entries, newest first, as JSON."""
        return f"{self.prefix}log:"

    # The group directory and its log live in the first shard, so that a change of a group is one script too.

    @property
    def groups(self) -> str:
        """Hash of group slug to title."""
        return f"{self.prefix}groups:"

    @property
    def merged(self) -> str:
        """Hash of a former group's slug to the slug of the group it was merged into."""
        return f"{self.prefix}merged:"


@dataclass(frozen=True, slots=True)
class Shards:
    """All shards. With one, its prefix is empty; with more, each prefix is a hash tag."""

    count: int = 1

    def prefix(self, number: int) -> str:
        return "" if self.count == 1 else f"{{s{number}}}:"

    def of(self, article_id: ArticleId) -> Keys:
        """Keys of the shard that holds an article."""
        return Keys(self.prefix(article_id % self.count))

    @property
    def all(self) -> tuple[Keys, ...]:
        return tuple(Keys(self.prefix(number)) for number in range(self.count))

    @property
    def directory(self) -> Keys:
        """The shard that holds the group directory."""
        return self.all[0]
