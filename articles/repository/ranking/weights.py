"""Adjusts the weight of a vote to the site: votes per day, learnt from recent articles."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from articles.domain import ranking
from articles.domain.articles import ArticleId, LeftOut, ranked_points
from articles.domain.errors import ActionRefused
from articles.domain.lists import Order
from articles.domain.moderation_log import OPERATOR
from articles.repository.lists.reading import left_out_from
from articles.repository.ranking.parameters import RankingParameters
from articles.repository.store import keys as names
from articles.repository.store.connection import OfStore, exact_time
from articles.repository.store.values import article_id_from, naming

MOST_ARTICLES = 2000  # articles to learn from; if there are more, evenly spaced batches of them
_PART = 100  # articles with neighbouring posting times in one batch


class Weights(OfStore):
    """The weight of a vote in a store, if the configuration leaves it to the site."""

    def get_recent(self) -> ranking.Settled:
        """Return the numbers to learn from, of at most about MOST_ARTICLES articles. At most five round trips."""
        now = self._store.now()
        replies = self._store.in_shards(
            lambda pipe, keys: (
                pipe.zrange(keys.order(Order.TIME), 0, 0, withscores=True),
                pipe.zrange(keys.order(Order.TIME), -1, -1, withscores=True),
            )
        )
        times = [float(time) for entries in replies for _, time in entries]
        if not times:
            return ranking.Settled((), 0, None)
        begin, end = max(times) - ranking.RECENT, min(max(times), now - ranking.SETTLED)
        points, choices = list[int](), 0
        for votes, opposes, left_out in self._counts(self._ids(begin, end)):
            points.append(ranked_points(votes, opposes, left_out))
            choices += max(0, votes + opposes - 1)
        return ranking.Settled(points, choices, min(times))

    def _ids(self, begin: float, end: float) -> list[ArticleId]:
        """Return ids of listed articles posted from `begin` to `end`, an even selection if there are too many."""
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
            return [article_id_from(member) for batch in pipe.execute() for member in batch]

    def _counts(self, ids: Sequence[ArticleId]) -> Iterator[tuple[int, int, LeftOut]]:
        """Yield votes, opposes, and those left out of ranking, of each article."""
        for first in range(0, len(ids), 10 * _PART):
            with self._store.pipeline() as pipe:
                for article_id in ids[first : first + 10 * _PART]:
                    keys = self._store.shards.of(article_id)
                    pipe.hmget(keys.article(article_id), "votes", "opposes", "left_out")
                for votes, opposes, left_out in pipe.execute():
                    if votes is not None:
                        with naming("the votes on an article"):
                            yield int(votes), int(opposes), left_out_from(left_out)

    def adjust(self, *, has_history: bool = False) -> int | None:
        """Begin to apply the votes per day that fit the site, at most once a day; return them, None if unchanged.

        `RankingParameters.advance` completes the change. With `has_history`, as after an import, it does not wait
        for the end of the site's first week or for the next day. At most nine round trips.
        """
        parameters = RankingParameters(self._store)
        state = parameters.get_state()
        is_free = self._store.rules.votes_per_day is None and not state.is_chosen and state.applying is None
        if not is_free or not self._is_due(has_history):
            return None
        recent = self.get_recent()
        if recent.since is None or not (has_history or self._store.now() - recent.since >= ranking.PATIENCE):
            return None
        votes_per_day = ranking.fitting_votes_per_day(recent)
        if votes_per_day is None or not ranking.is_worth_a_change(state.parameters.votes_per_day, votes_per_day):
            return None
        adjusted = replace(state.parameters, votes_per_day=votes_per_day)
        try:
            parameters.apply(
                adjusted,
                expected=state.version,
                actor=OPERATOR,
                reason="",
                is_chosen=False,
                learnt_from=len(recent.points),
            )
        except ActionRefused:
            return None  # another change came first; the next check is in a day
        return votes_per_day

    def _is_due(self, at_once: bool) -> bool:
        """Claim today's check; return False if it was claimed within the last day."""
        with self._store.commands() as client:
            return bool(client.set(names.WEIGHT_LOCK, "1", nx=not at_once, ex=int(ranking.DAY)))

    def reset_check(self) -> None:
        """Let the next housekeeping check again, however recent the last check. One round trip."""
        with self._store.commands() as client:
            client.delete(names.WEIGHT_LOCK)


def _evenly(parts: Sequence[tuple[str, int, int]], most: int) -> list[tuple[str, int, int]]:
    """Return at most `most` of the parts, evenly spaced."""
    if len(parts) <= most:
        return list(parts)
    return [parts[n * len(parts) // most] for n in range(most)]
