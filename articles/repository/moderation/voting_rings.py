"""Votes cast together: voting rings, which scripts flag, and voting blocs, which are found in voter sets.

Rings are articles that votes flag for moderators: see `votes/cast`. Blocs are kept in this process only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import article_of
from articles.domain.errors import PageNotFound
from articles.domain.lists import Order
from articles.domain.members import PLACEHOLDERS, UserId
from articles.domain.moderation_log import Actor
from articles.domain.voting_blocs import MOST_VOTERS, Ballot, VotingBloc, find_blocs
from articles.repository.lists.reading import read_articles
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.clients.guarded_connection import answer_within
from articles.repository.store.connection import OfStore, Store, Value, exact_time
from articles.repository.store.scan import portions
from articles.repository.store.values import article_id_from


class RingPage(NamedTuple):
    """One page of the flagged articles, newest vote of a ring first."""

    articles: tuple[Article, ...]
    number: int
    has_next: bool


class VotingRings(OfStore):
    """The voting rings of a store."""

    def count(self) -> int:
        """Return the number of flagged articles. One round trip."""
        return sum(self._store.in_shards(lambda pipe, keys: pipe.zcard(keys.rings)))

    def get_page(self, number: int = 1) -> RingPage:
        """Return page `number` of the flagged articles, counted from 1. Two round trips. Raises PageNotFound."""
        size = self._store.rules.per_page
        start = (number - 1) * size
        shards = self._store.in_shards(
            lambda pipe, keys: pipe.zrevrange(keys.rings, 0, start + size, withscores=True)
        )
        members = [member for member, _ in merge(*shards, key=itemgetter(1), reverse=True)][start:]
        if number > 1 and not members:
            raise PageNotFound(number)
        articles = read_articles(self._store, [article_id_from(member) for member in members[:size]], None)
        flagged = tuple(article for article in articles if article.ring and article.removed is None)
        return RingPage(flagged, number, has_next=len(members) > size)

    def check(self, article_id: ArticleId, seen: float, moderator: Actor) -> None:
        """Take the flag off an article until its ring has grown by as many accounts as flagged it. Idempotent.

        `seen`: the time of the last vote of the ring that the moderator saw, in Unix seconds. A ring that began
        later keeps its flag. One round trip. Raises ArticleNotFound.
        """
        store, keys = self._store, self._store.shards.of(article_id)
        times: list[Value] = [exact_time(seen), exact_time(store.now())]
        arguments: list[Value] = [article_id, *times, keys.prefix, moderator.name]
        store.change("voting_rings/check", article_id, [keys.article(article_id), keys.rings], arguments)


MOST_ARTICLES = 20_000
"""Number of articles whose votes are compared: the newest."""

MOST_COMMENTS = 10_000
"""Number of comments whose votes are compared: those on which voting ends last."""

KEPT_SECONDS = 3600
"""Time for which a process keeps what it found."""

_MOST_WAITING = 20.0
"""Seconds to wait for the store in total: much longer than other pages wait, for many short replies."""

MOST_SHOWN = 50
"""Blocs, and articles of each of them, that are shown."""


@dataclass(frozen=True, slots=True)
class FoundBlocs:
    """The voting blocs at the time `at`, in Unix seconds, the largest first."""

    at: float
    blocs: tuple[VotingBloc, ...]


class _Subject(NamedTuple):
    """What members choose on: an article, or a comment on it. `sets`: names of its voter sets."""

    article: ArticleId
    sets: tuple[str, str]
    is_comment: bool


class _Accounts(dict[str, UserId]):
    """Account ids by member of a voter set, each one object: all sets together may have millions of members.

    0 for an unnamed voter of an imported article, and for a damaged member.
    """

    def __missing__(self, member: str) -> UserId:
        number = int(member) if member.isascii() and member.isdecimal() else 0
        self[member] = 0 if number in PLACEHOLDERS else number
        return self[member]


class VotingBlocs:
    """The voting blocs of a store. Who votes with whom is stored nowhere."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._found: FoundBlocs | None = None

    def get(self) -> FoundBlocs:
        """Return the voting blocs, as they were within KEPT_SECONDS.

        Unless they are kept, one round trip, and two for each ARTICLES_PER_READ recent articles, MOST_ARTICLES at
        most, and comments, MOST_COMMENTS at most.
        """
        with self._lock:  # others wait, and find what this thread has found
            now = self._store.now()
            if self._found is None or not 0 <= now - self._found.at < KEPT_SECONDS:
                with answer_within(_MOST_WAITING):
                    ballots = list(self._ballots())
                self._found = FoundBlocs(now, tuple(find_blocs(ballots)[:MOST_SHOWN]))
            return self._found

    def get_articles(self, blocs: Sequence[VotingBloc]) -> dict[ArticleId, Article]:
        """Return the articles of these blocs that are shown and listed, by id. One round trip."""
        ids = list(dict.fromkeys(number for bloc in blocs for number in bloc.articles[:MOST_SHOWN]))
        articles = read_articles(self._store, ids, None) if ids else []
        return {article.id: article for article in articles if article.removed is None}

    def _ballots(self) -> Iterator[Ballot]:
        """Yield the accounts that voted for each recent article and comment, and those that opposed it."""
        accounts = _Accounts()
        for subjects in (subjects for some in self._recent() for subjects in portions(some, ARTICLES_PER_READ)):
            with self._store.pipeline() as pipe:
                for one in subjects:
                    pipe.hget(self._store.shards.of(one.article).article(one.article), "groups")
                    for name in one.sets:
                        pipe.scard(name)
                replies = pipe.execute(raise_on_error=False)  # a key may be of another type
            sets = [
                (name, one, str(groups or "").partition(",")[0])
                for one, groups, *sizes in zip(subjects, replies[::3], replies[1::3], replies[2::3], strict=True)
                for name, size in zip(one.sets, sizes, strict=True)
                if isinstance(size, int) and 1 < size <= MOST_VOTERS
            ]
            with self._store.pipeline() as pipe:
                for name, _, _ in sets:
                    pipe.smembers(name)
                voters = pipe.execute(raise_on_error=False) if sets else []
            for (_, one, topic), members in zip(sets, voters, strict=True):
                if not isinstance(members, Exception):
                    known = tuple(filter(None, map(accounts.__getitem__, members)))
                    yield Ballot(one.article, topic, known, one.is_comment)

    def _recent(self) -> tuple[list[_Subject], list[_Subject]]:
        """Return the newest listed articles and the newest comments that may have voter sets. One round trip."""
        rules, shards = self._store.rules, self._store.shards.all
        since = exact_time(self._store.now() - rules.voting_window - rules.voters_grace)
        with self._store.pipeline() as pipe:
            for keys in shards:
                most = MOST_ARTICLES // len(shards)
                pipe.zrevrangebyscore(keys.order(Order.TIME), "+inf", since, start=0, num=most)
            for keys in shards:
                most = MOST_COMMENTS // len(shards)
                pipe.zrevrangebyscore(keys.comment_voters, "+inf", "-inf", start=0, num=most)
            replies = pipe.execute()
        found: tuple[list[_Subject], list[_Subject]] = [], []
        for keys, articles, comments in zip(shards, replies, replies[len(shards) :], strict=False):
            for article in map(article_id_from, articles):
                found[0].append(_Subject(article, (keys.voted(article), keys.oppose(article)), is_comment=False))
            for comment in map(article_id_from, comments):
                sets = keys.comment_voted(comment), keys.comment_oppose(comment)
                found[1].append(_Subject(article_of(comment), sets, is_comment=True))
        return found
