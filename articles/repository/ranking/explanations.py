"""Explanations of an article's rank, read from the rankings themselves."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from articles.domain import explanation
from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Order, closed_groups
from articles.domain.ranking import RANGES
from articles.repository.lists import gathering
from articles.repository.lists.gathering import GROUP_RANKING_LIFE, MOST_READINGS, Entry
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import left_out_from, sort_key, split_groups
from articles.repository.readership.history import samples_from
from articles.repository.store.connection import Call, OfStore, Value
from articles.repository.store.values import article_id_from, count_from, parameters_from


class _Facts(NamedTuple):
    """The terms of an article's rank at one moment. `stored_…`: its values as text; "" if it is not ranked."""

    score: explanation.ScoreParts
    hotness: explanation.HotnessParts
    groups: tuple[str, ...]
    stored_score: str
    stored_hotness: str
    version: str


_MISSING, _UNKNOWN = -1, -2
"""Values of `_Row.skipped`: a group's ranking has to be made first; it cannot be made and is too long to count."""


class _Row(NamedTuple):
    """A place in one shard's ranking, as `ranking/find_places` returns it."""

    skipped: int
    total: int
    above: str
    above_value: str
    below: str
    below_value: str


class _Places(NamedTuple):
    """For each list the rows of all shards, and each shard's version and moment of rescore."""

    front: Sequence[_Row]
    with_vote: Sequence[_Row]
    hot: Sequence[_Row]
    groups: Sequence[Sequence[_Row]]
    states: Sequence[Sequence[str]]

    @property
    def are_consistent(self) -> bool:
        """Whether all rankings existed, scored with the same parameters for the same moment."""
        exist = all(row.skipped != _MISSING for rows in self.groups for row in rows)
        return exist and all(state == self.states[0] for state in self.states)


class Explanations(OfStore):
    """The explanations of a store."""

    def get(self, article: Article) -> explanation.Explanation:
        """Return the explanation of a listed article's rank, all of it for one moment.

        While the store takes no writes, groups too large to count without their own ranking are left out.

        Three round trips, whatever the number of groups and shards: the facts; the places; titles and history. One
        more if a group's ranking has to be made, or if the article or the rankings changed meanwhile, and those of
        a rescore if the hot list is stale. Raises ArticleNotFound, ArticleRemoved.
        """
        facts = Hot(self._store).fresh(lambda: self._facts(article.id), lambda facts: facts.hotness.refreshed_at)
        for _ in range(MOST_READINGS):
            places, afterwards = self._places(article.id, facts)
            if afterwards == facts and places.are_consistent:
                break
            facts = afterwards
        return self._explanation(article, facts, self._visible(article.id, facts, places))

    def _facts(self, article_id: ArticleId) -> _Facts:
        call = self._facts_call(article_id)
        return _facts_from(self._store.ask(call.script, article_id, call.keys, call.args))

    def _facts_call(self, article_id: ArticleId) -> Call:
        keys = self._store.shards.of(article_id)
        return Call("ranking/explain", (keys.article(article_id),), (article_id, keys.prefix))

    def _places(self, article_id: ArticleId, facts: _Facts) -> tuple[_Places, _Facts]:
        """Return the places for these facts, and the facts read right after them."""
        replies = self._store.run_many(self._place_calls(article_id, facts, are_made=False))
        if making := list(self._making_calls(facts.groups, replies[:-1])):
            calls = [*making, *self._place_calls(article_id, facts, are_made=True)]
            replies = self._store.run_many(calls)[len(making) :]
        *places, reply = replies
        # If the article is no longer listed, `_facts` raises the error that says why.
        afterwards = _facts_from(reply) if reply[0] == "ok" else self._facts(article_id)
        return _places_from(places), afterwards

    def _place_calls(self, article_id: ArticleId, facts: _Facts, *, are_made: bool) -> list[Call]:
        """Return the calls that find the places, then the facts. `are_made`: missing rankings were just made."""
        with_vote = f"{facts.score.with_more(1):.17g}"
        ranked_by: list[Value] = [article_id, facts.stored_score, with_vote, facts.stored_hotness]
        bounds: list[Value] = [GROUP_RANKING_LIFE, int(are_made), gathering.FEW, gathering.WALKED]
        calls = [
            Call(
                "ranking/find_places",
                (keys.ranking, keys.order(Order.SCORE), keys.order(Order.HOT)),
                (keys.prefix, *ranked_by, *bounds, *facts.groups),
            )
            for keys in self._store.shards.all
        ]
        return [*calls, self._facts_call(article_id)]

    def _making_calls(self, groups: Sequence[str], replies: Sequence[Sequence[Any]]) -> Iterator[Call]:
        """Yield a call for each missing ranking of a group: one script each, so that the store is not held up."""
        for keys, reply in zip(self._store.shards.all, replies, strict=True):
            for slug, row in zip(groups, reply[5:], strict=True):
                if _Row(*row).skipped == _MISSING:
                    ranking, whole = keys.group_order(Order.SCORE, slug), keys.order(Order.SCORE)
                    yield Call(
                        "lists/make_group_ranking", (ranking, keys.group(slug), whole), (GROUP_RANKING_LIFE,)
                    )

    def _visible(self, article_id: ArticleId, facts: _Facts, places: _Places) -> _Places:
        """Return the places among what the reader gets to see. Three round trips with closed groups."""
        shards, closed = self._store.shards.all, sorted(closed_groups())
        if not closed:
            return places
        found = self._store.in_shards(lambda pipe, keys: [pipe.smembers(keys.group(slug)) for slug in closed])
        hidden = [sorted(set().union(*found[n * len(closed) : (n + 1) * len(closed)])) for n in range(len(shards))]
        with self._store.pipeline() as pipe:
            for keys, ids in zip(shards, hidden, strict=True):
                for order in (Order.SCORE, Order.HOT) if ids else ():
                    pipe.zmscore(keys.order(order), ids)
                for slug in facts.groups if ids else ():
                    pipe.smismember(keys.group(slug), ids)
            replies = iter(pipe.execute())
        lists = places.front, places.with_vote, places.hot, *places.groups
        visible: list[list[_Row]] = [[] for _ in lists]
        for n, ids in enumerate(hidden):
            of_each = [next(replies) if ids else () for _ in range(2 + len(facts.groups))]
            scores, hotness, *are_in = [dict(zip(ids, values, strict=False)) for values in of_each]
            in_groups = [{one: scores[one] for one, is_in in flags.items() if is_in} for flags in are_in]
            places_of = (facts.stored_score, facts.score.with_more(1), facts.stored_hotness or math.inf)
            values = (*places_of, *[facts.stored_score] * len(facts.groups))
            theirs = (scores, scores, hotness, *in_groups)
            for rows, value, known, into in zip(lists, values, theirs, visible, strict=True):
                place = sort_key(float(value), str(article_id))
                entries = [sort_key(float(one), member) for member, one in known.items() if one is not None]
                row = rows[n]
                if row.skipped >= 0 and row.total:
                    above = sum(entry > place for entry in entries)
                    row = row._replace(skipped=row.skipped - above, total=row.total - len(entries))
                into.append(row)
        front, with_vote, hot, *groups = visible
        self._pass_over(article_id, hidden, (Order.SCORE, places.front, front), (Order.HOT, places.hot, hot))
        return _Places(front, with_vote, hot, groups, places.states)

    def _pass_over(
        self,
        article_id: ArticleId,
        hidden: Sequence[Collection[str]],
        *lists: tuple[Order, Sequence[_Row], list[_Row]],
    ) -> None:
        """Let the rows name the next visible neighbours instead of hidden ones. At most one round trip."""
        wanted = []
        with self._store.pipeline() as pipe:
            for order, rows, visible in lists:
                for n, row in enumerate(rows):
                    if {row.above, row.below}.isdisjoint(hidden[n]):
                        continue
                    passed, name = len(hidden[n]) + 2, self._store.shards.all[n].order(order)
                    pipe.zrevrange(name, max(0, row.skipped - passed), row.skipped + passed, withscores=True)
                    wanted.append((visible, n, min(row.skipped, passed)))
            replies = pipe.execute() if wanted else []
        for (visible, n, before), entries in zip(wanted, replies, strict=True):
            known = [
                (member, repr(value)) if member not in hidden[n] and member != str(article_id) else None
                for member, value in entries
            ]
            above = next(filter(None, reversed(known[:before])), ("", ""))
            below = next(filter(None, known[before:]), ("", ""))
            visible[n] = _Row(*visible[n][:2], *above, *below)

    def _explanation(self, article: Article, facts: _Facts, places: _Places) -> explanation.Explanation:
        most = self._store.rules.hot_size
        listed = bool(facts.stored_hotness) and _rank(places.hot) <= most
        nearby = [*_nearby(places.front), *(_nearby(places.hot, most) if listed else ())]
        is_open = article.is_open(self._store.now())
        near = [entry for entry in nearby if entry]
        titles, group_titles, history = self._read_details(article.id, near, facts.groups)
        front = _place(nearby[:2], places.front, float(facts.stored_score), facts.score.worth, titles)
        hot = None
        if listed:
            value = float(facts.stored_hotness)
            hot = _place(nearby[2:], places.hot, value, facts.hotness.worth, titles, most)
        return explanation.Explanation(
            article_id=article.id,
            score=facts.score if is_open else replace(facts.score, waiting=0),
            front=front,
            groups=tuple(
                explanation.GroupPlace(slug, group_titles[slug], _rank(rows), _total(rows))
                for slug, rows in zip(facts.groups, places.groups, strict=True)
                if all(row.skipped != _UNKNOWN for row in rows)
            ),
            hotness=facts.hotness,
            hot=hot,
            next_vote=_next_vote(facts, places) if is_open else None,
            closes_at=article.closes_at,
            history=history,
        )

    def _read_details(
        self, article_id: ArticleId, nearby: Sequence[Entry], groups: Sequence[str]
    ) -> tuple[dict[ArticleId, str], dict[str, str], tuple[explanation.Sample, ...]]:
        """Return titles of articles and groups, and the history, which are shown with the numbers."""
        shards = self._store.shards
        ids = list(dict.fromkeys(article_id_from(member) for _, member in nearby))
        with self._store.pipeline() as pipe:
            pipe.lrange(shards.of(article_id).history(article_id), 0, -1)
            for other in ids:
                pipe.hmget(shards.of(other).article(other), ["title", "removed", "groups"])
            for slug in groups:
                pipe.hget(shards.directory.groups, slug)
            texts, *replies = pipe.execute()
        articles, titles = zip(ids, replies, strict=False), zip(groups, replies[len(ids) :], strict=True)
        shown = {
            other: title
            for other, (title, removed, joined) in articles
            if title and not removed and closed_groups().isdisjoint(split_groups(joined or ""))
        }
        history = tuple(samples_from(texts, self._store.now()))
        return shown, {slug: title or slug for slug, title in titles}, history


def _facts_from(reply: Sequence[Any]) -> _Facts:
    _ok, time, votes, opposes, left_out, waiting, groups, *numbers = reply
    pv, uv, score, hotness, version, refreshed_at, *values = numbers
    parameters = parameters_from(dict(zip(RANGES, values, strict=True)))
    per_point = parameters.seconds_per_point
    parts = explanation.ScoreParts(
        float(time), int(votes), int(opposes), per_point, left_out_from(left_out), waiting
    )
    return _Facts(
        parts,
        explanation.HotnessParts(count_from(pv), count_from(uv), parts.posted_at, float(refreshed_at), parameters),
        split_groups(groups),
        score or f"{parts.value:.17g}",  # a damaged ranking without it: explain where it would be
        hotness,
        version,
    )


def _places_from(replies: Sequence[Sequence[Any]]) -> _Places:
    """Turn the replies, one per shard, into rows per list."""
    states = [reply[:2] for reply in replies]
    front, with_vote, hot, *groups = [
        [_Row(*row) for row in rows] for rows in zip(*(reply[2:] for reply in replies), strict=True)
    ]
    return _Places(front, with_vote, hot, groups, states)


def _rank(rows: Sequence[_Row]) -> int:
    return 1 + sum(max(0, row.skipped) for row in rows)


def _total(rows: Sequence[_Row]) -> int:
    return sum(row.total for row in rows)


def _nearby(rows: Sequence[_Row], most: int | None = None) -> tuple[Entry | None, Entry | None]:
    """Return the neighbours above and below; below the last of `most` there is none."""
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
) -> explanation.Place:
    total = _total(rows)
    above, below = (_neighbour(entry, value, worth, titles) for entry in nearby)
    return explanation.Place(_rank(rows), total if most is None else min(total, most), above, below)


def _neighbour(
    entry: Entry | None, value: float, worth: Callable[[float], int], titles: Mapping[ArticleId, str]
) -> explanation.Neighbour | None:
    """Return the neighbour; None if there is none, or it was removed meanwhile."""
    if entry is None:
        return None
    apart = abs(entry[0] - value)
    article_id = article_id_from(entry[1])
    if article_id not in titles:
        return None
    return explanation.Neighbour(article_id, titles[article_id], entry[0], apart, worth(apart))


def _next_vote(facts: _Facts, places: _Places) -> explanation.NextVote:
    rank = _rank(places.with_vote)
    return explanation.NextVote(facts.score.seconds_per_point, rank, _rank(places.front) - rank)
