"""Unseen articles: the best of several rankings that were not shown to the reader and are not hidden.

Each shard searches its rankings from the top, and the results are merged. No state is kept between two pages:
whatever changes meanwhile, an article that was shown is not shown again, and no other one is skipped.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from articles.domain.articles import ArticleId
from articles.domain.lists import Order, Position
from articles.repository.lists.merging import MOST_READINGS, Cut, Entry, Ranking, pairs
from articles.repository.lists.reading import rescored_at, sort_key
from articles.repository.store.connection import Call, Store, Value, exact_time
from articles.repository.store.values import article_id_from

MOST_LOOKED_AT = 50_000
"""Limit on entries examined for a page in all rankings, multiplied by the number of hidden groups plus one."""


@dataclass(frozen=True, slots=True)
class UnseenQuery:
    """A query for a page: `size` entries after the first `start` of those that are neither shown nor hidden."""

    start: int
    size: int
    shown: Collection[ArticleId] = ()
    hidden: Sequence[str] = ()
    after: Position | None = None
    """Only entries that follow this position; None for all."""


def read_unseen(store: Store, rankings: Sequence[Ranking], query: UnseenQuery) -> tuple[Cut, bool]:
    """Return the entries, and whether more follow. One round trip.

    `Cut.total` includes shown, hidden and duplicate entries. An article in the rankings of several groups is
    returned once, with the value read last, because a vote may come between two reads.
    """
    replies = read_each(store, rankings, query)
    values = {member: value for _, flat, _ in replies for member, value in pairs(flat)}
    ordered: list[Entry] = sorted((sort_key(value, member) for member, value in values.items()), reverse=True)
    page = ordered[query.start : query.start + query.size]
    total, refreshed_at = sum(count for count, _, _ in replies), rescored_at(replies[0][2])
    cut = Cut([(article_id_from(member), value) for value, member in page], total, None, refreshed_at)
    return cut, len(ordered) > query.start + query.size


def read_each(store: Store, rankings: Sequence[Ranking], query: UnseenQuery) -> list[Any]:
    """Return the entries of each ranking for the page: {entries, {id, value, id, value …}, state}.

    One round trip.
    """
    calls = [_call(store, ranking, query, len(rankings)) for ranking in rankings]
    for _ in range(MOST_READINGS):
        replies = store.run_many(calls)
        if all(state == replies[0][2] for _, _, state in replies):
            break
    return replies


def _call(store: Store, ranking: Ranking, query: UnseenQuery, rankings: int) -> Call:
    keys, shards = ranking.keys, store.shards
    shown = [i for i in query.shown if shards.of(i).prefix == keys.prefix]
    share = MOST_LOOKED_AT // (rankings * (1 + len(query.hidden)))
    most = max(share, 10 * query.size) + len(shown)
    needed = min(query.start + query.size + 1, most)
    since = "" if ranking.since is None else exact_time(ranking.since)
    position: tuple[Value, ...] = ("", "") if query.after is None else query.after
    return Call(
        "lists/read_unseen",
        (
            ranking.key,
            keys.ranking,
            keys.order(Order.TIME),
            *ranking.made_from,
            *map(keys.group, query.hidden),
        ),
        (keys.prefix, needed, most, since, *ranking.making, *position, *shown),
    )
