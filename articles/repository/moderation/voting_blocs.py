"""Voting blocs: found in the voter sets of recent articles, and kept in this process only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Order
from articles.domain.members import PLACEHOLDERS, UserId
from articles.domain.moderation.voting_blocs import MOST_VOTERS, Ballot, VotingBloc, find_blocs
from articles.repository.lists.reading import read_articles
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.clients.guarded_connection import answer_within
from articles.repository.store.connection import Store, exact_time
from articles.repository.store.scan import portions
from articles.repository.store.values import article_id_from

MOST_ARTICLES = 20_000
"""Number of articles whose votes are compared: the newest."""

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

        Two round trips for each ARTICLES_PER_READ recent articles, of MOST_ARTICLES at most, unless they are kept.
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
        """Yield the accounts that voted for each recent article, and those that opposed it."""
        accounts = _Accounts()
        for ids in portions(self._recent_ids(), ARTICLES_PER_READ):
            names = [(self._store.shards.of(number), number) for number in ids]
            with self._store.pipeline() as pipe:
                for keys, number in names:
                    pipe.hget(keys.article(number), "groups")
                    pipe.scard(keys.voted(number))
                    pipe.scard(keys.oppose(number))
                replies = pipe.execute(raise_on_error=False)  # a key may be of another type
            sets = [
                (name(number), number, str(groups or "").partition(",")[0])
                for (keys, number), groups, *sizes in zip(
                    names, replies[::3], replies[1::3], replies[2::3], strict=True
                )
                for name, size in zip((keys.voted, keys.oppose), sizes, strict=True)
                if isinstance(size, int) and 1 < size <= MOST_VOTERS
            ]
            with self._store.pipeline() as pipe:
                for name, _, _ in sets:
                    pipe.smembers(name)
                voters = pipe.execute(raise_on_error=False) if sets else []
            for (_, number, topic), members in zip(sets, voters, strict=True):
                if not isinstance(members, Exception):
                    yield Ballot(number, topic, tuple(filter(None, map(accounts.__getitem__, members))))

    def _recent_ids(self) -> list[ArticleId]:
        """Return the ids of the newest listed articles that may have voter sets. One round trip."""
        rules, shards = self._store.rules, self._store.shards.all
        since = exact_time(self._store.now() - rules.voting_window - rules.voters_grace)
        most = MOST_ARTICLES // len(shards)
        with self._store.pipeline() as pipe:
            for keys in shards:
                pipe.zrevrangebyscore(keys.order(Order.TIME), "+inf", since, start=0, num=most)
            return [article_id_from(member) for members in pipe.execute() for member in members]
