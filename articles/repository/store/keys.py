"""Names of all keys. Nothing else spells one, but the scripts, which build group keys from the prefix.

docs/data-model.md describes each with its type, content and lifetime.
"""

from dataclasses import dataclass

from articles.domain.articles import ArticleId
from articles.domain.lists import Order, Span
from articles.domain.members import UserId

COUNTER = "article:"
"""Last article id given out."""

SCHEMA = "schema:"
"""Hash: version of the layout, and the number of shards."""

IMPORTING = "lock:import"
"""Held by the one import that runs."""

REFRESHING = "lock:hot"
"""Held by whoever scores the hot list anew."""

GOING_BACK = "lock:back"
"""There for as long as the hot list is fresh, once a process scored it for an earlier moment than it was."""

KEEPING_HOUSE = "lock:tick"
"""Held by the one process that keeps house."""

FORGETTING = "lock:forget"
"""There for a day after the append-only file was written anew."""

WEIGHING = "lock:weight"
"""There for a day after the site looked whether another weight of a vote fits it."""

TICK = "tick:"
"""Hash: step of housekeeping to its last run, as JSON."""


def link(digest: str) -> str:
    """Id of the article that posted this link recently."""
    return f"link:{digest}"


def saved(user_id: UserId) -> str:
    """Sorted set of the ids of what a member saved, by when."""
    return f"saved:{user_id}"


def shift(digest: str) -> str:
    """Seconds by which an import moved a file's times, so that repeating it finds the same articles."""
    return f"shift:{digest}"


def salt(day: int) -> str:
    """Random text that makes the digests of one day's visitors; days are counted from 1970, UTC."""
    return f"salt:{day}"


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
        """Ranking of all listed articles; by hotness of those with the most."""
        return f"{self.prefix}hot:score" if order is Order.HOT else f"{self.prefix}{order.value}:"

    def group(self, slug: str) -> str:
        """Set of the ids of a group's listed articles."""
        return f"{self.prefix}group:{slug}"

    def group_order(self, order: Order, slug: str) -> str:
        """Ranking of a group's articles, made when read and kept exact for 60 s after the last read."""
        whole = self.order(order)
        return f"{whole}:{slug}" if order is Order.HOT else f"{whole}{slug}"

    def top(self, span: Span) -> str:
        """Ranking by points of what was posted lately, made when read, at most once a minute."""
        return f"{self.prefix}top:{span.value}"

    @property
    def next_score(self) -> str:
        """Ranking by the score with the weight that is being applied."""
        return f"{self.prefix}next:score"

    def views(self, article_id: ArticleId) -> str:
        """Page views that count."""
        return f"{self.prefix}counter:views:{article_id}"

    def visitors(self, article_id: ArticleId) -> str:
        """HyperLogLog of the visitors whose views count."""
        return f"{self.prefix}hll:uv:{article_id}"

    def suspects(self, article_id: ArticleId) -> str:
        """Hash of reason to number of suspect views."""
        return f"{self.prefix}counter:suspect:{article_id}"

    def seen(self, article_id: ArticleId, visitor: str) -> str:
        """When this visitor's view of the article last counted."""
        return f"{self.prefix}seen:{article_id}:{visitor}"

    def burst(self, network: str, article_id: ArticleId | None = None) -> str:
        """Views from one network within the window, of one article or of all in the shard."""
        return (
            f"{self.prefix}burst:{network}" if article_id is None else f"{self.prefix}burst:{article_id}:{network}"
        )

    def days(self, article_id: ArticleId | None = None) -> str:
        """Hash of views by day and kind, of one article or of all in the shard."""
        return f"{self.prefix}days:{'' if article_id is None else article_id}"

    def visitors_of_day(self, day: int) -> str:
        """HyperLogLog of one day's visitors of the shard's articles."""
        return f"{self.prefix}hll:day:{day}"

    def history(self, article_id: ArticleId) -> str:
        """List of the article's past ranks and points, newest first."""
        return f"{self.prefix}history:{article_id}"

    def posted(self, user_id: UserId) -> str:
        """Sorted set of the ids of what a member posted, by posting time."""
        return f"{self.prefix}posted:{user_id}"

    def votes_of(self, user_id: UserId) -> str:
        """Sorted set of the ids of what a member voted for, by when."""
        return f"{self.prefix}votes:{user_id}"

    def opposes_of(self, user_id: UserId) -> str:
        """Sorted set of the ids of what a member opposed, by when."""
        return f"{self.prefix}opposes:{user_id}"

    @property
    def gone(self) -> str:
        """Set of the ids of members whose accounts are deleted."""
        return f"{self.prefix}gone:"

    @property
    def viewed(self) -> str:
        """Sorted set of ids by the time of their last view that counts."""
        return f"{self.prefix}viewed:"

    @property
    def tunings(self) -> str:
        """List of the parameters that were in force, newest first, as JSON. In the first shard."""
        return f"{self.prefix}tunings:"

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

    def word(self, word: str) -> str:
        """Set of the ids of the listed articles that have a word: see `articles.searching.words`."""
        return f"{self.prefix}word:{word}"

    @property
    def lexicon(self) -> str:
        """Sorted set of all words of the shard's listed articles, by their bytes."""
        return f"{self.prefix}words:"

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
