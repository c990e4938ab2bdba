"""Adjusting the weight of a vote to the site: learnt from recent articles, applied like a change in the lab."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from articles.domain.articles import ArticleId
from articles.domain.errors import ActionRefused
from articles.domain.lists import Order
from articles.domain.moderation import OPERATOR
from articles.domain.weight import DAY, PATIENCE, RECENT, SETTLED, Recent, fitting_votes_per_day, is_worth_a_change
from articles.repository.ranking.parameters import RankingParameters
from articles.repository.store import keys as names
from articles.repository.store.connection import Store, exact_time

MOST_ARTICLES = 2000
"""Articles that are looked at: of more, evenly spaced parts."""

_PART = 100
"""Articles of neighbouring posting times that are read together."""


class Weights:
    """The weight of a vote, in a store whose configuration leaves it to the site."""

    def __init__(self, store: Store, tunings: RankingParameters) -> None:
        self._store = store
        self._tunings = tunings

    def get_recent(self) -> Recent:
        """What there is to learn from: at most about MOST_ARTICLES. Five round trips at most."""
        shards, now = self._store.shards.all, self._store.now()
        with self._store.pipeline() as pipe:
            for keys in shards:
                pipe.zrange(keys.order(Order.TIME), 0, 0, withscores=True)
                pipe.zrange(keys.order(Order.TIME), -1, -1, withscores=True)
            times = [float(time) for found in pipe.execute() for _, time in found]
        if not times:
            return Recent((), 0, None)
        begin, end = max(times) - RECENT, min(max(times), now - SETTLED)
        points, choices = list[int](), 0
        for votes, opposes in self._counts(self._ids(begin, end)):
            points.append(votes - opposes)
            choices += max(0, votes + opposes - 1)
        return Recent(points, choices, min(times))

    def _ids(self, begin: float, end: float) -> list[ArticleId]:
        """Ids of listed articles posted from `begin` to `end`, of very many an even selection."""
        shards = [(keys.order(Order.TIME), keys) for keys in self._store.shards.all]
        with self._store.pipeline() as pipe:
            for ranking, _ in shards:
                pipe.zcount(ranking, "-inf", f"({exact_time(begin)}")
                pipe.zcount(ranking, "-inf", exact_time(end))
            bounds = pipe.execute()
        parts = [
            (ranking, start, min(start + _PART, last) - 1)
            for (ranking, _), first, last in zip(shards, bounds[::2], bounds[1::2], strict=True)
            for start in range(first, last, _PART)
        ]
        with self._store.pipeline() as pipe:
            for part in _evenly(parts, MOST_ARTICLES // _PART):
                pipe.zrange(*part)
            return [int(member) for found in pipe.execute() for member in found]

    def _counts(self, ids: Sequence[ArticleId]) -> Iterator[tuple[int, int]]:
        """Votes and opposes; without articles whose hash is damaged."""
        for first in range(0, len(ids), 10 * _PART):
            with self._store.pipeline() as pipe:
                for article_id in ids[first : first + 10 * _PART]:
                    keys = self._store.shards.of(article_id)
                    pipe.hmget(keys.article(article_id), "votes", "opposes")
                for counts in pipe.execute(raise_on_error=False):  # a key may be of another type
                    if isinstance(counts, list) and all((count or "").isdecimal() for count in counts):
                        votes, opposes = map(int, counts)
                        yield votes, opposes

    def adjust(self, *, has_history: bool = False) -> int | None:
        """Start applying the weight that fits the site, at most once a day. `Tunings.advance` completes it.

        Returns the new votes per day, None if nothing changes. With `has_history`, as after an import, it does not
        wait for the site's first week or for the next day.
        """
        state = self._tunings.get_state()
        is_free = self._store.rules.votes_per_day is None and not state.is_chosen and state.applying is None
        if not is_free or not self._is_due(has_history):
            return None
        recent = self.get_recent()
        if recent.since is None or not (has_history or self._store.now() - recent.since >= PATIENCE):
            return None
        votes_per_day = fitting_votes_per_day(recent)
        if votes_per_day is None or not is_worth_a_change(state.parameters.votes_per_day, votes_per_day):
            return None
        wanted = replace(state.parameters, votes_per_day=votes_per_day)
        try:
            self._tunings.apply(
                wanted,
                expected=state.version,
                actor=OPERATOR,
                reason="",
                is_chosen=False,
                learnt_from=len(recent.points),
            )
        except ActionRefused:
            return None  # another change came first; the next look is in a day
        return votes_per_day

    def _is_due(self, at_once: bool) -> bool:
        """Claim today's look; False if it was taken within the last day."""
        with self._store.commands() as client:
            return bool(client.set(names.WEIGHT_LOCK, "1", nx=not at_once, ex=int(DAY)))

    def reset_check(self) -> None:
        """Let the next housekeeping look again, however recent the last look was."""
        with self._store.commands() as client:
            client.delete(names.WEIGHT_LOCK)


def _evenly(parts: Sequence[tuple[str, int, int]], most: int) -> list[tuple[str, int, int]]:
    """At most `most` of the parts, from the first to the last at even distances."""
    if len(parts) <= most:
        return list(parts)
    return [parts[n * len(parts) // most] for n in range(most)]
