"""Why an article ranks where it does, read off the rankings themselves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.explanation import (
    Explanation,
    GroupPlace,
    HotnessParts,
    Neighbour,
    NextVote,
    Place,
    Sample,
    ScoreParts,
)
from articles.domain.lists import Order
from articles.domain.ranking import RANGES
from articles.repository.lists import merging
from articles.repository.lists.hot import Hot
from articles.repository.lists.merging import GROUP_RANKING_LIFE, MOST_READINGS, Entry
from articles.repository.lists.reading import sort_key, split_groups
from articles.repository.ranking.parameters import parameters_from
from articles.repository.readership.history import samples_from
from articles.repository.store.connection import Call, Store, Value


class _Facts(NamedTuple):
    """What ranks an article at one moment. `stored_…`: the values, as text; "" where it is not ranked."""

    score: ScoreParts
    hotness: HotnessParts
    groups: tuple[str, ...]
    stored_score: str
    stored_hotness: str
    version: str


_MISSING, _UNKNOWN = -1, -2
"""In place of `_Row.skipped`: a group's ranking has to be made first; it cannot, and counting would take long."""


class _Row(NamedTuple):
    """A place in one shard's ranking, as `find_places` tells it."""

    skipped: int
    total: int
    above: str
    above_value: str
    below: str
    below_value: str


class _Places(NamedTuple):
    """For each list the rows of all shards; and each shard's version and moment of the hot list."""

    front: Sequence[_Row]
    with_vote: Sequence[_Row]
    hot: Sequence[_Row]
    groups: Sequence[Sequence[_Row]]
    states: Sequence[Sequence[str]]

    @property
    def are_settled(self) -> bool:
        """Whether all rankings were there, scored by the same parameters for the same moment."""
        there = all(row.skipped != _MISSING for rows in self.groups for row in rows)
        return there and all(state == self.states[0] for state in self.states)


class _More(NamedTuple):
    """What is shown beside the numbers."""

    titles: Mapping[ArticleId, str]
    group_titles: Mapping[str, str]
    history: tuple[Sample, ...]


class Explanations:
    """The explanations of a store."""

    def __init__(self, store: Store, hot: Hot) -> None:
        self._store = store
        self._hot = hot

    def get(self, article: Article) -> Explanation:
        """Why a listed article ranks where it does, all of it at one moment.

        While the store takes no writes, groups too large to count through without a ranking are left out.

        Three round trips, whatever the number of groups and shards: what ranks it; its places; its neighbours'
        titles and its history. One more when a group's ranking has to be made, or when the article or the rankings
        changed meanwhile; and those of scoring the hot list where that is due.
        Raises ArticleNotFound, ArticleRemoved.
        """
        facts = self._hot.fresh(lambda: self._facts(article.id), lambda found: found.hotness.refreshed_at)
        for _ in range(MOST_READINGS):
            places, afterwards = self._places(article.id, facts)
            if afterwards == facts and places.are_settled:
                break
            facts = afterwards
        return self._told(article, facts, places)

    def _facts(self, article_id: ArticleId) -> _Facts:
        call = self._asking(article_id)
        return _facts_from(self._store.ask(call.script, article_id, call.keys, call.args))

    def _asking(self, article_id: ArticleId) -> Call:
        keys = self._store.shards.of(article_id)
        rankings = (keys.order(Order.SCORE), keys.order(Order.HOT), keys.ranking)
        counters = (keys.views(article_id), keys.visitors(article_id))
        return Call("ranking/explain", (keys.article(article_id), *counters, *rankings), (article_id,))

    def _places(self, article_id: ArticleId, facts: _Facts) -> tuple[_Places, _Facts]:
        """The places these facts come to, and the facts afterwards."""
        replies = self._store.run_many(self._looking(article_id, facts, are_made=False))
        if making := list(self._makings(facts.groups, replies[:-1])):
            calls = [*making, *self._looking(article_id, facts, are_made=True)]
            replies = self._store.run_many(calls)[len(making) :]
        *found, again = replies
        # If it is gone, asking alone says what became of it.
        afterwards = _facts_from(again) if again[0] == "ok" else self._facts(article_id)
        return _places_from(found), afterwards

    def _looking(self, article_id: ArticleId, facts: _Facts, *, are_made: bool) -> list[Call]:
        """What finds the places, then the facts. `are_made`: no ranking is made any more for the sake of these."""
        more = f"{facts.score.with_more(1):.17g}"
        ranked_by: list[Value] = [article_id, facts.stored_score, more, facts.stored_hotness]
        bounds: list[Value] = [GROUP_RANKING_LIFE, int(are_made), merging.FEW, merging.WALKED]
        calls = [
            Call(
                "ranking/find_places",
                (keys.ranking, keys.order(Order.SCORE), keys.order(Order.HOT)),
                (keys.prefix, *ranked_by, *bounds, *facts.groups),
            )
            for keys in self._store.shards.all
        ]
        return [*calls, self._asking(article_id)]

    def _makings(self, groups: Sequence[str], found: Sequence[Sequence[Any]]) -> Iterator[Call]:
        """What makes the groups' rankings that are missing; each a step of its own, so that nobody waits long."""
        for keys, reply in zip(self._store.shards.all, found, strict=True):
            for slug, row in zip(groups, reply[5:], strict=True):
                if _Row(*row).skipped == _MISSING:
                    ranking, whole = keys.group_order(Order.SCORE, slug), keys.order(Order.SCORE)
                    yield Call(
                        "lists/make_group_ranking", (ranking, keys.group(slug), whole), (GROUP_RANKING_LIFE,)
                    )

    def _told(self, article: Article, facts: _Facts, places: _Places) -> Explanation:
        most = self._store.rules.hot_size
        listed = bool(facts.stored_hotness) and _rank(places.hot) <= most
        nearby = [*_nearby(places.front), *(_nearby(places.hot, most) if listed else ())]
        more = self._read_more(article.id, [entry for entry in nearby if entry], facts.groups)
        front = _place(nearby[:2], places.front, float(facts.stored_score), facts.score.worth, more.titles)
        hot = None
        if listed:
            value = float(facts.stored_hotness)
            hot = _place(nearby[2:], places.hot, value, facts.hotness.worth, more.titles, most)
        return Explanation(
            article_id=article.id,
            score=facts.score,
            front=front,
            groups=tuple(
                GroupPlace(slug, more.group_titles[slug], _rank(rows), _total(rows))
                for slug, rows in zip(facts.groups, places.groups, strict=True)
                if all(row.skipped != _UNKNOWN for row in rows)
            ),
            hotness=facts.hotness,
            hot=hot,
            next_vote=_next_vote(facts, places) if article.is_open(self._store.now()) else None,
            closes_at=article.closes_at,
            history=more.history,
        )

    def _read_more(self, article_id: ArticleId, nearby: Sequence[Entry], groups: Sequence[str]) -> _More:
        shards = self._store.shards
        ids = list(dict.fromkeys(int(member) for _, member in nearby))
        with self._store.pipeline() as pipe:
            pipe.lrange(shards.of(article_id).history(article_id), 0, -1)
            for other in ids:
                pipe.hmget(shards.of(other).article(other), ["title", "removed"])
            for slug in groups:
                pipe.hget(shards.directory.groups, slug)
            texts, *found = pipe.execute()
        articles, titles = found[: len(ids)], found[len(ids) :]
        return _More(
            {other: title for other, (title, removed) in zip(ids, articles, strict=True) if title and not removed},
            {slug: title or slug for slug, title in zip(groups, titles, strict=True)},
            tuple(samples_from(texts, self._store.now())),
        )


def _facts_from(reply: Sequence[Any]) -> _Facts:
    _ok, time, votes, opposes, groups, pv, uv, score, hotness, version, refreshed_at, *values = reply
    parameters = parameters_from(dict(zip(RANGES, values, strict=True)))
    parts = ScoreParts(float(time), int(votes), int(opposes), parameters.seconds_per_point)
    return _Facts(
        parts,
        HotnessParts(int(pv), int(uv), parts.posted_at, float(refreshed_at), parameters),
        split_groups(groups),
        score or f"{parts.value:.17g}",  # a ranking that lost it: where it would stand
        hotness,
        version,
    )


def _places_from(found: Sequence[Sequence[Any]]) -> _Places:
    """Each shard's reply, turned into each list's rows."""
    states = [reply[:2] for reply in found]
    front, with_vote, hot, *groups = [
        [_Row(*row) for row in rows] for rows in zip(*(reply[2:] for reply in found), strict=True)
    ]
    return _Places(front, with_vote, hot, groups, states)


def _rank(rows: Sequence[_Row]) -> int:
    return 1 + sum(max(0, row.skipped) for row in rows)


def _total(rows: Sequence[_Row]) -> int:
    return sum(row.total for row in rows)


def _nearby(rows: Sequence[_Row], most: int | None = None) -> tuple[Entry | None, Entry | None]:
    """The last of those above and the first of those below; a list that ends after `most` has none below it."""
    above = [sort_key(float(row.above_value), row.above) for row in rows if row.above]
    below = [sort_key(float(row.below_value), row.below) for row in rows if row.below]
    is_last = most is not None and _rank(rows) >= most
    return min(above, default=None), None if is_last else max(below, default=None)


def _place(
    nearby: Sequence[Entry | None],
    rows: Sequence[_Row],
    value: float,
    worth: Callable[[float], int],
    titles: Mapping[ArticleId, str],
    most: int | None = None,
) -> Place:
    total = _total(rows)
    above, below = (_neighbour(entry, value, worth, titles) for entry in nearby)
    return Place(_rank(rows), total if most is None else min(total, most), above, below)


def _neighbour(
    entry: Entry | None, value: float, worth: Callable[[float], int], titles: Mapping[ArticleId, str]
) -> Neighbour | None:
    """None where there is nobody, or was a moment ago."""
    if entry is None or int(entry[1]) not in titles:
        return None
    apart = abs(entry[0] - value)
    return Neighbour(int(entry[1]), titles[int(entry[1])], entry[0], apart, worth(apart))


def _next_vote(facts: _Facts, places: _Places) -> NextVote:
    rank = _rank(places.with_vote)
    return NextVote(facts.score.seconds_per_point, rank, _rank(places.front) - rank)
